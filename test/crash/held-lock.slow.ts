import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { leadsOf } from '../support/leads.ts'
import { holdRow } from '../support/row-lock.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

const DUE = 60
const OTHERS = 20
/** Whoever waited for the lock, or for the connections of those who do, would take the lock's own limit and more. */
const PROMPT_MS = 5000

/** What a transaction does that stands still, of whomever it is: it holds one partner's endpoint. */
describe('while somebody holds the lock of one partner’s endpoint', () => {
  let service: Service
  let held: TestPartner
  let other: TestPartner

  beforeAll(async () => {
    service = await prepareService()
    ;[held, other] = await Promise.all([service.addPartner(), service.addPartner()])
    await service.startWorker()
  })

  it('another partner’s webhooks go out as promptly as ever, and its own once it is free', async () => {
    const leadsOfHeld = leadsOf(service, held)
    const leadsOfOther = leadsOf(service, other)
    const lock = await holdRow(service.sql, 'endpoints', `partner_id = ${held.id}`)
    await Promise.all(Array.from({ length: DUE }, () => leadsOfHeld.start()))
    await lock.reached()

    const tookMs: number[] = []
    for (let count = 0; count < OTHERS; count += 1) {
      const begun = performance.now()
      const leadId = await leadsOfOther.start()
      await other.endpoint.until(() => leadsOfOther.arrivals(leadId).length === 1)
      tookMs.push(performance.now() - begun)
    }
    // all but one in twenty
    expect(tookMs.toSorted((a, b) => a - b).at(-2)).toBeLessThan(PROMPT_MS)
    expect(held.endpoint.arrivals).toEqual([])

    await lock.release()
    const released = performance.now()
    await held.endpoint.until((arrivals) => arrivals.length === DUE)
    expect(performance.now() - released).toBeLessThan(20_000)
    expect(new Set(held.endpoint.arrivals.map(({ id }) => id)).size).toBe(DUE)
  }, 60_000)

  it('what an endpoint has answered is written down for as long as the lease, and not asked for again', async () => {
    const { promise, resolve } = Promise.withResolvers<() => void>()
    other.endpoint.answer = (_, response) => resolve(() => void response.writeHead(500).end())
    const leadId = await leadsOf(service, other).start()
    const fail = await promise
    const lock = await holdRow(service.sql, 'endpoints', `partner_id = ${other.id}`)
    fail()
    await lock.reached()
    const first = await waitsSince()
    // it has given up to wait, and waits again
    await until(async () => (await waitsSince()) > first)
    await lock.release()
    const attempts = () =>
      service.sql
        .selectFrom('attempts')
        .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
        .select(['attempts.number', 'attempts.status', 'attempts.error_code'])
        .where('deliveries.lead_id', '=', leadId)
        .where('deliveries.failures', '=', 1)
        .execute()
    await until(async () => (await attempts()).length > 0)
    expect(await attempts()).toEqual([{ number: 1, status: 500, error_code: 'http_error' }])
  })

  /** When the statement began that waits for a lock, in milliseconds; 0 while none does. */
  async function waitsSince(): Promise<number> {
    const { rows } = await raw<{ since: Date }>`select query_start as since from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(service.sql)
    return rows[0]?.since.getTime() ?? 0
  }
})
