import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'

import { ApplicationFailure } from '@temporalio/common'
import { sql as raw } from 'kysely'
import { beginAttempt } from '../../src/deliveries/begin-attempt.ts'
import { AFTER_ALL, findDeliveries, nextText } from '../../src/deliveries/list-deliveries.ts'
import { requestAttempt } from '../../src/deliveries/resends.ts'
import { createLeaseJudge } from '../../src/deliveries/delivery.ts'
import { LEASE_MS } from '../../src/deliveries/delivery-states.ts'
import { RETRY_DELAYS_MS } from '../../src/deliveries/retry-schedule.ts'
import { prepareDelivering } from '../support/delivering.ts'
import { pauseEndpoint, putEndpoints, resumeEndpoint } from '../support/endpoint-states.ts'
import { holdRow, sessionsThatWait } from '../support/row-lock.ts'
import { testKeys } from '../support/test-keys.ts'
import { until } from '../support/until.ts'

describe('delivering a webhook', () => {
  type Delivering = Awaited<ReturnType<typeof prepareDelivering>>
  let on: Delivering
  let sql: Delivering['sql']
  let partnerId: number
  let endpoint: Delivering['endpoint']
  let deliver: Delivering['deliver']
  let commitLead: Delivering['commitLead']
  let noticed: string[]
  let leadId: number
  /** The monotonic clock of the process that delivers. */
  let timeMs = 0

  beforeAll(async () => {
    on = await prepareDelivering()
    ;({ sql, partnerId, endpoint, commitLead, noticed } = on)
    ;({ deliver } = on.startProcess({ monotonicMs: () => timeMs }))
  })

  beforeEach(async () => {
    endpoint.answer = (_, response) => void response.writeHead(200).end()
    endpoint.arrivals.length = 0
    noticed.length = 0
    leadId = await commitLead()
    await putEndpoints(sql, 'active')
  })

  afterEach(() => void jest.restoreAllMocks())

  const delivery = () =>
    sql.selectFrom('deliveries').selectAll().where('lead_id', '=', leadId).executeTakeFirstOrThrow()
  const attempts = async () =>
    sql
      .selectFrom('attempts')
      .selectAll()
      .where('event_id', '=', (await delivery()).event_id)
      .orderBy('number')
      .execute()
  const endpointRow = () =>
    sql.selectFrom('endpoints').selectAll().where('partner_id', '=', partnerId).executeTakeFirstOrThrow()
  const answering = (status: number, headers: Record<string, string> = {}) => {
    endpoint.answer = (_, response) => void response.writeHead(status, headers).end('sorry')
  }
  const makeDue = async (place: { failures?: number } = {}) =>
    sql
      .updateTable('deliveries')
      .set({ next_attempt_at: raw<Date>`clock_timestamp()`, ...place })
      .where('lead_id', '=', leadId)
      .execute()
  const refusal = async (): Promise<ApplicationFailure> => {
    const failure = await deliver(leadId, 1, 'scheduled').then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(failure).toBeInstanceOf(ApplicationFailure)
    return failure as ApplicationFailure
  }

  const IN_FLIGHT = 'another request of this delivery is in flight'
  /** Lets the process see the lease of a dead process for as long as a lease lasts. */
  const outliveLease = async () => {
    expect((await refusal()).message).toBe(IN_FLIGHT)
    timeMs += LEASE_MS
  }

  it('sends the stored bytes once, with a signature that the public library accepts', async () => {
    for (let count = 0; count < 2; count += 1)
      expect(await deliver(leadId, 1, 'scheduled')).toEqual({ outcome: 'delivered', next: 2, last: 1 })
    const { event_id: eventId, body, state, lease } = await delivery()
    expect(endpoint.arrivals).toEqual([expect.objectContaining({ id: eventId, body, verified: true })])
    expect({ state, lease }).toEqual({ state: 'delivered', lease: null })
    expect(await attempts()).toEqual([
      expect.objectContaining({
        number: 1,
        trigger: 'scheduled',
        status: 200,
        error_code: null,
      }),
    ])
  })

  it('comes back five seconds after the first failure, not before, and says why', async () => {
    answering(500)
    for (const message of ['failure 1: the endpoint answered 500', 'the next attempt is not due yet']) {
      const failure = await refusal()
      expect(failure.message).toBe(message)
      expect(Number(failure.nextRetryDelay)).toBeGreaterThan(4_000)
      expect(Number(failure.nextRetryDelay)).toBeLessThanOrEqual(6_000)
    }
    const { failures, state } = await delivery()
    expect({ failures, state }).toEqual({ failures: 1, state: 'pending' })
    expect((await endpointRow()).failing_since).not.toBeNull()
    expect(await attempts()).toEqual([
      expect.objectContaining({
        url: endpoint.url,
        status: 500,
        error_code: 'http_error',
        response_body: 'sorry',
      }),
    ])
  })

  it('comes back when Retry-After asks', async () => {
    answering(429, { 'retry-after': '60' })
    const { nextRetryDelay } = await refusal()
    expect(Number(nextRetryDelay)).toBeGreaterThan(59_000)
    expect(Number(nextRetryDelay)).toBeLessThanOrEqual(72_000)
  })

  it('sends the same id and bytes at every attempt, each with a signature of its own time', async () => {
    answering(503)
    await refusal()
    await makeDue()
    endpoint.answer = (_, response) => void response.writeHead(204).end()
    expect(await deliver(leadId, 1, 'scheduled')).toMatchObject({ outcome: 'delivered' })
    const [first, second] = endpoint.arrivals
    expect(second?.id).toBe(first?.id)
    expect(second?.body).toBe(first?.body)
    expect(second?.verified).toBe(true)
    expect((await endpointRow()).failing_since).toBeNull()
  })

  it('holds a delivery whose endpoint is paused, and a resend, without an attempt', async () => {
    await putEndpoints(sql, 'paused', { by: 'service' })
    expect(await deliver(leadId, 1, 'scheduled')).toEqual({ outcome: 'held', next: 1, last: 1 })
    await settle()
    expect(await deliver(leadId, 1, 'resend')).toMatchObject({ outcome: 'held' })
    expect(await attempts()).toEqual([])
  })

  it('makes no attempt while a signing secret cannot be decrypted, and goes on once it can', async () => {
    const secrets = () => sql.updateTable('endpoint_secrets')
    await secrets()
      .set({ ciphertext: raw<string>`ciphertext || 'damaged'` })
      .execute()
    const { message, nextRetryDelay } = await refusal()
    expect(message).toMatch(/^a stored value under the key/)
    expect(Number(nextRetryDelay)).toBe(60_000)
    expect(await attempts()).toEqual([])
    const damaged = expect.stringMatching(/^a stored value under the key [0-9a-f]{8} was changed/)
    expect(await delivery()).toMatchObject({ state: 'pending', failures: 0, lease: null, fault: damaged })
    const [listed] = await findDeliveries(sql, { leadId, before: AFTER_ALL, limit: 1 })
    expect(nextText(listed!)).toEqual(damaged)
    expect((await endpointRow()).failing_since).toBeNull()
    expect(noticed).toEqual([damaged])
    await secrets()
      .set({ ciphertext: raw<string>`replace(ciphertext, 'damaged', '')` })
      .execute()
    expect(await deliver(leadId, 1, 'scheduled')).toMatchObject({ outcome: 'delivered' })
    expect((await delivery()).fault).toBeNull()
  })

  it('owes one mail that the endpoint fails, and one that it works again once nothing fails any more', async () => {
    await sql.deleteFrom('notices').execute()
    await sql.updateTable('endpoints').set({ incident: false }).execute()
    const others = sql.updateTable('deliveries').where('lead_id', '<>', leadId)
    await others.where('state', '=', 'pending').set({ state: 'canceled', settled_at: new Date() }).execute()
    const owed = async () => {
      const notices = sql.selectFrom('notices').select('kind').where('recipient', '=', 'partner')
      return (await notices.orderBy('id').execute()).map(({ kind }) => kind)
    }
    const takeAnother = async () => deliver(await commitLead(), 1, 'scheduled')
    answering(500)
    for (let failure = 1; failure <= 5; failure += 1) {
      await refusal()
      await makeDue()
    }
    expect(await owed()).toEqual(['failing'])
    answering(200)
    await takeAnother()
    expect(await owed()).toEqual(['failing'])
    await deliver(leadId, 1, 'scheduled')
    await takeAnother()
    expect(await owed()).toEqual(['failing', 'recovered'])
    await pauseEndpoint(sql, partnerId)
    await resumeEndpoint(sql, partnerId)
    expect(await owed()).toEqual(['failing', 'recovered', 'paused'])
    await takeAnother()
    await takeAnother()
    expect(await owed()).toEqual(['failing', 'recovered', 'paused', 'recovered'])
  })

  it('pauses the endpoint at 410 and keeps the delivery', async () => {
    answering(410)
    expect(await deliver(leadId, 1, 'scheduled')).toMatchObject({ outcome: 'held', next: 1 })
    expect(await endpointRow()).toMatchObject({ state: 'paused', reason: 'gone' })
    expect((await delivery()).state).toBe('pending')
  })

  it('gives up at the last failure what a working endpoint refuses, and goes on to the next', async () => {
    answering(500)
    await refusal()
    answering(200)
    await deliver(await commitLead(), 1, 'scheduled')
    answering(500)
    await makeDue({ failures: RETRY_DELAYS_MS.length - 1 })
    expect(await deliver(leadId, 1, 'scheduled')).toEqual({ outcome: 'given_up', next: 2, last: 1 })
    expect((await delivery()).failures).toBe(RETRY_DELAYS_MS.length)
  })

  it('is taken over from another process only once its lease was known for a lease’s length', async () => {
    const answered = Promise.withResolvers<void>()
    endpoint.answer = (_, response) => void answered.promise.then(() => response.writeHead(200).end())
    const first = on.startProcess().deliver(leadId, 1, 'scheduled')
    await endpoint.until((arrivals) => arrivals.length === 1)
    await outliveLease()
    // by now the other process sends nothing any more
    endpoint.answer = (_, response) => void response.writeHead(200).end()
    expect(await deliver(leadId, 1, 'scheduled')).toMatchObject({ outcome: 'delivered' })
    expect(endpoint.arrivals).toHaveLength(2)
    answered.resolve()
    await expect(first).rejects.toThrow('another request of this delivery decides')
    expect((await attempts()).map(({ number, status }) => [number, status])).toEqual([
      [1, 200],
      [2, 200],
    ])
  })

  it('is not sent by a process that stood still before its request: the lease may be another’s by the time it ends', async () => {
    const monotonicMs = performance.now.bind(performance)
    let frozenMs = 0
    jest.spyOn(performance, 'now').mockImplementation(() => monotonicMs() + (frozenMs += 6000))
    expect((await refusal()).message).toBe('the attempt began too late')
    expect(endpoint.arrivals).toEqual([])
    jest.restoreAllMocks()
    await outliveLease()
    expect(await deliver(leadId, 1, 'scheduled')).toMatchObject({ outcome: 'delivered' })
  })

  it('has its outcome written though PostgreSQL fails, however long it waited before, and though a clock jumps', async () => {
    const [monotonicMs, epochMs] = [performance.now.bind(performance), Date.now.bind(Date)]
    let [waitedMs, jumpedMs] = [0, 0]
    jest.spyOn(performance, 'now').mockImplementation(() => monotonicMs() + waitedMs)
    jest.spyOn(Date, 'now').mockImplementation(() => epochMs() + (jumpedMs += LEASE_MS))
    const { attempts: own, deliver: patient } = on.startProcess()
    own.ended = async () => void (waitedMs = LEASE_MS)
    await failingOnce('attempts')
    expect(await patient(leadId, 1, 'scheduled')).toMatchObject({ outcome: 'delivered' })
    expect(endpoint.arrivals).toHaveLength(1)
  })

  /** Makes the next update of a table fail. It counts in a sequence, which a rollback does not reset. */
  async function failingOnce(table: string): Promise<void> {
    await raw`create sequence updates_of_test`.execute(sql)
    await raw`create function fail_once() returns trigger language plpgsql as $$
      begin
        if nextval('updates_of_test') = 1 then raise exception 'not now'; end if;
        return new;
      end $$`.execute(sql)
    await raw`create trigger fail_once before update on ${raw.table(table)}
      for each row execute function fail_once()`.execute(sql)
  }

  it('sends again what a crash interrupted, without using up a place in the schedule', async () => {
    for (let crash = 1; crash <= 2; crash += 1) await interruptedAttempt()
    await outliveLease()
    expect(await deliver(leadId, 1, 'scheduled')).toMatchObject({ outcome: 'delivered' })
    expect((await attempts()).map((attempt) => attempt.error_code)).toEqual([
      'interrupted',
      'interrupted',
      null,
    ])
    expect((await delivery()).failures).toBe(0)
  })

  it('counts three interruptions in a row as one failure', async () => {
    for (let crash = 1; crash <= 3; crash += 1) await interruptedAttempt()
    await outliveLease()
    expect((await refusal()).message).toBe('the next attempt is not due yet')
    expect((await delivery()).failures).toBe(1)
    expect(endpoint.arrivals).toEqual([])
  })

  it.each([200, 500])('leaves a settled webhook delivered by a resend, answered %i', async (status) => {
    await settle()
    answering(status)
    expect(await deliver(leadId, 1, 'resend')).toMatchObject({
      outcome: status === 200 ? 'delivered' : 'failed',
    })
    expect(await delivery()).toMatchObject({ state: 'delivered', lease: null })
    expect(endpoint.arrivals).toHaveLength(1)
  })

  it('tries a requested open webhook now, as a resend that keeps its place in the schedule', async () => {
    answering(500)
    expect((await refusal()).message).toBe('failure 1: the endpoint answered 500')
    const hour = 3_600_000
    const place = { failures: 3, next_attempt_at: new Date(Date.now() + hour) }
    await sql.updateTable('deliveries').set(place).where('lead_id', '=', leadId).execute()
    const ask = async () => requestAttempt(sql, (await delivery()).event_id)
    await ask()
    await ask()
    const { nextRetryDelay } = await refusal()
    expect(Number(nextRetryDelay)).toBeGreaterThan(hour - 60_000)
    expect(await delivery()).toMatchObject({
      ...place,
      state: 'pending',
      lease: null,
      asked: null,
    })
    // asked for once, tried once
    expect((await refusal()).message).toBe('the next attempt is not due yet')
    answering(200)
    await ask()
    expect(await deliver(leadId, 1, 'scheduled')).toMatchObject({ outcome: 'delivered' })
    expect(await delivery()).toMatchObject({ state: 'delivered', asked: null })
    expect((await attempts()).map(({ trigger }) => trigger)).toEqual(['scheduled', 'resend', 'resend'])
    expect(endpoint.arrivals.map(({ replay }) => replay)).toEqual([undefined, undefined, undefined])
  })

  it('is sent by one of two processes that begin at once', async () => {
    const lock = await holdRow(sql, 'deliveries', `lead_id = ${leadId}`)
    const wanted = { leadId, sequence: 1, trigger: 'scheduled' as const }
    const begun = [1, 2].map(() => beginAttempt(sql, wanted, testKeys, createLeaseJudge()))
    await until(async () => (await sessionsThatWait(sql)) === 2)
    await lock.release()
    const kinds = (await Promise.all(begun)).map(({ kind }) => kind)
    expect(kinds.toSorted()).toEqual(['send', 'wait'])
    expect(await attempts()).toHaveLength(1)
  })

  const settle = () =>
    sql
      .updateTable('deliveries')
      .set({ state: 'delivered', settled_at: new Date() })
      .where('lead_id', '=', leadId)
      .execute()

  /** The state that a worker leaves when it is killed after it has committed an attempt. */
  const interruptedAttempt = () =>
    beginAttempt(sql, { leadId, sequence: 1, trigger: 'scheduled' }, testKeys, () => true)
})
