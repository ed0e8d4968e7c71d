import { beforeEach, describe, expect, it } from '@jest/globals'
import type { Orm } from '../../src/database/orm.ts'
import type { Sql } from '../../src/database/sql.ts'
import { attemptTriggers } from '../../src/deliveries/delivery-states.ts'
import { reviewEndpoint, setNextProbe } from '../../src/endpoints/endpoint-review.ts'
import { viewOf } from '../../src/endpoints/endpoint-view.ts'
import { findEndpoint, lockEndpoint } from '../../src/endpoints/endpoint.ts'
import { addSecret } from '../../src/endpoints/secrets.ts'
import { setEndpoint, switchAsPartner } from '../../src/endpoints/switch-endpoint.ts'
import { recordMilestones } from '../../src/leads/record-milestones.ts'
import { addPartner } from '../../src/partners/partner.ts'
import { formatTimestamp } from '../../src/values.ts'
import { addAttempts } from '../support/attempts.ts'
import { putClockAhead } from '../support/clock.ts'
import { pauseEndpoint, putEndpoints, resumeEndpoint } from '../support/endpoint-states.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { openDatabase } from '../support/open-database.ts'

const NONE = { count: 0, success_rate: null, duration_p50_ms: null, duration_p95_ms: null }
const ADDRESS = 'https://lender.example/webhooks'

describe('an endpoint, as it is shown', () => {
  let sql: Sql
  let orm: Orm
  let partnerId: number

  beforeEach(async () => {
    ;({ sql, orm, partnerId } = await openDatabase())
  })

  const commitLead = (partner = partnerId) =>
    sql.transaction().execute((trx) => insertLead(trx, partner, LEAD, () => '{}'))
  const view = () => viewOf(sql, partnerId)
  const recent = async () => (await view()).recent_attempts
  const setUrl = () => setEndpoint(sql, partnerId, { url: ADDRESS, secret: () => '' })
  const changeOver = () =>
    sql.transaction().execute(async (trx) => {
      const endpoint = await lockEndpoint(trx, partnerId)
      await switchAsPartner(trx, endpoint, {
        url: ADDRESS,
        secretId: await addSecret(trx, endpoint.id, () => ''),
      })
    })

  it('has figures of the latest 1,000 attempts, but of none in progress, interrupted or of another partner', async () => {
    expect(await recent()).toEqual(NONE)
    await commitLead()
    const { id: other } = await addPartner(orm.em.fork(), { name: 'Other Lender' })
    await commitLead(other)
    await addAttempts(sql, other, [{ durationMs: 1 }, { errorCode: 'timeout' }])
    const durations = Array.from({ length: 16 }, (_, index) => (index + 1) * 10)
    await addAttempts(sql, partnerId, [
      ...attemptTriggers.map((trigger) => ({ trigger, durationMs: 5 })),
      ...durations.toReversed().map((durationMs) => ({
        durationMs,
        ...(durationMs > 130 && { errorCode: 'timeout' }),
      })),
      { errorCode: 'interrupted', durationMs: 9000 },
      { inProgress: true },
    ])
    expect(await recent()).toEqual({
      count: 20,
      success_rate: 0.85,
      duration_p50_ms: 60,
      duration_p95_ms: 150,
    })
    await addAttempts(sql, partnerId, [
      { errorCode: 'http_error' },
      ...Array.from({ length: 999 }, () => ({})),
    ])
    expect(await recent()).toMatchObject({ count: 1000, success_rate: 0.999 })
  })

  it.each([
    ['staff set it', () => setUrl()],
    ['it was certified', () => changeOver()],
    [
      'it was certified while staff had paused it',
      async () => {
        await pauseEndpoint(sql, partnerId)
        await changeOver()
      },
    ],
  ])('has figures since the URL is the current one, pauses or not: %s', async (_, change) => {
    const attempt = async (more: { errorCode?: string }) =>
      addAttempts(sql, partnerId, [{ revision: (await findEndpoint(sql, partnerId)).revision, ...more }])
    await commitLead()
    await setUrl()
    await attempt({ errorCode: 'timeout' })
    expect(await recent()).toMatchObject({ count: 1, success_rate: 0 })
    await change()
    expect(await recent()).toEqual(NONE)
    await attempt({})
    await pauseEndpoint(sql, partnerId)
    await resumeEndpoint(sql, partnerId)
    await attempt({ errorCode: 'timeout' })
    expect(await recent()).toMatchObject({ count: 2, success_rate: 0.5 })
  })

  it('names the webhook that has waited longest, since it was recorded, whatever its lead’s clock', async () => {
    expect((await view()).oldest_waiting).toBeNull()
    const before = formatTimestamp(new Date())
    const first = await commitLead()
    const after = formatTimestamp(new Date())
    await putClockAhead(sql, first, 86_400)
    await recordMilestones(sql, first, [{ name: 'contract_signed', dedupeKey: 'x' }], () => '{}')
    const second = await commitLead()
    const { oldest_waiting: oldest, open_deliveries: open } = await view()
    expect([oldest, open]).toMatchObject([{ event_name: 'lead_received', lead_id: first }, 3])
    expect([before, after]).toContain(oldest?.waiting_since)
    const settled = { state: 'delivered' as const, settled_at: new Date() }
    await sql.updateTable('deliveries').set(settled).where('lead_id', '=', first).execute()
    expect((await view()).oldest_waiting).toMatchObject({ event_name: 'lead_received', lead_id: second })
  })

  it('has a next probe only in the pause by the service that it was planned for', async () => {
    const at = new Date('2026-03-09T11:30:00.250Z')
    const { id } = await findEndpoint(sql, partnerId)
    const review = async () => (await reviewEndpoint(sql, id))!
    const planned = async () => [(await view()).next_probe_at, (await review()).nextProbeAt]
    await setUrl()
    for (const change of [pauseEndpoint, resumeEndpoint, setUrl]) {
      await putEndpoints(sql, 'paused', { by: 'service' })
      const { since } = await review()
      await setNextProbe(sql, id, since, at)
      expect(await planned()).toEqual(['2026-03-09 11:30:00', at.getTime()])
      await change(sql, partnerId)
      await setNextProbe(sql, id, since, at)
      expect(await planned()).toEqual([null, null])
    }
    await putEndpoints(sql, 'paused', { by: 'staff' })
    await setNextProbe(sql, id, (await review()).since, at)
    expect(await planned()).toEqual([null, null])
  })
})
