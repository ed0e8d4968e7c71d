import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { confirmLeads } from '../../src/capabilities/erasure/statements/retention-ceiling.ts'
import { runRetention } from '../../src/capabilities/retention/statements/runs.ts'
import { KEEP_ALL, retainedAs } from '../support/retention.ts'
import { temporaryFolder } from '../support/folder.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from '../support/service.ts'

const LEADS = Number(process.env.SOAK_ENDED_LEADS ?? 100_000)
const WEBHOOKS_OF_EACH = 4
const CALL_EVERY_MS = 20
const QUIET_MS = 20_000
const HOUR_MS = 3_600_000

describe(`${LEADS} leads that ended long ago`, () => {
  let service: Service
  let partner: TestPartner
  let calls: ReturnType<typeof partnerCalls>

  beforeAll(async () => {
    service = await prepareService({ RETENTION_LEADS_DAYS: 'off' })
    const [api] = await Promise.all([service.startApi(), service.startWorker()])
    partner = await service.addPartner()
    calls = partnerCalls(api.port, partner.key)
    await fill()
  }, HOUR_MS)

  /** Leads with webhooks and attempts, as they are 26 months after their end. */
  async function fill(): Promise<void> {
    const ended = raw`now() - interval '800 days' - n * interval '1 second'`
    await raw`
      insert into leads (partner_id, personal, notes, metadata, status, next_position,
        next_sequence, last_event_at, workflow_started_at, onboarding_sent_at, created_at, updated_at, closed_at,
        close_reason)
      select ${partner.id}, repeat('x', 200), repeat('x', 200), '{"branch": "Austin"}',
        'mortgage_ready', ${WEBHOOKS_OF_EACH + 1}, ${WEBHOOKS_OF_EACH + 1}, ${ended}, ${ended}, ${ended}, ${ended},
        ${ended}, ${ended}, 'mortgage_ready'
      from generate_series(1, ${LEADS}) as n`.execute(service.sql)
    const eventId = raw`'evt_018aa200-0000-7000-8000-' || lpad(to_hex(leads.id * ${WEBHOOKS_OF_EACH}::bigint + n), 12, '0')`
    const rows = raw`leads, generate_series(1, ${WEBHOOKS_OF_EACH}) as n where closed_at is not null`
    await raw`
      insert into lead_events (id, lead_id, partner_id, position, event_name, dedupe_key, created_at)
      select ${eventId}, leads.id, partner_id, n, case n when 1 then 'lead_received' else 'score_update' end, n, closed_at
      from ${rows}`.execute(service.sql)
    await raw`
      insert into deliveries (event_id, lead_id, partner_id, sequence, body, next_attempt_at, state, settled_at)
      select ${eventId}, leads.id, partner_id, n, repeat('x', 300), closed_at, 'delivered', closed_at
      from ${rows}`.execute(service.sql)
    await raw`
      insert into attempts (id, event_id, partner_id, number, trigger, endpoint_revision, started_at, finished_at,
        duration_ms, address, status, response_headers, response_body)
      select replace(${eventId}, 'evt', 'att'), ${eventId}, partner_id, 1, 'scheduled', 1, closed_at, closed_at, 40,
        '192.0.2.1', 200, '{"content-type": "text/plain"}', 'ok'
      from ${rows}`.execute(service.sql)
    await raw`vacuum analyze leads, lead_events, deliveries, attempts`.execute(service.sql)
  }

  /** Live traffic until `isOver`: a create-lead and a get-lead at a time; answers how long each took. */
  async function traffic(isOver: () => boolean): Promise<number[]> {
    const took: number[] = []
    while (!isOver()) {
      const began = performance.now()
      const leadId = await calls.createLead()
      expect((await calls.post('get-lead', { lead_id: leadId })).status).toBe(200)
      took.push(performance.now() - began)
      await delay(CALL_EVERY_MS)
    }
    return took
  }

  const percentile = (values: number[], share: number) =>
    values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? Number.NaN
  const shown = (values: number[]) =>
    `p50 ${percentile(values, 0.5).toFixed(1)} ms, p99 ${percentile(values, 0.99).toFixed(1)} ms of ${values.length}`

  it(
    'are erased beside live traffic, which loses nothing',
    async () => {
      const quietUntil = performance.now() + QUIET_MS
      const before = await traffic(() => performance.now() > quietUntil)
      let isOver = false
      const config = {
        ...KEEP_ALL,
        RETENTION_LEADS_DAYS: 730,
        RETENTION_LEADS_MOST_A_DAY: LEADS,
        ERASURE_JOURNAL: temporaryFolder(),
      }
      // all of them are old
      await confirmLeads(service.sql, LEADS)
      const began = performance.now()
      const erasing = runRetention({ sql: service.sql, config }, retainedAs('leads')).finally(
        () => (isOver = true),
      )
      const during = await traffic(() => isOver)
      expect(await erasing).toBe(LEADS)
      const seconds = (performance.now() - began) / 1000
      const left = service.sql.selectFrom('erasures').select((eb) => eb.fn.countAll<string>().as('count'))
      const { count } = await left.where('checked_at', 'is not', null).executeTakeFirstOrThrow()
      expect(Number(count)).toBe(LEADS)
      process.stdout.write(
        `${LEADS} ended leads erased in ${seconds.toFixed(0)} s (${(LEADS / seconds).toFixed(0)}/s); create-lead and get-lead ` +
          `before: ${shown(before)}; meanwhile: ${shown(during)}\n`,
      )
    },
    HOUR_MS,
  )
})
