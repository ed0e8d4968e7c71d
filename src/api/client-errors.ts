import type { Socket } from 'node:net'
import { errorCatalogue, type ErrorCode, failureBody } from '../errors.ts'

const STATUS_TEXTS: Record<number, string> = { 400: 'Bad Request', 413: 'Payload Too Large' }

/** Answers what Node refuses before routing (broken HTTP, headers too large, a request too slow) in our shape. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const code: ErrorCode = tooLarge ? 'PAYLOAD_TOO_LARGE' : 'INVALID_PAYLOAD'
  const message = tooLarge
    ? 'The request headers are too large.'
    : 'The request is not valid HTTP, or did not arrive in time.'
  const { status } = errorCatalogue[code]
  const body = JSON.stringify(failureBody(code, message))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_TEXTS[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
