import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { errorCatalogue, type ErrorCode, failureBody, invalidPayload } from './errors.ts'

/** Errors of Node's HTTP parser and of its request timeout. After any other error the peer cannot read a response. */
const ANSWERABLE = /^(?:HPE_|ERR_HTTP_REQUEST_TIMEOUT$)/
/** How long the peer has to read the response and close its side. */
const LINGER_MS = 1000

/** Sends our error format for what Node rejects before routing: invalid HTTP, oversized headers, slow requests. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // every further chunk of an invalid request raises another error
  if (socket.writableEnded) return
  if (!socket.writable || !ANSWERABLE.test(error.code ?? '')) socket.destroy()
  else if (error.code === 'HPE_HEADER_OVERFLOW') {
    refuse(socket, 'PAYLOAD_TOO_LARGE', 'The request headers are too large.')
  } else refuse(socket, 'INVALID_PAYLOAD', 'The request is not valid HTTP or did not arrive in time.')
}

/** Node closes the connection on CONNECT without a response. */
export function answerConnect(_request: IncomingMessage, socket: Socket): void {
  // Node no longer handles the socket's errors: a reset by the peer would crash the process
  socket.on('error', () => {})
  refuse(socket, 'METHOD_NOT_ALLOWED')
}

/** HTTP/1.1 requires one Host header. Node's own error response has no body, and of two it reads the first only. */
export async function requireHost({ raw }: FastifyRequest): Promise<void> {
  const hosts = raw.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host')
  if (hosts.length > 1) throw invalidPayload('The request has more than one Host header.')
  if (hosts.length === 0 && raw.httpVersion === '1.1') throw invalidPayload('The request has no Host header.')
}

/** Responds and closes our side. A peer that does not close its own would keep the socket open forever. */
function refuse(socket: Socket, code: ErrorCode, message?: string): void {
  const { status } = errorCatalogue[code]
  const body = JSON.stringify(failureBody(code, message))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.resume().end(`${head.join('\r\n')}\r\n\r\n${body}`)
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
