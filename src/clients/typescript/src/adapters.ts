import type { RawBody, Receiver } from './receiver.ts'
import { parsedBody, WebhookVerificationError } from './signatures.ts'

/**
 * The receiver in the form that a framework wants. Each takes the raw body before anybody parses it; types are as much of
 * the framework’s as is used, so that the package depends on none.
 */

type NodeHeaders = Readonly<Record<string, string | string[] | undefined>>

interface NodeRequest extends AsyncIterable<Uint8Array> {
  headers: NodeHeaders
  /** Set by a parser that came before, of Express or Next. */
  body?: unknown
  /** Whether somebody has read the body. */
  readableDidRead?: boolean
  socket?: { destroyed: boolean }
}

interface NodeResponse {
  statusCode: number
  end: () => unknown
}

export type NodeHandler = (request: NodeRequest, response: NodeResponse) => void
export type ExpressHandler = (
  request: NodeRequest,
  response: NodeResponse,
  next: (error?: unknown) => void,
) => void

interface FastifyApp {
  addContentTypeParser: (
    type: string,
    options: { parseAs: 'buffer' },
    parse: (request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ) => unknown
  removeContentTypeParser: (type: string) => unknown
  post: (
    path: string,
    handler: (
      request: { body: unknown; headers: NodeHeaders },
      reply: { code: (status: number) => { send: () => unknown } },
    ) => Promise<unknown>,
  ) => unknown
}

export type FastifyPlugin = (app: FastifyApp) => Promise<void>

/** Larger than any webhook. */
const LARGEST_BODY = 1_000_000

const REMEDIES = {
  node: 'Let nobody read the request before this handler; in an API route of Next’s pages, export const config = { api: { bodyParser: false } }',
  express:
    'With Express, put the webhook route before express.json(), or use express.raw({ type: "application/json" }) for it',
  fastify: 'Let no hook of Fastify change the body of this route',
  fetch: 'Give the request itself, before anybody calls its json() or text(), or a clone made before that',
}

export function nodeOf(receiver: Receiver): NodeHandler {
  return (request, response) =>
    void handle(receiver, REMEDIES.node, request, response).catch(() => {
      response.statusCode = 500
      response.end()
    })
}

export function expressOf(receiver: Receiver): ExpressHandler {
  return (request, response, next) =>
    void handle(receiver, REMEDIES.express, request, response).catch((error: unknown) => {
      // whoever hung up hears no answer, and what was cut off comes again
      if (request.socket?.destroyed === true) return
      next(error)
    })
}

async function handle(
  receiver: Receiver,
  remedy: string,
  request: NodeRequest,
  response: NodeResponse,
): Promise<void> {
  const { body, readableDidRead } = request
  // parsers of Express 4 set an empty body also where they leave the request to others
  const wasRead = readableDidRead ?? body !== undefined
  const unread = async () => (wasRead ? parsedBody(remedy) : rawBody(request))
  response.statusCode = await receiver.receive(isRaw(body) ? body : await unread(), request.headers)
  response.end()
}

const isRaw = (body: unknown): body is RawBody => typeof body === 'string' || ArrayBuffer.isView(body)

export function fastifyOf(path: string, receiver: Receiver): FastifyPlugin {
  return async (app) => {
    // within this plugin only: the application’s other routes keep their parser
    app.removeContentTypeParser('application/json')
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )
    app.post(path, async ({ body, headers }, reply) => {
      const other = body ? parsedBody(REMEDIES.fastify) : ''
      return reply.code(await receiver.receive(isRaw(body) ? body : other, headers)).send()
    })
  }
}

export function fetchOf(receiver: Receiver): (request: Request) => Promise<Response> {
  return async (request) => {
    const body = request.bodyUsed ? parsedBody(REMEDIES.fetch) : new Uint8Array(await request.arrayBuffer())
    return new Response(null, { status: await receiver.receive(body, request.headers) })
  }
}

/** Read to its end, so that the sender hears the answer. */
async function rawBody(request: AsyncIterable<Uint8Array>): Promise<RawBody | WebhookVerificationError> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size <= LARGEST_BODY) chunks.push(chunk)
  }
  if (size > LARGEST_BODY) return new WebhookVerificationError('body', 'The body is larger than any webhook')
  const body = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    body.set(chunk, at)
    at += chunk.length
  }
  return body
}
