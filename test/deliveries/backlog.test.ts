import { beforeAll, describe, expect, it } from '@jest/globals'
import { readBacklog } from '../../src/deliveries/backlog.ts'
import { recordMilestones } from '../../src/leads/record-milestones.ts'
import { createWorkerMetrics, registerBacklog } from '../../src/observe/worker-metrics.ts'
import { createLogger } from '../../src/observe/log.ts'
import { prepareDelivering } from '../support/delivering.ts'
import { pauseEndpoint, putEndpoints } from '../support/endpoint-states.ts'

describe('what waits', () => {
  type Delivering = Awaited<ReturnType<typeof prepareDelivering>>
  let sql: Delivering['sql']
  let partnerId: number
  beforeAll(async () => {
    const delivering = await prepareDelivering()
    ;({ sql, partnerId } = delivering)
    await putEndpoints(sql, 'active')
    await sql
      .updateTable('endpoints')
      .set({ since: new Date(0) })
      .execute()
    const leadId = await delivering.commitLead()
    await delivering.commitLead()
    await recordMilestones(
      sql,
      leadId,
      [{ name: 'contract_signed', dedupeKey: 'contract_signed' }],
      () => '{}',
    )
    const hourAgo = new Date(Date.now() - 3_600_000)
    await sql
      .updateTable('deliveries')
      .set({ next_attempt_at: hourAgo })
      .where('lead_id', '=', leadId)
      .execute()
  })

  it('counts as due the first open webhook of each lead', async () => {
    const { oldestDueSeconds, oldestUnstartedSeconds, ...counts } = await readBacklog(sql)
    expect(counts).toEqual({
      due: 2,
      held: 0,
      endpoints: { active: 1, failing: 0, paused: 0 },
    })
    expect(oldestDueSeconds).toBeGreaterThan(3590)
    expect(oldestDueSeconds).toBeLessThan(3700)
    expect(oldestUnstartedSeconds).toBeGreaterThan(0)
    expect(oldestUnstartedSeconds).toBeLessThan(60)
  })

  it.each([
    ['has failed for longer than a minute', { failing_since: new Date(Date.now() - 61_000) }],
    ['has leads that are still to be woken', { woken_round: 0, failing_since: null }],
  ])('counts nothing as due to an endpoint that %s', async (_, endpoint) => {
    await sql.updateTable('endpoints').set(endpoint).execute()
    expect(await readBacklog(sql)).toMatchObject({ due: 0, oldestDueSeconds: 0 })
  })

  it('does not count a webhook that waits for its retry', async () => {
    const hourAhead = new Date(Date.now() + 3_600_000)
    await sql
      .updateTable('deliveries')
      .set((eb) => ({
        next_attempt_at: hourAhead,
        failures: 3,
        round: eb.selectFrom('endpoints').select('round'),
      }))
      .execute()
    await sql
      .updateTable('endpoints')
      .set((eb) => ({ woken_round: eb.ref('round'), failing_since: new Date() }))
      .execute()
    const backlog = await readBacklog(sql)
    expect(backlog).toMatchObject({ due: 0, oldestDueSeconds: 0 })
    expect(backlog.endpoints).toEqual({ active: 0, failing: 1, paused: 0 })
  })

  it('counts all open webhooks to a paused endpoint as held', async () => {
    await pauseEndpoint(sql, partnerId)
    expect(await readBacklog(sql)).toMatchObject({ due: 0, oldestDueSeconds: 0, held: 3 })
  })

  it('has no value while PostgreSQL does not answer, and all other metrics are served', async () => {
    const { registry, observe } = createWorkerMetrics(createLogger('silent', 'worker'))
    registerBacklog(registry, () => Promise.withResolvers<never>().promise)
    observe.recorded('contract_signed')
    const text = await registry.metrics()
    expect(text).toContain('referrals_events_recorded_total{event="contract_signed"} 1')
    expect(text).not.toMatch(/^referrals_(deliver|endpoints|leads)\S* \d/m)
  })
})
