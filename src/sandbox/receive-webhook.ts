import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { RouteDependencies } from '../http/dependencies.ts'
import { ApiError } from '../http/errors.ts'
import { problemOf } from '../webhooks/signature.ts'
import {
  findSinkByToken,
  isToken,
  keepArrival,
  SINK_PATH,
  type SinkFault,
  takeAnswer,
  type TakenAnswer,
} from './sink.ts'

const BYTE_EVERY_MS = 1000

/** Answers a webhook as no endpoint should. The connection is not used again. */
function answerBadly(reply: FastifyReply, fault: SinkFault, status: number, body: object): FastifyReply {
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

type Options = Pick<RouteDependencies, 'sql' | 'encryptionKeys'>

/** The path of a sink, below `/v1`. */
export const sinkPath = (token: string) => `${SINK_PATH}${token}`

/** More than our webhooks have. */
const MOST_BYTES = 16 * 1024
/** Of webhooks and of all else together, and of what no secret signed. */
const MOST_A_MINUTE = { arrivals: 6000, unsigned: 60 }

/** For what is not signed. */
const REFUSAL: TakenAnswer = { status: 400, delayMs: 0, fault: null, retryAfter: null }

/**
 * POST /sandbox/sinks/{token}: an endpoint for partners that have none. It verifies what arrives as a partner should,
 * keeps it, and answers as it was told. What is not signed is not parsed, and only its beginning is kept.
 */
export const sink: FastifyPluginAsync<Options> = async (app, { sql, encryptionKeys }) => {
  // decoded: a path can be written in many ways
  const tokenOf = ({ params }: FastifyRequest) => (params as { token: string }).token
  const limitArrivals = app.limitArrivals(MOST_A_MINUTE.arrivals, tokenOf)
  const limitUnsigned = app.limitArrivals(MOST_A_MINUTE.unsigned, tokenOf)
  // the signature is over the bytes as they came
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, bytes: Buffer) => bytes)
  app.post<{ Params: { token: string } }>(sinkPath(':token'), {
    // not in the reference: it is the worker that calls it
    handler: async (request, reply) => {
      const { token } = request.params
      const isOne = isToken(token)
      if (isOne) await limitArrivals(request)
      const found = isOne ? await findSinkByToken(sql, token, encryptionKeys) : undefined
      if (found === undefined) {
        await app.limitAddress(request)
        throw new ApiError('NOT_FOUND', 'There is no such sink.')
      }
      const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      )
      const problem = faultOf(found.secrets, bytes, headers) ?? null
      if (problem !== null) await limitUnsigned(request)
      const answer: TakenAnswer = problem === null ? await takeAnswer(sql, found.partnerId) : REFUSAL
      await keepArrival(sql, found.partnerId, { headers, body: bytes.toString('utf8'), problem, ...answer })
      await delay(answer.delayMs)
      const isTaken = problem === null && answer.status < 300
      const body = { success: isTaken, verified: problem === null, answer: explain(problem, answer.status) }
      if (answer.fault !== null) return answerBadly(reply, answer.fault, answer.status, body)
      if (answer.retryAfter !== null) reply.header('retry-after', String(answer.retryAfter))
      return reply.code(answer.status).send(body)
    },
  })
}

/** For who reads the attempt: a refusal is not said to be received. */
function explain(problem: string | null, status: number): string {
  if (problem !== null) return `Refused: ${problem}.`
  return status < 300 ? 'Received.' : `Refused with ${status}, as set-sink told this sink.`
}

function faultOf(
  secrets: readonly string[],
  bytes: Buffer,
  headers: Record<string, string>,
): string | undefined {
  if (bytes.length > MOST_BYTES) return `a webhook has at most ${MOST_BYTES / 1024} KiB`
  return problemOf(secrets, bytes.toString('utf8'), headers)
}
