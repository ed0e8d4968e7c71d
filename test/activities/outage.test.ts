import { beforeAll, describe, expect, it } from '@jest/globals'
import { ApplicationFailure } from '@temporalio/common'
import { sql as raw } from 'kysely'
import { RETRY_DELAYS_MS } from '../../src/deliveries/retry-schedule.ts'
import { prepareDelivering } from '../support/delivering.ts'

const SECOND = 1000
const HOUR = 3600 * SECOND
/** The waits after each failure, before the jitter of up to a fifth. */
const WAITS = RETRY_DELAYS_MS.slice(1)

describe('an endpoint that is away for the whole schedule', () => {
  type Delivering = Awaited<ReturnType<typeof prepareDelivering>>
  let sql: Delivering['sql']
  let endpoint: Delivering['endpoint']
  let deliver: Delivering['deliver']
  let leadId: number

  beforeAll(async () => {
    const delivering = await prepareDelivering()
    ;({ sql, endpoint, deliver } = delivering)
    leadId = await delivering.commitLead()
  })

  const waitAfter = async (status: number, headersNow = (): Record<string, string> => ({})) => {
    endpoint.answer = (_, response) => void response.writeHead(status, headersNow()).end()
    const failure = await deliver(leadId, 1, 'scheduled').then(
      () => undefined,
      (error: unknown) => error,
    )
    if (!(failure instanceof ApplicationFailure)) throw new Error('it was not told to come back')
    return Number(failure.nextRetryDelay)
  }
  /** Lets the time until the next attempt pass. */
  const passTime = () =>
    sql
      .updateTable('deliveries')
      .set({ next_attempt_at: raw<Date>`clock_timestamp()` })
      .execute()

  it('is tried on the schedule, each time up to a fifth later', async () => {
    for (const wait of WAITS) {
      const afterMs = await waitAfter(503)
      expect(afterMs).toBeGreaterThanOrEqual(wait - 1)
      expect(afterMs).toBeLessThanOrEqual(1.2 * wait + 1)
      await passTime()
    }
    expect(endpoint.arrivals).toHaveLength(WAITS.length)
  })

  it('gets the webhook once it is back, with the id and bytes of the first attempt', async () => {
    endpoint.answer = (_, response) => void response.writeHead(200).end()
    expect(await deliver(leadId, 1, 'scheduled')).toMatchObject({ outcome: 'delivered' })
    expect(new Set(endpoint.arrivals.map(({ id, body }) => `${id} ${body}`)).size).toBe(1)
    expect(endpoint.arrivals.every(({ verified }) => verified)).toBe(true)
  })

  it.each([
    ['seconds', () => '60', 60 * SECOND],
    ['a date', () => new Date(Date.now() + HOUR).toUTCString(), HOUR],
    ['more than a day: a day', () => '999999', 24 * HOUR],
    ['less than the schedule: the schedule', () => '0', 5 * SECOND],
    ['garbage: the schedule', () => 'soon', 5 * SECOND],
    ['a negative number: the schedule', () => '-5', 5 * SECOND],
  ])('is left alone as long as Retry-After asks, in %s', async (_, headerNow, expectedMs) => {
    await sql
      .updateTable('deliveries')
      .set({ state: 'pending', settled_at: null, failures: 0, next_attempt_at: raw<Date>`clock_timestamp()` })
      .execute()
    const afterMs = await waitAfter(429, () => ({ 'retry-after': headerNow() }))
    expect(afterMs).toBeGreaterThan(expectedMs - 5 * SECOND)
    expect(afterMs).toBeLessThanOrEqual(1.2 * expectedMs)
  })
})
