import type { Receiver } from './receiver.ts'
import { WebhookVerificationError } from './signatures.ts'

/**
 * The receiver in the form that a framework wants. Each takes the raw body before anybody parses it; types are as much of
 * the framework’s as is used, so that the package depends on none.
 */

type NodeHeaders = Readonly<Record<string, string | string[] | undefined>>

interface NodeRequest extends AsyncIterable<Uint8Array> {
  headers: NodeHeaders
  /** Of Express: set by a parser that came before. */
  body?: unknown
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

export function nodeOf(receiver: Receiver): NodeHandler {
  const handle = async (request: NodeRequest, response: NodeResponse) => {
    response.statusCode = await receiver.receive(await rawBody(request), request.headers)
    response.end()
  }
  return (request, response) =>
    void handle(request, response).catch(() => {
      // too large, or the connection broke
      response.statusCode = 400
      response.end()
    })
}

export function expressOf(receiver: Receiver): ExpressHandler {
  const handle = async (request: NodeRequest, response: NodeResponse) => {
    const { body } = request
    const raw = body === undefined ? await rawBody(request) : body
    response.statusCode = await receiver.receive(raw as Uint8Array, request.headers)
    response.end()
  }
  return (request, response, next) => void handle(request, response).catch(next)
}

export function fastifyOf(path: string, receiver: Receiver): FastifyPlugin {
  return async (app) => {
    // within this plugin only: the application’s other routes keep their parser
    app.removeContentTypeParser('application/json')
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )
    app.post(path, async (request, reply) =>
      reply.code(await receiver.receive(request.body as Uint8Array, request.headers)).send(),
    )
  }
}

export function fetchOf(receiver: Receiver): (request: Request) => Promise<Response> {
  return async (request) => {
    const body = new Uint8Array(await request.arrayBuffer())
    return new Response(null, { status: await receiver.receive(body, request.headers) })
  }
}

async function rawBody(request: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > LARGEST_BODY) throw new WebhookVerificationError('body', 'The body is larger than any webhook')
    chunks.push(chunk)
  }
  const body = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    body.set(chunk, at)
    at += chunk.length
  }
  return body
}
