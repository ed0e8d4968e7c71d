import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { answerBadly } from './bad-answers.ts'
import {
  findSinkByToken,
  isToken,
  keepArrival,
  SINK_PATH,
  takeAnswer,
  type TakenAnswer,
} from '../statements/sinks.ts'
import { problemOf } from '../../../core/deliveries/webhooks/verify.ts'
import type { RouteDependencies } from '../../../core/http/dependencies.ts'
import { ApiError } from '../../../core/http/errors.ts'

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
