import { type IncomingMessage, maxHeaderSize, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify'
import type { Logger } from 'pino'
import { newUuid } from '../values.ts'
import { ApiError, invalidPayload } from './errors.ts'

/** Errors of Node's HTTP parser and of its request timeout. After any other error the peer cannot read a response. */
const ANSWERABLE = /^(?:HPE_|ERR_HTTP_REQUEST_TIMEOUT$)/
/** How long the peer has to read the response and close its side. */
const LINGER_MS = 1000

/** Sends our error format for what Node rejects before routing: invalid HTTP, oversized headers, slow requests. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // every further chunk of an invalid request raises another error
  if (socket.writableEnded) return
  if (!socket.writable || !ANSWERABLE.test(error.code ?? '')) socket.destroy()
  else if (error.code === 'HPE_HEADER_OVERFLOW')
    refuse(socket, new ApiError('PAYLOAD_TOO_LARGE', 'The request headers are too large.'))
  else refuse(socket, invalidPayload('The request is not valid HTTP or did not arrive in time.'))
}

/** Node closes the connection on CONNECT without a response. */
function answerConnect(_request: IncomingMessage, socket: Socket): void {
  // Node no longer handles the socket's errors: a reset by the peer would crash the process
  socket.on('error', () => {})
  refuse(socket, new ApiError('METHOD_NOT_ALLOWED'))
}

/** HTTP/1.1 requires one Host header. Node's own error response has no body, and Node reads only the first of two headers. */
export async function requireHost({ raw }: FastifyRequest): Promise<void> {
  const hosts = raw.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host')
  if (hosts.length > 1) throw invalidPayload('The request has more than one Host header.')
  if (hosts.length === 0 && raw.httpVersion === '1.1') throw invalidPayload('The request has no Host header.')
}

/** Responds and closes our side. A peer that does not close its own would keep the socket open forever. */
function refuse(socket: Socket, error: ApiError): void {
  const { status } = error
  const body = JSON.stringify(error.body)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.resume().end(`${head.join('\r\n')}\r\n\r\n${body}`)
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

/** PEM: the certificate chain and its private key. */
export interface TlsFiles {
  cert: Buffer | string
  key: Buffer | string
}

/**
 * Mozilla's "intermediate" profile, guidelines 6.0 (https://ssl-config.mozilla.org/guidelines/6.0.json): every suite
 * has forward secrecy and authenticated encryption. It leaves out DHE, which no current client needs.
 */
const tlsProfile = {
  minVersion: 'TLSv1.2' as const,
  ciphers: [
    'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
  // every suite is secure: let the client choose the one that its hardware accelerates
  honorCipherOrder: false,
}

/** The decoded path of a request target, which may also be an absolute URL. */
export function pathOf(target: string): string {
  const [path = ''] = target.replace(/^[a-z]+:\/\/[^/?#]*/i, '').split(/[?#]/)
  return decodeURI(path)
}

/**
 * Replaces a target that cannot be decoded by an unknown path: Fastify would respond to it without running our hooks. The
 * whole target, because the router and `pathOf` may differ in where the path begins.
 */
export function readableUrl({ url = '/' }: { url?: string }): string {
  try {
    decodeURI(url.split(/[?#]/, 1)[0] ?? '')
    return url
  } catch {
    return '/%25'
  }
}

/** How long a connection may keep the API waiting, in milliseconds. */
export const connectionLimits = {
  /** For a TLS handshake. */
  handshakeMs: 10_000,
  /** For a whole request to arrive, from its first byte or, for the first one, from the connection. */
  requestMs: 30_000,
  /** Without progress in either direction, for example if a peer does not read its response. */
  silenceMs: 30_000,
  /** Between a response and the next request. Longer than the minute after which most proxies close their side. */
  keepAliveMs: 72_000,
  /** For requests in flight on shutdown. Only test-endpoint may take longer, and the partner can repeat it. */
  stopMs: 10_000,
  /** About 60 KB each with TLS. Further connections are closed at once, without a response. */
  maxConnections: 1000,
}

export type ConnectionLimits = typeof connectionLimits

const BODY_LIMIT = 64 * 1024
/** How often Node looks for requests that take too long. Its default of 30 s could double `requestMs`. */
const CHECK_MS = 1000

interface Options {
  log: Logger
  limits: ConnectionLimits
  tls: TlsFiles | undefined
  isProxy: (address: string) => boolean
}

/** Fastify on a server with all limits set, most of which Fastify leaves off, and with TLS if there are `tls` files. */
export function createHttpServer({ log, limits, tls, isProxy }: Options): FastifyInstance {
  const http = {
    // a request without Host reaches `requireHost`, which sends an error in our format
    requireHostHeader: false,
    connectionsCheckingInterval: CHECK_MS,
    // Node applies the shorter of its two limits to the headers, and the longer one to the whole request
    headersTimeout: limits.requestMs,
  }
  const options = {
    requestTimeout: limits.requestMs,
    connectionTimeout: limits.silenceMs,
    keepAliveTimeout: limits.keepAliveMs,
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: () => newUuid(),
    bodyLimit: BODY_LIMIT,
    clientErrorHandler: answerClientError,
    rewriteUrl: readableUrl,
    return503OnClosing: false,
    // Fastify itself would answer a longer parameter; Node refuses one that is longer than its limit for headers
    routerOptions: { maxParamLength: maxHeaderSize },
    trustProxy: isProxy,
  }
  const https = { ...http, ...tlsProfile, ...tls, handshakeTimeout: limits.handshakeMs }
  const app = (tls
    ? fastify({ ...options, https })
    : fastify({ ...options, http })) as unknown as FastifyInstance
  // responses are typed by their schemas, and tests check them: validating each one again is expensive
  app.setSerializerCompiler(() => JSON.stringify)
  const { server } = app
  server.maxConnections = limits.maxConnections
  server.on('connect', answerConnect)
  // ignore an unknown Expect, as HTTP allows; Node would respond with an empty 417
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  return app
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Called before `close`: the server keeps serving, but closes each connection after its next response. */
    drain(): void
  }
}

/**
 * Graceful shutdown: each connection ends with its next answer. `close` ends the idle ones at once, and all others after
 * `stopMs`, for peers that have sent half a request or nothing.
 */
export function closeGracefully(app: FastifyInstance, stopMs: number): void {
  let draining = false
  app.decorate('drain', () => void (draining = true))
  app.addHook('preClose', async () => {
    draining = true
    setTimeout(() => app.server.closeAllConnections(), stopMs).unref()
  })
  app.addHook('onSend', async (_request, reply) => {
    if (draining) reply.header('connection', 'close')
  })
}

/** Responses hold personal data: they must not be cached, framed, sniffed, rendered as a page, or fetched without TLS. */
export const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
}
