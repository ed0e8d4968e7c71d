import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { attemptsByDay, eventsByDay } from '../../src/deliveries/daily.ts'
import { figuresByPartner } from '../../src/endpoints/endpoint-health.ts'
import { health } from '../../src/partners/partner-health.ts'
import { listAllPartners } from '../../src/partners/staff.ts'
import type { Sql } from '../../src/database/sql.ts'
import { addPartner } from '../../src/partners/partner.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import { buffersRead } from '../support/buffers.ts'
import { openDatabase } from '../support/open-database.ts'
import { contextOf, withoutTemporal } from '../staff/context.ts'

const DELIVERIES = 100_000
const DAYS = 20

describe('the health of a partner with 100,000 deliveries', () => {
  let sql: Sql
  let context: StaffContext
  let large: number
  let small: number

  beforeAll(async () => {
    const database = await openDatabase()
    sql = database.sql
    small = database.partnerId
    ;({ id: large } = await addPartner(database.orm.em.fork(), { name: 'Large Lender' }))
    await fill(large, DELIVERIES)
    await fill(small, 40)
    await raw`vacuum analyze leads, lead_events, deliveries, endpoints, attempts`.execute(sql)
    context = await contextOf(withoutTemporal(database.url))
  }, 120_000)

  /** Events of twenty days, from now back: one of ten was given up, one of ten waits, each accepted after two seconds. */
  async function fill(partnerId: number, count: number): Promise<void> {
    await raw`update endpoints set url = 'https://a.example', state = 'active', paused_by = null
      where partner_id = ${partnerId}`.execute(sql)
    await raw`
      insert into leads (partner_id, personal, status, next_position, next_sequence, last_event_at, created_at, updated_at)
      values (${partnerId}, 'never opened', 'score_update', 1, 1, now(), now(), now())`.execute(sql)
    const lead = raw`(select id from leads where partner_id = ${partnerId})`
    const at = raw`now() - n * interval '1 day' * ${DAYS} / ${count}::int`
    await raw`
      create table made_up as
      select n, at, overlay(hex placing '-' from 9 for 0) || '-7000-8000-' ||
        lpad(to_hex(${partnerId} * 1000000 + n), 12, '0') as id
      from (
        select n, date_trunc('milliseconds', ${at}) as at,
          lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') as hex
        from generate_series(0, ${count - 1}) as n
      ) as moments`.execute(sql)
    await raw`
      insert into lead_events (id, lead_id, partner_id, position, event_name, dedupe_key, created_at)
      select 'evt_' || id, ${lead}, ${partnerId}, 1 + n, 'score_update', n, at from made_up`.execute(sql)
    await raw`
      insert into deliveries (event_id, lead_id, partner_id, sequence, body, state, next_attempt_at, settled_at)
      select 'evt_' || id, ${lead}, ${partnerId}, 1 + n, '{}',
        case n % 10 when 0 then 'pending' when 1 then 'given_up' else 'delivered' end, at,
        case when n % 10 > 0 then at + interval '2 seconds' end from made_up`.execute(sql)
    await raw`
      insert into attempts (id, event_id, partner_id, number, trigger, endpoint_revision, url, started_at, finished_at,
        duration_ms, status, error_code, hint)
      select 'att_' || id, 'evt_' || id, ${partnerId}, 1, 'scheduled', 1, 'https://lender.example', at, at, 120,
        case when n % 10 < 2 then 500 else 200 end, case when n % 10 < 2 then 'status' end,
        case when n % 10 < 2 then 'The endpoint had an error of its own' end from made_up`.execute(sql)
    await raw`drop table made_up`.execute(sql)
  }

  it('has the events and attempts of each day, with their percentiles', async () => {
    const { json, text } = await health(context, small)
    const whole = json.days.slice(1, 6)
    expect(whole.map(({ events }) => events)).toEqual([2, 2, 2, 2, 2])
    expect(json.days.reduce((sum, { delivered }) => sum + delivered, 0)).toBeGreaterThan(8)
    expect(json.days.find(({ delivered }) => delivered === 2)).toMatchObject({
      acceptance_p50_ms: expect.closeTo(2000, -2),
      acceptance_p95_ms: expect.closeTo(2000, -2),
      attempts: 2,
      succeeded: 2,
      first_p50_ms: 120,
      first_p95_ms: 120,
    })
    expect(json).toMatchObject({
      open_webhooks: 4,
      held_webhooks: 0,
      last_error: { hint: 'The endpoint had an error of its own' },
    })
    expect(text).toMatch(/^last error +20.*: The endpoint had an error of its own$/m)
  })

  it('says that it holds what waits while the endpoint is paused', async () => {
    await sql
      .updateTable('endpoints')
      .set({ state: 'paused', paused_by: 'staff' })
      .where('partner_id', '=', small)
      .execute()
    expect((await health(context, small)).json).toMatchObject({ held_webhooks: 4, open_webhooks: 4 })
    await sql
      .updateTable('endpoints')
      .set({ state: 'active', paused_by: null })
      .where('partner_id', '=', small)
      .execute()
  })

  it('is in the list of partners as the age of the oldest webhook and the success rate', async () => {
    // the large one has more than a thousand a day
    await raw`update attempts set finished_at = now() - interval '1 hour' where partner_id = ${small}`.execute(
      sql,
    )
    const { json, text } = await listAllPartners(context)
    const oldest = expect.any(Date) as unknown as Date
    expect(json.partners).toMatchObject([
      { partner_id: small, success_rate: 0.8, oldest_undelivered_at: oldest },
      { partner_id: large, success_rate: 0.8, oldest_undelivered_at: oldest },
    ])
    expect(text).toMatch(/ (19 d \d+ h|20 d) +80% /)
    expect(text).toContain('succeeded in 24 h')
  })

  it('leaves failures of earlier days out of the list’s success rate', async () => {
    const rate = async () => (await figuresByPartner(sql, [small])).get(small)?.success_rate
    const before = await rate()
    await raw`
      update attempts set finished_at = now() - interval '25 hours'
      where partner_id = ${small} and error_code is not null`.execute(sql)
    expect([before, await rate()]).toEqual([0.8, 1])
  })

  it.each([
    ['events by day', 40_000, () => eventsByDay(sql, large, 7)],
    ['attempts by day', 40_000, () => attemptsByDay(sql, large, 7)],
    ['the small partner’s events', 200, () => eventsByDay(sql, small, 7)],
    ['the small partner’s attempts', 200, () => attemptsByDay(sql, small, 7)],
    ['the figures of the list', 3000, () => figuresByPartner(sql, [small, large])],
  ])(
    'reads %s by indexes, in time that the other days and partners do not add to',
    async (_, limit, work) => {
      const original = sql
      const pages = await buffersRead(original, async (recorded) => {
        sql = recorded
        await work().finally(() => (sql = original))
      })
      expect(pages).toBeLessThan(limit)
      const began = performance.now()
      await work()
      expect(performance.now() - began).toBeLessThan(20_000)
    },
  )
})
