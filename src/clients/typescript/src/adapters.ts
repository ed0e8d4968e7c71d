import type { RawBody, Receive } from './receiver.ts'
import { parsedBody, WebhookVerificationError } from './signatures.ts'

/**
 * The receiver as a handler of a framework. Each takes the raw body before it is parsed. The types declare only what is
 * used of a framework, so that the package depends on none.
 */

interface NodeRequest extends AsyncIterable<Uint8Array> {
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** Set by a parser that came before, of Express or Next. */
  body?: unknown
  /** Whether somebody has read the body. */
  readableDidRead?: boolean
}

interface NodeResponse {
  statusCode: number
  end: () => unknown
}

export type NodeHandler = (request: NodeRequest, response: NodeResponse) => void

/** Larger than any webhook. */
const LARGEST_BODY = 1_000_000

export function nodeOf(receive: Receive): NodeHandler {
  const statusOf = async (request: NodeRequest) => {
    const { body, headers, readableDidRead } = request
    if (isRaw(body)) return receive(body, headers)
    // parsers of Express 4 set an empty body also where they leave the request to others
    return receive((readableDidRead ?? body !== undefined) ? parsedBody() : await rawBody(request), headers)
  }
  return (request, response) =>
    void statusOf(request)
      // a sender that hung up gets no answer, and sends the webhook again
      .catch(() => 500)
      .then((status) => {
        response.statusCode = status
        response.end()
      })
}

export const isRaw = (body: unknown): body is RawBody => typeof body === 'string' || ArrayBuffer.isView(body)

export function fetchOf(receive: Receive): (request: Request) => Promise<Response> {
  return async (request) => {
    const body = request.bodyUsed ? parsedBody() : new Uint8Array(await request.arrayBuffer())
    return new Response(null, { status: await receive(body, request.headers) })
  }
}

/** Reads the body to its end, so that the sender gets the answer. */
async function rawBody(request: AsyncIterable<Uint8Array>): Promise<RawBody | WebhookVerificationError> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size <= LARGEST_BODY) chunks.push(new Uint8Array(chunk))
  }
  if (size > LARGEST_BODY) return new WebhookVerificationError('body', 'The body is larger than any webhook')
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}
