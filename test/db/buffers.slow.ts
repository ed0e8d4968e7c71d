import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { latestAttempts } from '../../src/core/deliveries/statements/attempts.ts'
import { findDeliveries } from '../../src/core/deliveries/statements/list.ts'
import { readHealth } from '../../src/core/endpoints/statements/health.ts'
import { deliveryStates, type DeliveryStatus } from '../../src/core/deliveries/decisions/delivery.ts'
import { deliveriesOf } from '../../src/capabilities/access/statements/export-pages.ts'
import { BEGINNING, eventsAfter } from '../../src/core/leads/statements/event-feed.ts'
import { EVENTS_AT_ONCE, findEvents } from '../../src/core/leads/statements/partner-reads.ts'
import type { Orm, Sql } from '../../src/core/database/orm.ts'
import { addPartner } from '../../src/core/partners/statements/partner.ts'
import { buffersRead } from '../support/buffers.ts'
import { openDatabase } from '../support/open-database.ts'

const DELIVERIES = 50_000
const LEADS = 5
/** How many deliveries are in each state but the common one, the oldest of all. */
const RARE = 3
const PAGE = 50
/** Pages of PostgreSQL for a page of 50 rows, each with its event, endpoint, attempts and lead’s first, and for a few rows. */
const LIMIT = { page: 1200, few: 150 }

describe('the pages that PostgreSQL reads', () => {
  let sql: Sql
  let orm: Orm
  const partners = { delivered: 0, pending: 0 }

  beforeAll(async () => {
    ;({ sql, orm } = await openDatabase())
    for (const common of ['delivered', 'pending'] as const) {
      const { id } = await addPartner(orm.em.fork(), { name: 'Large Lender' })
      partners[common] = id
      await fill(id, common)
    }
    await raw`vacuum analyze leads, lead_events, deliveries, endpoints, attempts`.execute(sql)
  }, 60_000)

  /** Leads with 10,000 events each, whose deliveries are in the state `common` but for the oldest of all. */
  async function fill(partnerId: number, common: 'delivered' | 'pending'): Promise<void> {
    const number = raw<number>`generate_series(0, ${DELIVERIES - 1}) as n`
    const lead = raw`(select min(id) from leads where partner_id = ${partnerId}) + n % ${LEADS}`
    const eventId = raw`'evt_019aa200-0000-7000-8000-' || lpad(to_hex(${partnerId} * 1000000 + n), 12, '0')`
    const rare = raw`(array['delivered', 'given_up', 'canceled', 'pending'])[1 + n / ${RARE}]`
    await raw`
      insert into leads (partner_id, personal, status, next_position, next_sequence,
        last_event_at, created_at, updated_at)
      select ${partnerId}, 'never opened', 'score_update', 10001, 10001, now(), now(), now()
      from generate_series(1, 2000)`.execute(sql)
    await raw`
      insert into lead_events (id, lead_id, partner_id, position, event_name, dedupe_key, txid, created_at)
      select ${eventId}, ${lead}, ${partnerId}, 1 + n / ${LEADS}, 'score_update', n, n::text::xid8, now()
      from ${number}`.execute(sql)
    await raw`
      insert into deliveries (event_id, lead_id, partner_id, sequence, body, next_attempt_at, state, settled_at)
      select ${eventId}, ${lead}, ${partnerId}, 1 + n / ${LEADS}, repeat('x', 300), now(), state,
        case state when 'pending' then null else now() end
      from ${number}, lateral (select coalesce(${rare}, ${common}) as state) as of_it`.execute(sql)
    await raw`
      insert into attempts (id, event_id, partner_id, number, trigger, endpoint_revision, finished_at, duration_ms)
      select replace(${eventId}, 'evt', 'att'), ${eventId}, ${partnerId}, 1, 'scheduled', 1, now(), n
      from ${number}`.execute(sql)
  }

  const setEndpoint = (partnerId: number, state: 'active' | 'paused') =>
    sql
      .updateTable('endpoints')
      .set({ state, paused_by: state === 'paused' ? 'staff' : null, url: 'https://lender.example/webhooks' })
      .where('partner_id', '=', partnerId)
      .execute()
  const page = (partnerId: number, states?: DeliveryStatus[], before = 'evt_g') => {
    const filter = { partnerId, ...(states && { states }), before, limit: PAGE }
    return (database: Sql) => findDeliveries(database, filter)
  }

  describe.each(['delivered', 'pending'] as const)(
    'for 50 of a partner’s 50,000 deliveries, mostly %s,',
    (common) => {
      /** How many rows a page has, and whether reading it costs no more than they do. */
      async function read(states?: DeliveryStatus[], before?: string) {
        const find = page(partners[common], states, before)
        const { length: rows } = await find(sql)
        const limit = rows === PAGE ? LIMIT.page : LIMIT.few
        return { rows, isBounded: (await buffersRead(sql, find)) < limit }
      }
      const bounded = (rows: number) => ({ rows, isBounded: true })
      const rowsOf = (state: DeliveryStatus) => (state === common ? PAGE : RARE)

      it.each(['active', 'paused'] as const)(
        'are as many as their rows need, whatever the state, at an endpoint that is %s',
        async (state) => {
          await setEndpoint(partners[common], state)
          for (const status of deliveryStates) expect(await read([status])).toEqual(bounded(rowsOf(status)))
          expect(await read(['held'])).toEqual(bounded(state === 'paused' ? rowsOf('pending') : 0))
        },
      )

      it('are as many as their rows need for several states, and for all', async () => {
        await setEndpoint(partners[common], 'paused')
        expect(await read(['given_up', 'canceled'])).toEqual(bounded(2 * RARE))
        expect(await read(['given_up', 'held'])).toEqual(bounded(common === 'pending' ? PAGE : 2 * RARE))
        expect(await read([...deliveryStates, 'held'])).toEqual(bounded(PAGE))
        expect(await read()).toEqual(bounded(PAGE))
      })

      it('are as many as their rows need from a cursor on, to the last', async () => {
        const all = await sql
          .selectFrom('deliveries')
          .select('event_id')
          .where('partner_id', '=', partners[common])
          .orderBy('event_id')
          .execute()
        const middle = all[DELIVERIES / 2]?.event_id
        expect(await read([common], middle)).toEqual(bounded(PAGE))
        expect(await read(['given_up'], middle)).toEqual(bounded(RARE))
        expect(await read(undefined, middle)).toEqual(bounded(PAGE))
        expect(await read(undefined, all[4]?.event_id)).toEqual(bounded(4))
      })
    },
  )

  it.each(['delivered', 'pending'] as const)(
    'are few for one of a partner’s webhooks, mostly %s',
    async (common) => {
      const partnerId = partners[common]
      const events = sql.selectFrom('deliveries').select('event_id').where('partner_id', '=', partnerId)
      const { event_id: eventId } = await events.orderBy('event_id').offset(20_000).executeTakeFirstOrThrow()
      const one = (database: Sql) => findDeliveries(database, { partnerId, eventId, limit: 2 })
      expect((await one(sql)).map((row) => row.event_id)).toEqual([eventId])
      expect(await buffersRead(sql, one)).toBeLessThan(LIMIT.few)
      const foreign = {
        partnerId: partners[common === 'pending' ? 'delivered' : 'pending'],
        eventId,
        limit: 2,
      }
      expect(await findDeliveries(sql, foreign)).toEqual([])
    },
  )

  it('are as many for a page of the feed as its rows need, of 50,000 with a webhook each', async () => {
    const feed = (database: Sql) => eventsAfter(database, partners.pending, BEGINNING, PAGE)
    const events = await feed(sql)
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map(({ position }) => position))
    expect(events).toHaveLength(PAGE)
    expect(await buffersRead(sql, feed)).toBeLessThan(LIMIT.page)
  })

  it.each(['delivered', 'pending'] as const)(
    'are as many for the health of an endpoint as its latest 1,000 attempts need, of 50,000, with webhooks mostly %s',
    async (common) => {
      const health = (database: Sql) => readHealth(database, partners[common])
      expect((await health(sql)).recent_attempts).toMatchObject({ count: 1000, duration_p50_ms: 49_499 })
      expect(await buffersRead(sql, health)).toBeLessThan(LIMIT.few)
    },
  )

  it('are few for the health of a new URL of 50,000 attempts to the old one, and of a new partner', async () => {
    const { id: quiet } = await addPartner(orm.em.fork(), { name: 'New Lender' })
    await sql
      .updateTable('endpoints')
      .set({ url_revision: 2 })
      .where('partner_id', '=', partners.pending)
      .execute()
    for (const id of [partners.pending, quiet]) {
      const health = (database: Sql) => readHealth(database, id)
      expect((await health(sql)).recent_attempts.count).toBe(0)
      expect(await buffersRead(sql, health)).toBeLessThan(LIMIT.few)
    }
  })

  it('are as many for another partner’s lead of 10,000 events as for one that nobody has', async () => {
    const { id: foreign } = await sql
      .selectFrom('leads')
      .select('id')
      .where('partner_id', '=', partners.delivered)
      .orderBy('id')
      .executeTakeFirstOrThrow()
    const events = (leadId: number) => (database: Sql) => findEvents(database, partners.pending, leadId)
    expect(await events(foreign)(sql)).toBeUndefined()
    const unknown = await buffersRead(sql, events(2_000_000))
    expect(await buffersRead(sql, events(foreign))).toBe(unknown)
    expect(await findEvents(sql, partners.delivered, foreign)).toHaveLength(EVENTS_AT_ONCE)
  })

  it('are as many for the attempts of a webhook as are shown, or exported at once, of 20,000', async () => {
    const { event_id: eventId, lead_id: leadId } = await sql
      .selectFrom('deliveries')
      .select(['event_id', 'lead_id'])
      .where('partner_id', '=', partners.delivered)
      .orderBy('sequence')
      .executeTakeFirstOrThrow()
    await raw`
      insert into attempts (id, event_id, partner_id, number, trigger, endpoint_revision, finished_at, response_body)
      select 'att_more' || n, ${eventId}, ${partners.delivered}, n, 'resend', 1, now(), repeat('x', 100)
      from generate_series(2, 20000) n`.execute(sql)
    await raw`vacuum analyze attempts`.execute(sql)
    const shown = (database: Sql) => latestAttempts(database, [eventId])
    expect((await shown(sql)).get(eventId)?.map(({ number }) => number)).toEqual(
      Array.from({ length: 20 }, (_, index) => 19_981 + index),
    )
    expect(await buffersRead(sql, shown)).toBeLessThan(LIMIT.few)
    const firstPage = async (database: Sql) => (await deliveriesOf(database, leadId).next()).value
    expect(await buffersRead(sql, firstPage)).toBeLessThan(LIMIT.page)
  })
})
