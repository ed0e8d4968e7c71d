import { type TlsFiles, tlsProfile } from './tls.ts'

/** How many connections there may be, and how long each may make the API wait, in milliseconds. */
export interface ConnectionLimits {
  /** Connections beyond it are closed at once, unanswered. */
  maxConnections?: number
  /** For a TLS handshake. */
  handshakeMs: number
  /** For a whole request to arrive, counted from its first byte or, for the first one, from the connection. */
  requestMs: number
  /** Without progress in either direction: a peer that does not read its answer, for example. */
  silenceMs: number
  /** From an answer to the next request. Longer than the minute after which most proxies close their side. */
  keepAliveMs: number
  /** For the requests in flight once the API stops. Every answer takes two seconds at most; this is for slow bodies. */
  stopMs: number
}

export const connectionLimits: ConnectionLimits = {
  handshakeMs: 10_000,
  requestMs: 30_000,
  silenceMs: 30_000,
  keepAliveMs: 72_000,
  stopMs: 10_000,
}

/** How often Node looks for requests that take too long. Its own 30 s could double `requestMs`. */
const CHECK_MS = 1000

/** The limits, and TLS where the API has its own, as options of Fastify. Its defaults leave most limits off. */
export function serverOptions(limits: ConnectionLimits, tls?: TlsFiles) {
  const http = {
    // a request without Host reaches our own check, which answers in our shape
    requireHostHeader: false,
    connectionsCheckingInterval: CHECK_MS,
    // Node gives the headers the shorter of its two limits, and the whole request the longer
    headersTimeout: limits.requestMs,
  }
  return {
    requestTimeout: limits.requestMs,
    connectionTimeout: limits.silenceMs,
    keepAliveTimeout: limits.keepAliveMs,
    ...(tls ? { https: { ...http, ...tlsProfile, ...tls, handshakeTimeout: limits.handshakeMs } } : { http }),
  }
}
