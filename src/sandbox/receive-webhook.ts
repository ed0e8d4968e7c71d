import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { receivedSecrets } from '../endpoints/secrets.ts'
import { ApiError, retryLater } from '../http/errors.ts'
import { limitInFlight } from '../http/in-flight.ts'
import { problemOf } from '../webhooks/signature.ts'
import { isOver, MOST_KEPT, type SinkFault, sinkPath } from './sink.ts'

/** More than our webhooks have. */
const MOST_BYTES = 16 * 1024
const MOST_A_MINUTE = 6000
/** More than our workers send a partner at a time. */
const MOST_IN_FLIGHT = 20

interface Answer {
  status: number
  delayMs: number
  fault: SinkFault | null
  /** In seconds. */
  retryAfter: number | null
}

const usual: Answer = { status: 200, delayMs: 0, fault: null, retryAfter: null }
/** For what is not signed. */
const refusal: Answer = { ...usual, status: 400 }

interface Options {
  sql: Sql
  encryptionKeys: readonly Buffer[]
}

/**
 * POST /sandbox/sinks/{token}: an endpoint for partners that have none. It verifies what arrives as a partner should,
 * keeps it, and answers as it was told. It is not in the reference: the worker calls it.
 */
export const receiveWebhook: FastifyPluginAsync<Options> = async (app, { sql, encryptionKeys }) => {
  // decoded: a path can be written in many ways
  const tokenOf = ({ params }: FastifyRequest) => (params as { token: string }).token
  const limitArrivals = app.limitArrivals(MOST_A_MINUTE, tokenOf)
  const limitRequests = limitInFlight(MOST_IN_FLIGHT, () =>
    retryLater('RATE_LIMITED', `The sink answers ${MOST_IN_FLIGHT} requests at a time.`, 1),
  )
  // the signature is over the bytes as they came
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, bytes: Buffer) => bytes)
  app.post(sinkPath(':token'), async (request, reply) => {
    const token = tokenOf(request)
    const isToken = /^[\da-f]{32}$/.test(token)
    if (isToken) {
      limitRequests(token, reply)
      await limitArrivals(request)
    }
    const sink = isToken ? await findSink(sql, token) : undefined
    if (sink === undefined) {
      await app.limitAddress(request)
      throw new ApiError('NOT_FOUND', 'There is no such sink.')
    }
    const { partnerId, endpointId } = sink
    const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    )
    const body = bytes.toString('utf8')
    const problem =
      bytes.length > MOST_BYTES
        ? `a webhook has at most ${MOST_BYTES / 1024} KiB`
        : (problemOf(await receivedSecrets(sql, endpointId, encryptionKeys), body, headers) ?? null)
    const answer = problem === null ? await takeAnswer(sql, partnerId) : refusal
    await keepArrival(sql, partnerId, { headers, body: body.slice(0, MOST_BYTES), problem, answer })
    await waitWhileHeld(answer.delayMs, reply)
    const isTaken = problem === null && answer.status < 300
    const said = { success: isTaken, verified: problem === null, answer: explain(problem, answer.status) }
    if (answer.fault !== null) return answerBadly(reply, answer.fault, answer.status, said)
    if (answer.retryAfter !== null) reply.header('retry-after', String(answer.retryAfter))
    return reply.code(answer.status).send(said)
  })
}

const findSink = (sql: Sql, token: string) =>
  sql
    .selectFrom('sinks')
    .innerJoin('endpoints', 'endpoints.partner_id', 'sinks.partner_id')
    .select(['sinks.partner_id as partnerId', 'endpoints.id as endpointId'])
    .where('token', '=', token)
    .executeTakeFirst()

/** Takes the answer to the next webhook, and counts it. */
async function takeAnswer(sql: Sql, partnerId: number): Promise<Answer> {
  const taken = await sql
    .updateTable('sinks')
    .set({
      times_left: raw<number | null>`case when times_left >= 0 then times_left - 1 else times_left end`,
    })
    .where('partner_id', '=', partnerId)
    .returning(['status', 'delay_ms as delayMs', 'fault', 'retry_after as retryAfter'])
    .returning(raw<boolean>`${isOver} or coalesce(times_left < 0, false)`.as('isOver'))
    .executeTakeFirst()
  return taken === undefined || taken.isOver ? usual : taken
}

interface Arrival {
  headers: Record<string, string>
  body: string
  /** Why no secret signed it; `null` if one did. */
  problem: string | null
  answer: Answer
}

/** Keeps what arrived, and forgets the oldest. PostgreSQL stores no NUL. */
async function keepArrival(sql: Sql, partnerId: number, { headers, body, problem, answer }: Arrival) {
  const clean = (text: string) => text.toWellFormed().replaceAll('\0', '\uFFFD')
  const webhookId = headers['webhook-id'] ?? ''
  const ofPartner = sql.selectFrom('sink_webhooks').where('partner_id', '=', partnerId)
  await sql
    .insertInto('sink_webhooks')
    .values({
      partner_id: partnerId,
      webhook_id: webhookId,
      attempt: ofPartner
        .select(raw<number>`coalesce(max(attempt), 0) + 1`.as('attempt'))
        .where('webhook_id', '=', webhookId),
      headers: raw<Record<string, string>>`${JSON.stringify(headers)}::jsonb`,
      body: clean(body),
      problem,
      status: answer.status,
      delay_ms: answer.delayMs,
      fault: answer.fault,
    })
    .execute()
  await sql
    .deleteFrom('sink_webhooks')
    .where('partner_id', '=', partnerId)
    .where('id', '<=', ofPartner.select('id').orderBy('id', 'desc').offset(MOST_KEPT).limit(1))
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

/** Answers a webhook as no endpoint should. The connection is not used again. */
function answerBadly(reply: FastifyReply, fault: SinkFault, status: number, said: object): FastifyReply {
  const { raw: response } = reply.hijack()
  const text = JSON.stringify(said)
  if (fault === 'resets') response.destroy()
  else response.writeHead(status, { 'content-type': 'application/json', 'content-length': text.length })
  if (fault === 'answers_half') response.write(text.slice(0, text.length / 2), () => response.destroy())
  if (fault === 'answers_slowly') {
    let sent = 0
    const sending = setInterval(() => response.write(text.slice(sent, (sent += 1))), 1000)
    response.once('close', () => clearInterval(sending)).flushHeaders()
  }
  return reply
}
