import { readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import * as fc from 'fast-check'
import { sql as raw } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import { removeOldActivity } from '../../activities/remove-old.ts'
import { holdLead } from '../../src/privacy/holds.ts'
import type { Orm } from '../../src/database/orm.ts'
import type { Sql } from '../../src/database/sql.ts'
import { addPartner } from '../../src/partners/partner.ts'
import { removalsOf, runRetention, retentionDryRun } from '../../src/privacy/retention.ts'
import { runNow, showRetention } from '../../src/privacy/staff.ts'
import { retained } from '../../src/privacy/retention-table.ts'
import { auditOf, contextOf, withoutTemporal } from '../staff/context.ts'
import { dyingBefore } from '../support/failing-sql.ts'
import { temporaryFolder } from '../support/folder.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { ownedDatabase, retainedAs } from '../support/retention.ts'

const SETTINGS = {
  RETENTION_LEADS_DAYS: 730 as number | null,
  RETENTION_ATTEMPTS_DAYS: 30,
  RETENTION_NOTICES_DAYS: 90,
  RETENTION_ENDPOINTS_DAYS: 365,
}
const classes = retained.map(({ name }) => name)
const DAY_MS = 86_400_000

describe('retention', () => {
  let owner: Orm
  let sql: Sql
  let ownerSql: Sql
  let url: string
  let partnerId: number
  let settings: typeof SETTINGS & { ERASURE_LOG: string }
  let count = 0

  beforeAll(async () => {
    ;({ url, owner, ownerSql, sql } = await ownedDatabase())
    settings = { ...SETTINGS, ERASURE_LOG: path.join(temporaryFolder(), 'erasures.jsonl') }
  })

  beforeEach(async () => {
    await raw`truncate leads, attempts, idempotency_keys, notices, retention_runs, onboarding_mails,
      endpoint_secrets restart identity cascade`.execute(ownerSql)
    ;({ id: partnerId } = await addPartner(owner.em.fork(), { name: 'First Lender' }))
    // most of the leads are old
  })

  const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)

  const lead = () => insertLead(sql, partnerId, LEAD, () => '{}')
  async function endedLead(days: number): Promise<number> {
    const id = await lead()
    await sql
      .updateTable('leads')
      .set({ closed_at: daysAgo(days), close_reason: 'withdrew' })
      .where('id', '=', id)
      .execute()
    return id
  }

  /** Writes one row of each class that is so old, and answers whether each is there still. */
  const writers: Record<string, (days: number) => Promise<() => Promise<boolean>>> = {
    async leads(days) {
      const id = await endedLead(days)
      return async () => {
        const row = sql.selectFrom('leads').select(['personal', 'erased_at']).where('id', '=', id)
        const { personal, erased_at: erasedAt } = await row.executeTakeFirstOrThrow()
        expect(personal === null).toBe(erasedAt !== null)
        return erasedAt === null
      }
    },
    async attempts(days) {
      const leadId = await lead()
      const at = daysAgo(days)
      const id = `att_${uuidv7({ msecs: at.getTime() })}`
      await raw`
        insert into attempts (id, event_id, partner_id, number, trigger, endpoint_revision, url, started_at, finished_at,
          response_headers, response_body, address)
        select ${id}, event_id, partner_id, 1, 'scheduled', 1, 'https://lender.example', ${at}, ${at}, '{}', 'no', '192.0.2.1'
        from deliveries where lead_id = ${leadId}`.execute(sql)
      return async () => {
        const row = sql.selectFrom('attempts').selectAll().where('id', '=', id)
        const { response_headers: headers, response_body: body } = await row.executeTakeFirstOrThrow()
        expect(headers === null).toBe(body === null)
        return body !== null
      }
    },
    async idempotency_keys(days) {
      const leadId = await lead()
      count += 1
      const key = `key-${count}`
      await sql
        .insertInto('idempotency_keys')
        .values({
          partner_id: partnerId,
          key,
          request_hash: '',
          response: '{}',
          lead_id: leadId,
          created_at: daysAgo(days),
        })
        .execute()
      return async () =>
        (await sql.selectFrom('idempotency_keys').select('key').where('key', '=', key).execute()).length > 0
    },
    async mailed_addresses(days) {
      const leadId = await lead()
      const mail = { lead_id: leadId, partner_id: partnerId, address_hash: 'hash', claimed_at: daysAgo(days) }
      await sql.insertInto('onboarding_mails').values(mail).execute()
      const own = sql.selectFrom('onboarding_mails').select('address_hash').where('lead_id', '=', leadId)
      return async () => (await own.executeTakeFirstOrThrow()).address_hash !== null
    },
    async notices(days) {
      count += 1
      // a kind of its own, with a later one
      const kind = `paused-${count}`
      const rows = [days, -1].map((age) => ({
        partner_id: partnerId,
        kind,
        owed_at: daysAgo(age),
        sent_at: daysAgo(age),
      }))
      await sql.insertInto('notices').values(rows).execute()
      return async () =>
        (await sql.selectFrom('notices').select('kind').where('kind', '=', kind).execute()).length === 2
    },
    async secrets(days) {
      const { id } = await sql
        .insertInto('endpoint_secrets')
        .values({ endpoint_id: await endpointId(), ciphertext: 'sealed', expires_at: daysAgo(days) })
        .returning('id')
        .executeTakeFirstOrThrow()
      return stillIn('endpoint_secrets', id)
    },
  }

  const endpointId = async () =>
    (
      await sql
        .selectFrom('endpoints')
        .select('id')
        .where('partner_id', '=', partnerId)
        .executeTakeFirstOrThrow()
    ).id
  const stillIn = (table: string, id: number) => async () =>
    (await raw`select from ${raw.table(table)} where id = ${id}`.execute(sql)).rows.length > 0

  const run = (name: string, { on = sql, config = settings } = {}) =>
    runRetention({ sql: on, config }, retainedAs(name))

  it.each(classes)(
    'removes of %s what is older than its limit and nothing younger, though it is interrupted',
    async (name) => {
      const limit = retainedAs(name).days(settings) ?? 0
      // attempts may be an hour over it, because their ids come from workers' clocks, and reads a month, which is dropped whole
      const mayBeOver = name === 'reads' ? 31 : 0.05
      const age = fc
        .double({ min: -limit, max: limit, noNaN: true })
        .filter((days) => days < -0.05 || days > mayBeOver)
      const scene = fc.record({
        ages: fc.array(age, { minLength: 1, maxLength: 8 }),
        dies: fc.integer({ min: 1, max: 12 }),
      })
      await fc.assert(
        fc.asyncProperty(scene, async ({ ages, dies }) => {
          const rows = []
          for (const over of ages.toSorted((one, other) => other - one))
            rows.push({ over, isThere: await writers[name]!(limit + over) })
          // a run of the class looks at each attempt once, oldest first
          await sql.updateTable('retention_runs').set({ done_up_to: '' }).execute()
          await run(name, { on: dyingBefore(sql, dies).sql }).catch(() => undefined)
          await run(name)
          for (const { over, isThere } of rows) expect([over, await isThere()]).toEqual([over, over < 0])
        }),
        { numRuns: 25 },
      )
    },
    60_000,
  )

  it('keeps a lead that is held, is open, or whose webhook is being sent', async () => {
    const [held, sending, open, old] = [
      await endedLead(800),
      await endedLead(800),
      await lead(),
      await endedLead(762),
    ]
    await holdLead(sql, held, { reason: 'litigation', reference: null })
    await raw`update deliveries set lease = 'att_1', leased_until = now() + interval '20 s' where lead_id = ${sending}`.execute(
      sql,
    )
    await raw`update leads set created_at = now() - interval '9 years' where id = ${open}`.execute(sql)
    expect(await run('leads')).toBe(1)
    const erased = await sql.selectFrom('leads').select('id').where('erased_at', 'is not', null).execute()
    expect(erased).toEqual([{ id: old }])
    const log = readFileSync(settings.ERASURE_LOG, 'utf8').split('\n').filter(Boolean)
    expect(JSON.parse(log.at(-1) ?? '')).toMatchObject({ lead_id: old })
    const audited = (await auditOf({ sql })).find(({ lead_id: id }) => id === old)
    expect(audited).toMatchObject({
      action: 'lead.erase',
      detail: { reason: 'retention', retention_days: 730 },
    })
  })

  it('keeps the latest email of each kind, by which a pause is known to be told', async () => {
    const notices = ['paused', 'recovered'].flatMap((kind) =>
      [300, 200].map((age) => ({
        partner_id: partnerId,
        kind,
        owed_at: daysAgo(age),
        sent_at: daysAgo(age),
      })),
    )
    await sql.insertInto('notices').values(notices).execute()
    expect(await run('notices')).toBe(2)
    const left = await sql.selectFrom('notices').select(['kind', 'owed_at']).orderBy('kind').execute()
    expect(left).toEqual([notices[1], notices[3]].map((row) => ({ kind: row?.kind, owed_at: row?.owed_at })))
  })

  it('keeps the secrets of a candidate, and of the previous URL until its days are over', async () => {
    const endpoint_id = await endpointId()
    const old = { endpoint_id, ciphertext: 'sealed', expires_at: daysAgo(600) }
    const secrets = await sql.insertInto('endpoint_secrets').values([old, old]).returning('id').execute()
    const [candidate = 0, previous_secret = 0] = secrets.map(({ id }) => id)
    const change = sql.updateTable('endpoints').where('id', '=', endpoint_id)
    await change.set({ candidate, previous_secret, previous_until: daysAgo(-1) }).execute()
    expect(await run('secrets')).toBe(0)
    await change.set({ previous_until: daysAgo(1) }).execute()
    expect(await run('secrets')).toBe(1)
    const left = await sql.selectFrom('endpoint_secrets').select('id').execute()
    expect(left).toEqual([{ id: candidate }])
  })

  it('removes nothing of a class that is off, and never anything of the audit', async () => {
    const isThere = await writers.leads!(9000)
    const before = await auditOf({ sql })
    expect(await run('leads', { config: { ...settings, RETENTION_LEADS_DAYS: null } })).toBeUndefined()
    expect(await isThere()).toBe(true)
    for (const name of classes) await run(name)
    const after = await auditOf({ sql })
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after.slice(before.length).map(({ action }) => action)).toEqual(['lead.erase'])
  })

  it('removes more than a batch holds', async () => {
    await lead()
    await raw`
      insert into idempotency_keys (partner_id, key, request_hash, response, lead_id, created_at)
      select ${partnerId}, n, '', '', (select min(id) from leads), now() - interval '25 hours'
      from generate_series(1, 1200) as n`.execute(sql)
    expect(await run('idempotency_keys')).toBe(1200)
  })

  it('says before what a run removes, and runs when staff say so', async () => {
    const context = await contextOf(withoutTemporal(url))
    for (const name of classes) for (const days of [900, 800, 0]) await writers[name]!(days)
    const before = await retentionDryRun(sql, retained, settings)
    expect(before.map(({ class: name, rows }) => [name, rows])).toEqual(classes.map((name) => [name, 2]))
    expect((await showRetention(context, retained)).text).toMatch(
      /^class .*\nleads +730 +2 .*\nattempts +30 +2 /,
    )
    const { json } = await runNow(context, [retainedAs('leads')])
    expect(json).toEqual({ removed: { leads: 2 } })
    expect((await runNow(context, retained)).json).toEqual({
      removed: Object.fromEntries(classes.map((name) => [name, name === 'leads' ? 0 : 2])),
    })
    const after = await retentionDryRun(sql, retained, settings)
    expect(after.map(({ rows }) => rows)).toEqual(classes.map(() => 0))
    expect((await auditOf(context)).map(({ actor, action }) => [actor, action])).toContainEqual([
      'tester',
      'retention.run',
    ])
  })

  it('takes no default of staff in production: the workers may keep it for longer', async () => {
    const staff = await contextOf({ ...withoutTemporal(url), RETENTION_LEADS_DAYS: 'off' })
    const context = { ...staff, config: { ...staff.config, ENVIRONMENT: 'production' as const } }
    const others = ['ATTEMPTS', 'NOTICES', 'ENDPOINTS'].map((name) => `RETENTION_${name}_DAYS`)
    const lacking = `Set ${others.join(', ')} as the workers have them`
    await expect(runNow(context, [retainedAs('leads')])).rejects.toThrow(lacking)
    await expect(showRetention(context, retained)).rejects.toThrow(lacking)
  })

  it('goes on with the other classes where one fails, and is tried again', async () => {
    for (const name of classes) await writers[name]!(900)
    const ended = jest.fn()
    const log = { warn: jest.fn() }
    const removals = removalsOf({ sql, config: settings }, retained)
    const observe = { removed: () => {}, scheduleEnded: ended }
    const removeOld = removeOldActivity({ removals, observe, log })
    const runOnce = () => new MockActivityEnvironment().run(removeOld)
    await raw`revoke delete on notices from referrals_service`.execute(ownerSql)
    await expect(runOnce()).rejects.toThrow('permission denied')
    await raw`grant delete on notices to referrals_service`.execute(ownerSql)
    expect(log.warn.mock.calls).toMatchObject([[{ class: 'notices' }, expect.anything()]])
    expect(ended).not.toHaveBeenCalled()
    const others = Object.fromEntries(classes.map((name) => [name, name === 'notices' ? 1 : 0]))
    expect(await runOnce()).toEqual(others)
    expect(ended).toHaveBeenCalledWith('retention')
  })

  it('reads a few pages for a batch, however many rows it keeps', async () => {
    await lead()
    await raw`
      insert into leads (partner_id, personal, status, next_position, next_sequence,
        last_event_at, created_at, updated_at, closed_at, close_reason)
      select ${partnerId}, 'sealed', 'score_update', 2, 2, now(), now(), now(),
        now() - n * interval '1 minute', 'withdrew'
      from generate_series(1, 30000) as n`.execute(sql)
    await raw`analyze leads`.execute(ownerSql)
    const { rows } = await raw<{ 'QUERY PLAN': string }>`
      explain select id from leads where closed_at is not null and erased_at is null and held_at is null
        and closed_at < now() - 730 * interval '1 day' order by closed_at, id limit 100`.execute(sql)
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('leads_ended_index')
  })
})
