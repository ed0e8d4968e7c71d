import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { ApiError, errorCatalogue, type ErrorCode, failureBody } from '../errors.ts'

const STATUS_TEXTS: Record<number, string> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  413: 'Payload Too Large',
}
/** What Node's HTTP parser and its clock for requests say. After any other error nobody can read an answer. */
const ANSWERED = /^(?:HPE_|ERR_HTTP_REQUEST_TIMEOUT$)/
/** How long the peer has to read the answer and to end its side. */
const LINGER_MS = 1000

/** Answers what Node refuses before routing (broken HTTP, headers too large, a request too slow) in our shape. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // each further piece of a broken request is an error again
  if (socket.writableEnded) return
  if (!socket.writable || !ANSWERED.test(error.code ?? '')) socket.destroy()
  else if (error.code === 'HPE_HEADER_OVERFLOW') {
    refuse(socket, 'PAYLOAD_TOO_LARGE', 'The request headers are too large.')
  } else refuse(socket, 'INVALID_PAYLOAD', 'The request is not valid HTTP, or did not arrive in time.')
}

/** Node hangs up on CONNECT without a word: this is a service, not a proxy. */
export function answerConnect(_request: IncomingMessage, socket: Socket): void {
  // Node has let go of the socket: without a listener, a peer that resets it would end the process
  socket.on('error', () => {})
  refuse(socket, 'METHOD_NOT_ALLOWED')
}

/** HTTP/1.1 wants a Host; Node's own refusal would have no body. */
export async function requireHost({ headers, raw }: FastifyRequest): Promise<void> {
  if (headers.host === undefined && raw.httpVersion === '1.1') {
    throw new ApiError('INVALID_PAYLOAD', 'The request has no header Host.')
  }
}

/** Answers and ends our side. A peer that does not end its own is cut off, or it would keep the socket forever. */
function refuse(socket: Socket, code: ErrorCode, message?: string): void {
  const { status } = errorCatalogue[code]
  const body = JSON.stringify(failureBody(code, message))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_TEXTS[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.resume().end(`${head.join('\r\n')}\r\n\r\n${body}`)
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
