import { beforeEach, describe, expect, it } from '@jest/globals'
import { lockEndpoint, setEndpoint, switchTo } from '../../src/endpoints/switch-endpoint.ts'
import { addSecret } from '../../src/endpoints/secrets.ts'
import { columnsOf } from '../../src/endpoints/endpoint.ts'
import { readHealth } from '../../src/endpoints/endpoint-health.ts'
import { reviewEndpoint, setNextProbe } from '../../src/endpoints/review.ts'
import { putClockAhead } from '../support/clock.ts'
import { recordMilestones } from '../../src/leads/record-milestones.ts'
import type { Orm } from '../../src/database/orm.ts'
import type { Sql } from '../../src/database/sql.ts'
import { addPartner } from '../../src/partners/partner.ts'
import { attemptTriggers } from '../../src/deliveries/delivery-states.ts'
import { addAttempts } from '../support/attempts.ts'
import { pauseEndpoint, putEndpoints, resumeEndpoint } from '../support/endpoint-states.ts'
import { sealing } from '../../src/seal.ts'
import { testKeys } from '../support/test-keys.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { openDatabase } from '../support/open-database.ts'

const NONE = { count: 0, success_rate: null, duration_p50_ms: null, duration_p95_ms: null }
const ADDRESS = 'https://lender.example/webhooks'

describe('the health of an endpoint', () => {
  let sql: Sql
  let orm: Orm
  let partnerId: number

  beforeEach(async () => {
    ;({ sql, orm, partnerId } = await openDatabase())
  })

  const commitLead = (partner = partnerId) =>
    sql.transaction().execute((trx) => insertLead(trx, partner, LEAD, () => '{}'))
  const recent = async () => (await readHealth(sql, partnerId)).recent_attempts
  const oldest = async () => (await readHealth(sql, partnerId)).oldest_waiting
  const row = () =>
    sql.selectFrom('endpoints').selectAll().where('partner_id', '=', partnerId).executeTakeFirstOrThrow()
  const setUrl = () => setEndpoint(sql, partnerId, { url: ADDRESS, secret: () => '' })

  const changeOver = () =>
    sql.transaction().execute(async (trx) => {
      const endpoint = (await lockEndpoint(trx, partnerId))!
      const secretId = await addSecret(trx, endpoint.id, sealing('unused', testKeys), 'unused')
      await switchTo(trx, endpoint, { url: ADDRESS, secretId }, columnsOf('set'))
    })

  describe('counts of its recent attempts', () => {
    beforeEach(async () => {
      await commitLead()
    })

    it('none before the first', async () => {
      expect(await recent()).toEqual(NONE)
    })

    it('each with its duration, whether it was accepted or not', async () => {
      const durations = Array.from({ length: 20 }, (_, index) => (index + 1) * 10)
      await addAttempts(
        sql,
        partnerId,
        durations.toReversed().map((durationMs) => ({
          durationMs,
          ...(durationMs > 170 && { errorCode: 'timeout' }),
        })),
      )
      expect(await recent()).toEqual({
        count: 20,
        success_rate: 0.85,
        duration_p50_ms: 100,
        duration_p95_ms: 190,
      })
    })

    it('all kinds, but none in progress, interrupted or of another partner', async () => {
      const { id: other } = await addPartner(orm.em.fork(), { name: 'Other Lender' })
      await commitLead(other)
      await addAttempts(sql, other, [{ durationMs: 1 }, { errorCode: 'timeout' }])
      await addAttempts(sql, partnerId, [
        ...attemptTriggers.map((trigger) => ({ trigger, durationMs: 7 })),
        { errorCode: 'interrupted', durationMs: 9000 },
        { inProgress: true },
      ])
      expect(await recent()).toEqual({
        count: attemptTriggers.length,
        success_rate: 1,
        duration_p50_ms: 7,
        duration_p95_ms: 7,
      })
    })

    it('the latest 1,000', async () => {
      const times = <Attempt>(length: number, attempt: Attempt) => Array.from({ length }, () => attempt)
      await addAttempts(sql, partnerId, times(200, { errorCode: 'timeout', durationMs: 15_000 }))
      await addAttempts(sql, partnerId, [{ errorCode: 'http_error' }, ...times(999, {})])
      expect(await recent()).toEqual({
        count: 1000,
        success_rate: 0.999,
        duration_p50_ms: 40,
        duration_p95_ms: 40,
      })
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
    ])('those since the URL is the current one, pauses or not: %s', async (_, change) => {
      const attempt = async (more: { errorCode?: string }) =>
        addAttempts(sql, partnerId, [{ revision: (await row()).revision, ...more }])
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
  })

  it('names the webhook that has waited longest, since it was recorded, whatever its lead’s clock', async () => {
    expect(await oldest()).toBeNull()
    const before = Date.now()
    const first = await commitLead()
    const after = Date.now()
    await putClockAhead(sql, first, 86_400)
    await recordMilestones(sql, first, [{ name: 'contract_signed', dedupeKey: 'x' }], () => '{}')
    const second = await commitLead()
    expect(await oldest()).toMatchObject({ event_name: 'lead_received', lead_id: first })
    const since = (await oldest())!.waiting_since.getTime()
    expect(since).toBeGreaterThanOrEqual(before)
    expect(since).toBeLessThanOrEqual(after)
    const settle = async () =>
      sql
        .updateTable('deliveries')
        .set({ state: 'delivered', settled_at: new Date() })
        .where('event_id', '=', (await oldest())!.event_id)
        .execute()
    await settle()
    expect(await oldest()).toMatchObject({ event_name: 'contract_signed', lead_id: first })
    expect((await oldest())!.waiting_since.getTime()).toBeLessThan(Date.now() + 1000)
    await settle()
    expect(await oldest()).toMatchObject({ event_name: 'lead_received', lead_id: second })
  })

  describe('has a next probe', () => {
    const at = new Date('2026-03-09T11:30:00.250Z')
    const nextProbe = async () => (await readHealth(sql, partnerId)).next_probe_at
    const review = async () => (await reviewEndpoint(sql, (await row()).id))!

    beforeEach(async () => {
      await setUrl()
      await putEndpoints(sql, 'paused', { by: 'service' })
    })

    it('until somebody pauses, resumes or sets it', async () => {
      for (const change of [pauseEndpoint, resumeEndpoint, setUrl]) {
        await putEndpoints(sql, 'paused', { by: 'service' })
        const { since } = await review()
        await setNextProbe(sql, (await row()).id, since, at)
        expect(await nextProbe()).toEqual(at)
        expect((await review()).nextProbeAt).toBe(at.getTime())
        await change(sql, partnerId)
        expect(await nextProbe()).toBeNull()
      }
    })

    it('only if it is still in the pause that the probe is for, and the service paused it', async () => {
      const { id } = await row()
      const { since } = await review()
      await setUrl()
      await putEndpoints(sql, 'paused', { by: 'service' })
      await setNextProbe(sql, id, since, at)
      expect(await nextProbe()).toBeNull()
      await putEndpoints(sql, 'paused', { by: 'staff' })
      await setNextProbe(sql, id, (await review()).since, at)
      expect(await nextProbe()).toBeNull()
    })
  })
})
