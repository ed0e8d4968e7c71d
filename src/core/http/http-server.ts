import { type IncomingHttpHeaders, type IncomingMessage, maxHeaderSize } from 'node:http'
import { validatorCompiler } from '@fastify/type-provider-zod'
import fastify, { type FastifyInstance, LogController } from 'fastify'
import type { Logger } from 'pino'
import { withoutPort } from '../values/networks.ts'
import { newUuid } from '../values/uuid.ts'
import { answerClientError, answerConnect } from './client-errors.ts'
import { readableUrl } from './paths.ts'
import { type TlsFiles, tlsProfile } from './tls.ts'

/** The maximum number of connections, and how long each may keep the API waiting, in milliseconds. */
export interface ConnectionLimits {
  /** Further connections are closed at once, without a response. */
  maxConnections?: number
  /** For a TLS handshake. */
  handshakeMs: number
  /** For a whole request to arrive, from its first byte or, for the first one, from the connection. */
  requestMs: number
  /** Without progress in either direction, for example if a peer does not read its response. */
  silenceMs: number
  /** Between a response and the next request. Longer than the minute after which most proxies close their side. */
  keepAliveMs: number
  /** For requests in flight on shutdown. Responses take at most two seconds; this is for bodies that arrive slowly. */
  stopMs: number
}

export const connectionLimits: ConnectionLimits = {
  handshakeMs: 10_000,
  requestMs: 30_000,
  silenceMs: 30_000,
  keepAliveMs: 72_000,
  stopMs: 10_000,
}

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
    rewriteUrl(request: IncomingMessage) {
      // what Fastify calls first: by an address with its port, each connection would be somebody else
      forgetPorts(request.headers)
      return readableUrl(request)
    },
    return503OnClosing: false,
    // Fastify would answer a longer one by itself; what is longer than Node's limit for headers does not come here
    routerOptions: { maxParamLength: maxHeaderSize },
    trustProxy: isProxy,
  }
  const https = { ...http, ...tlsProfile, ...tls, handshakeTimeout: limits.handshakeMs }
  const app = (tls
    ? fastify({ ...options, https })
    : fastify({ ...options, http })) as unknown as FastifyInstance
  app.setValidatorCompiler(validatorCompiler)
  // responses are typed by their schemas, and tests check them: validating each one again is expensive
  app.setSerializerCompiler(() => JSON.stringify)
  const { server } = app
  if (limits.maxConnections !== undefined) server.maxConnections = limits.maxConnections
  server.on('connect', answerConnect)
  // ignore an unknown Expect, as HTTP allows; Node would respond with an empty 417
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  return app
}

function forgetPorts(headers: IncomingHttpHeaders): void {
  const forwarded = headers['x-forwarded-for']
  if (typeof forwarded === 'string' && forwarded.includes(':'))
    headers['x-forwarded-for'] = forwarded
      .split(',')
      .map((address) => withoutPort(address.trim()))
      .join(', ')
}
