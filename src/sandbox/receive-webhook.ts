import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { receivedSecrets } from '../endpoints/secrets.ts'
import { ApiError, retryLater } from '../http/errors.ts'
import { limitInFlight } from '../http/in-flight.ts'
import { problemOf } from '../webhooks/signature.ts'
import { MOST_KEPT, sinkPath } from './sink.ts'

/** More than our webhooks have. */
const MOST_BYTES = 16 * 1024
/** More than our workers send a partner at a time. */
const MOST_IN_FLIGHT = 20

interface Options {
  sql: Sql
  encryptionKeys: readonly Buffer[]
}

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
    const { partnerId, endpointId } = sink
    const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : ''
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    )
    const problem = problemOf(await receivedSecrets(sql, endpointId, encryptionKeys), body, headers) ?? null
    const { status, delayMs } = problem === null ? await takeAnswer(sql, partnerId) : refusal
    await keepArrival(sql, partnerId, { headers, body, problem, status })
    await waitWhileHeld(delayMs, reply)
    const isTaken = problem === null && status < 300
    const said = { success: isTaken, verified: problem === null, answer: explain(problem, status) }
    return reply.code(status).send(said)
  })
}

const findSink = (sql: Sql, token: string) =>
  sql
    .selectFrom('sinks')
    .innerJoin('endpoints', 'endpoints.partner_id', 'sinks.partner_id')
    .select(['sinks.partner_id as partnerId', 'endpoints.id as endpointId'])
    .where('token', '=', token)
    .executeTakeFirst()

const usual = { status: 200, delayMs: 0 }
/** For what is not signed. */
const refusal = { status: 400, delayMs: 0 }

/** Takes the answer to the next webhook, and counts it. */
async function takeAnswer(sql: Sql, partnerId: number): Promise<typeof usual> {
  const taken = await sql
    .updateTable('sinks')
    .set({
      times_left: raw<number | null>`case when times_left >= 0 then times_left - 1 else times_left end`,
    })
    .where('partner_id', '=', partnerId)
    .returning(['status', 'delay_ms as delayMs', 'times_left as left'])
    .executeTakeFirst()
  return taken === undefined || (taken.left ?? 0) < 0 ? usual : taken
}

interface Arrival {
  headers: Record<string, string>
  body: string
  /** Why no secret signed it; `null` if one did. */
  problem: string | null
  status: number
}

/** Keeps what arrived, and forgets the oldest. PostgreSQL stores no NUL. */
async function keepArrival(sql: Sql, partnerId: number, { headers, body, problem, status }: Arrival) {
  await sql
    .insertInto('sink_webhooks')
    .values({
      partner_id: partnerId,
      webhook_id: headers['webhook-id'] ?? '',
      headers: raw<Record<string, string>>`${JSON.stringify(headers)}::jsonb`,
      body: body.replaceAll('\0', '\uFFFD'),
      problem,
      status,
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

/** For who reads the attempt: a refusal is not said to be received. */
function explain(problem: string | null, status: number): string {
  if (problem !== null) return `Refused: ${problem}.`
  return status < 300 ? 'Received.' : `Refused with ${status}, as set-sink told this sink.`
}
