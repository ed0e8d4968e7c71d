import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import type { AttemptTrigger } from '../../src/deliveries/delivery-states.ts'
import { findDeliveries } from '../../src/deliveries/list-deliveries.ts'
import { switchAsStaff } from '../../src/endpoints/switch-endpoint.ts'
import { prepareDelivering } from '../support/delivering.ts'
import { pauseEndpoint, resumeEndpoint, putEndpoints } from '../support/endpoint-states.ts'
import { holdRow } from '../support/row-lock.ts'
import { startPartnerEndpoint } from '../support/partner-endpoint.ts'

type Delivering = Awaited<ReturnType<typeof prepareDelivering>>
type Answer = Delivering['endpoint']['answer']

const status =
  (code: number): Answer =>
  (_, response) =>
    void response.writeHead(code).end()

describe('an attempt counts in the round in which it called the endpoint', () => {
  let on: Delivering
  let leadId: number

  beforeAll(async () => {
    on = await prepareDelivering()
  })

  beforeEach(async () => {
    on.endpoint.answer = status(200)
    on.endpoint.arrivals.length = on.noticed.length = 0
    leadId = await on.commitLead()
    await setUrl(on.endpoint.url)
    await putEndpoints(on.sql, 'active')
  })

  const setUrl = (url: string) => switchAsStaff(on.sql, on.partnerId, { url, secret: () => 'unused' })
  const row = () =>
    on.sql
      .selectFrom('endpoints')
      .selectAll()
      .where('partner_id', '=', on.partnerId)
      .executeTakeFirstOrThrow()
  const delivery = () =>
    on.sql.selectFrom('deliveries').selectAll().where('lead_id', '=', leadId).executeTakeFirstOrThrow()
  const attempt = (trigger: AttemptTrigger = 'scheduled') =>
    on.deliver(leadId, 1, trigger).then(
      ({ outcome }) => outcome,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
  /** Lets `change` happen while the endpoint has the request; it answers afterwards. */
  async function during(
    change: () => Promise<unknown>,
    answer: Answer,
    trigger?: AttemptTrigger,
  ): Promise<string> {
    const answered = Promise.withResolvers<void>()
    on.endpoint.answer = (arrival, response) => void answered.promise.then(() => answer(arrival, response))
    const delivering = attempt(trigger)
    await on.endpoint.until((arrivals) => arrivals.length === 1)
    await change()
    answered.resolve()
    return delivering
  }

  it('so a 410 from the previous URL does not pause the new one', async () => {
    const next = await startPartnerEndpoint()
    expect(await during(() => setUrl(next.url), status(410))).toBe('failure 1: the endpoint answered 410')
    expect(await row()).toMatchObject({ state: 'active', paused_by: null, failing_since: null })
    expect(on.noticed).toEqual([])
  })

  it('so a probe that is taken after staff paused delivers its webhook and resumes nothing', async () => {
    await putEndpoints(on.sql, 'paused', { by: 'service' })
    expect(await during(() => pauseEndpoint(on.sql, on.partnerId), status(200), 'probe')).toBe('delivered')
    expect(await row()).toMatchObject({ state: 'paused', paused_by: 'staff' })
    expect((await delivery()).state).toBe('delivered')
  })

  describe('so that after a resume each open delivery has a whole new schedule', () => {
    const resume = async () => {
      await pauseEndpoint(on.sql, on.partnerId)
      await resumeEndpoint(on.sql, on.partnerId)
    }
    const makeDue = () =>
      on.sql
        .updateTable('deliveries')
        .set({ next_attempt_at: raw<Date>`now()` })
        .where('lead_id', '=', leadId)
        .execute()
    const fail = async (times: number) => {
      on.endpoint.answer = status(500)
      for (let failure = 1; failure <= times; failure += 1) {
        expect(await attempt()).toBe(`failure ${failure}: the endpoint answered 500`)
        await makeDue()
      }
    }

    it('which is due now, and begins with its first attempt', async () => {
      await fail(3)
      await on.sql
        .updateTable('deliveries')
        .set({ next_attempt_at: new Date(Date.now() + 3_600_000) })
        .where('lead_id', '=', leadId)
        .execute()
      await resume()
      expect(await attempt()).toBe('failure 1: the endpoint answered 500')
    })

    it('in which a failure that commits while the resume runs is the first, and is not tried again at once', async () => {
      await fail(3)
      const answered = Promise.withResolvers<void>()
      on.endpoint.answer = (arrival, response) =>
        void answered.promise.then(() => status(500)(arrival, response))
      on.endpoint.arrivals.length = 0
      const failing = attempt()
      await on.endpoint.until((arrivals) => arrivals.length === 1)
      const resuming = await holdRow(on.sql, 'endpoints', `partner_id = ${on.partnerId}`)
      answered.resolve()
      await resuming.reached()
      await resuming.release((trx) => resumeEndpoint(trx, on.partnerId))
      expect(await failing).toBe('failure 1: the endpoint answered 500')
      // the leads that are woken now
      expect(await attempt()).toBe('the next attempt is not due yet')
      expect(on.endpoint.arrivals).toHaveLength(1)
      const { failures, next_attempt_at: next } = await delivery()
      expect(failures).toBe(1)
      expect(next.getTime() - Date.now()).toBeGreaterThan(3000)
    })

    it('which partners and staff see, though nothing is rewritten', async () => {
      await fail(3)
      await resume()
      const facts = await findDeliveries(on.sql, { leadId, limit: 1 })
      expect(facts).toMatchObject([{ failures: 0 }])
      expect((facts[0]?.next_attempt_at?.getTime() ?? 0) - Date.now()).toBeLessThanOrEqual(0)
    })
  })
})
