import type { FastifyReply } from 'fastify'
import type { SinkFault } from '../decisions/sink-fault.ts'

const BYTE_EVERY_MS = 1000

/** Answers a webhook as no endpoint should. The connection is not used again. */
export function answerBadly(
  reply: FastifyReply,
  fault: SinkFault,
  status: number,
  body: object,
): FastifyReply {
  reply.hijack()
  const { raw } = reply
  const { socket } = raw
  const text = JSON.stringify(body)
  if (fault === 'resets') {
    // below TLS there is no socket to reset
    if (socket !== null && 'encrypted' in socket) socket.destroy()
    else socket?.resetAndDestroy()
    return reply
  }
  raw.writeHead(status, { 'content-type': 'application/json', 'content-length': text.length })
  if (fault === 'answers_half') {
    raw.write(text.slice(0, text.length / 2), () => socket?.destroy())
    return reply
  }
  let sent = 0
  const sending = setInterval(() => {
    sent += 1
    if (sent < text.length) raw.write(text.slice(sent - 1, sent))
    else raw.end(text.slice(sent - 1))
  }, BYTE_EVERY_MS)
  raw.once('close', () => clearInterval(sending))
  raw.flushHeaders()
  return reply
}
