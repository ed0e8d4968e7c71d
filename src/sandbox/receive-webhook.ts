import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { receivedSecrets } from '../endpoints/secrets.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { ApiError, retryLater } from '../http/errors.ts'
import { limitInFlight } from '../http/limit-in-flight.ts'
import { problemOf } from '../webhooks/signature.ts'
import { MOST_KEPT, sinkPath, USUAL } from './sink.ts'

/** More than our webhooks have. */
const MOST_BYTES = 16 * 1024
/** More than our workers send a partner at a time. */
const MOST_IN_FLIGHT = 20

type Options = Pick<RouteDependencies, 'sql' | 'encryptionKeys'>

/**
 * POST /sandbox/sinks/{token}: an endpoint for partners that have none. It verifies what arrives as a partner should,
 * keeps it, and answers as it was told. It is not in the reference: the worker calls it.
 */
export const receiveWebhook: FastifyPluginAsync<Options> = async (app, { sql, encryptionKeys }) => {
  const limitRequests = limitInFlight(MOST_IN_FLIGHT, () =>
    retryLater('RATE_LIMITED', `The sink answers ${MOST_IN_FLIGHT} requests at a time.`, 1),
  )
  // the signature is over the bytes as they came
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, bytes: Buffer) => bytes)
  app.post(sinkPath(':token'), { bodyLimit: MOST_BYTES }, async (request, reply) => {
    // decoded: a path can be written in many ways
    const { token } = request.params as { token: string }
    const sink = /^[\da-f]{32}$/.test(token) ? await findSink(sql, token) : undefined
    if (sink === undefined) {
      await app.limitAddress(request)
      throw new ApiError('NOT_FOUND', 'There is no such sink.')
    }
    limitRequests(token, reply)
    const { partnerId } = sink
    const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : ''
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    )
    const problem = problemOf(await receivedSecrets(sql, partnerId, encryptionKeys), body, headers) ?? null
    const answer = problem === null ? await takeAnswer(sql, partnerId) : { status: 400, delay_ms: 0 }
    const { status, delay_ms: delayMs } = answer
    await keepArrival(sql, partnerId, { headers, body, problem, status })
    await waitWhileHeld(delayMs, reply)
    const isTaken = problem === null && status < 300
    const said = { success: isTaken, verified: problem === null, answer: explain(problem, status) }
    return reply.code(status).send(said)
  })
}

const findSink = (sql: Sql, token: string) =>
  sql.selectFrom('sinks').select('partner_id as partnerId').where('token', '=', token).executeTakeFirst()

/** Takes the answer to the next webhook, and counts it. */
async function takeAnswer(sql: Sql, partnerId: number): Promise<typeof USUAL> {
  const told = await sql
    .updateTable('sinks')
    .set((eb) => ({ times_left: eb('times_left', '-', 1) }))
    .where('partner_id', '=', partnerId)
    .where((eb) => eb.or([eb('times_left', 'is', null), eb('times_left', '>', 0)]))
    .returning(['status', 'delay_ms'])
    .executeTakeFirst()
  return told ?? USUAL
}

interface Arrival {
  headers: Record<string, string>
  body: string
  /** Why no secret signed it; `null` if one did. */
  problem: string | null
  status: number
}

/** Keeps what arrived, and forgets the oldest. PostgreSQL stores no NUL. */
async function keepArrival(sql: Sql, partnerId: number, { headers, body, ...arrival }: Arrival) {
  await sql
    .insertInto('sink_webhooks')
    .values({
      ...arrival,
      partner_id: partnerId,
      webhook_id: headers['webhook-id'] ?? '',
      headers: raw<Record<string, string>>`${JSON.stringify(headers)}::jsonb`,
      body: body.replaceAll('\0', '\uFFFD'),
    })
    .execute()
  const kept = sql.selectFrom('sink_webhooks').select('id').where('partner_id', '=', partnerId)
  await sql
    .deleteFrom('sink_webhooks')
    .where('partner_id', '=', partnerId)
    .where('id', '<=', kept.orderBy('id', 'desc').offset(MOST_KEPT).limit(1))
    .execute()
}

/** Ends early if the sender hangs up. */
function waitWhileHeld(ms: number, { raw: response }: FastifyReply): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    response.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** What people read in the attempt. */
function explain(problem: string | null, status: number): string {
  if (problem !== null) return `Refused: ${problem}.`
  return status < 300 ? 'Received.' : `Refused with ${status}, as set-sink told this sink.`
}
