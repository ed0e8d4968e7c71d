import { beforeAll, expect, it } from '@jest/globals'
import { SCORE_PERIOD_MS } from '../../src/core/leads/decisions/score-dates.ts'
import { forEachInFlight } from '../../src/core/temporal/in-flight.ts'
import { putClockAhead } from '../support/clock.ts'
import { leadsOf } from '../support/leads.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

interface Burst {
  /** How many score updates are due at once. */
  size: number
  /** As many have arrived when the worker is killed. */
  killedAfter: number
}

/** What holds for a burst of any size. */
export function survivesKill({ size, killedAfter }: Burst): void {
  let service: Service
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>
  const ids: number[] = []
  let sentBefore = 0

  beforeAll(async () => {
    service = await prepareService()
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    const anchor = new Date(Date.now() - SCORE_PERIOD_MS)
    await forEachInFlight(Array.from({ length: size }), async () => {
      const leadId = await leads.commit()
      ids.push(leadId)
      await service.sql
        .updateTable('leads')
        .set({ anchor_at: anchor })
        .where('id', '=', leadId)
        .executeTakeFirstOrThrow()
      await service.referrals.startFromRecord(leadId)
    })
    const worker = await service.startWorker()
    await partner.endpoint.until(() => updatesSent() >= killedAfter)
    await worker.kill()
    sentBefore = updatesSent()
    await service.startWorker()
    await partner.endpoint.until(() => updatesSent() >= size)
    const offset = SCORE_PERIOD_MS
    await forEachInFlight(ids, async (leadId) => {
      await putClockAhead(service.sql, leadId, offset / 1000)
      await service.referrals.signal(leadId, 'clock_moved', { offset })
    })
    await partner.endpoint.until(() => updatesSent() >= 2 * size)
  }, 120_000)

  const updatesSent = () =>
    new Set(
      partner.endpoint.arrivals.filter(({ event }) => event.type === 'score_update').map(({ id }) => id),
    ).size

  it('are not all sent before', () => {
    expect(sentBefore).toBeLessThan(size)
  })

  it('are recorded once for each lead and date', async () => {
    const recorded = await service.sql
      .selectFrom('lead_events')
      .select(['lead_id', 'score_period'])
      .where('event_name', '=', 'score_update')
      .orderBy('lead_id')
      .orderBy('position')
      .execute()
    const all = ids.toSorted((a, b) => a - b)
    expect(recorded).toEqual(
      all.flatMap((lead_id) => [1, 2].map((score_period) => ({ lead_id, score_period }))),
    )
  })

  it('leave each lead its partner’s turn in its further runs', async () => {
    const continued = await until(async () => {
      const infos = await Promise.all(ids.map(infoOf))
      return infos.find(({ runId, firstRunId }) => runId !== firstRunId)
    })
    expect(continued.fairnessKey).toBe(`partner-${partner.id}`)
  })

  async function infoOf(leadId: number) {
    const { runId, raw } = await service.client.workflow.getHandle(`lead-${leadId}`).describe()
    const { firstRunId, priority } = raw.workflowExecutionInfo ?? {}
    return { runId, firstRunId, fairnessKey: priority?.fairnessKey }
  }

  it('are sent in each lead’s order', () => {
    for (const leadId of ids) {
      // an attempt whose outcome was lost with the worker is made again
      const sequences = new Set(leads.arrivals(leadId).map(({ event }) => event.data.sequence))
      expect([...sequences]).toEqual([1, 2, 3])
    }
  })
}
