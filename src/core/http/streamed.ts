import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/**
 * Answers with JSON that is too long to hold at once. What fails after the beginning can only cut it off: it is complete
 * if it is valid.
 *
 * @returns what the handler returns. A stream is sent as it is, so its type says what is in it.
 */
export function streamed(reply: FastifyReply, pieces: AsyncIterable<string>): never {
  reply.type('application/json; charset=utf-8')
  return Readable.from(pieces) as never
}
