import { readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import * as fc from 'fast-check'
import { sql as raw } from 'kysely'
import { newUuid } from '../../src/values.ts'
import { removeOldActivity } from '../../activities/remove-old.ts'
import { requireDeployment } from '../../src/database/deployment.ts'
import { connect } from '../../src/database/orm.ts'
import { type Sql, sqlOf } from '../../src/database/sql.ts'
import { addPartner } from '../../src/partners/partner.ts'
import { removeOld, type RetainedName, retained, retainedNames } from '../../src/privacy/retention.ts'
import { retention } from '../../src/privacy/staff.ts'
import { auditOf, contextOf, withoutTemporal } from '../staff/context.ts'
import { atEnd } from '../support/at-end.ts'
import { freshDatabase } from '../support/database.ts'
import { dyingBefore } from '../support/failing-sql.ts'
import { temporaryFolder } from '../support/folder.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'

const DAY_MS = 86_400_000

const limits = { RETENTION_LEADS_DAYS: 730, RETENTION_ATTEMPTS_DAYS: 30 }

describe('retention', () => {
  let sql: Sql
  let ownerSql: Sql
  let url: string
  let partnerId: number
  let config: Parameters<typeof removeOld>[0]['config'] & { ERASURE_LOG: string }

  beforeAll(async () => {
    const database = await freshDatabase()
    url = database.serviceUrl
    const owner = await connect(database.url)
    const service = await connect(url)
    atEnd(async () => {
      await Promise.all([owner.close(), service.close()])
      await database.drop()
    })
    ;[sql, ownerSql] = [sqlOf(service), sqlOf(owner)]
    await requireDeployment(sql, 'sandbox')
    config = { ...limits, ERASURE_LOG: path.join(temporaryFolder(), 'erasures.jsonl') }
  })

  beforeEach(async () => {
    await raw`truncate leads, attempts, idempotency_keys, notices,
      endpoint_secrets restart identity cascade`.execute(ownerSql)
    ;({ id: partnerId } = await addPartner(ownerSql, { name: 'First Lender' }))
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

  async function insertRow(table: string, row: Record<string, unknown>) {
    const columns = raw.join(Object.keys(row).map((name) => raw.ref(name)))
    const { rows } = await raw<{ text: string }>`insert into ${raw.table(table)} as t (${columns})
      values (${raw.join(Object.values(row))}) returning t::text as text`.execute(sql)
    const same = raw`select from ${raw.table(table)} as t where t::text = ${rows[0]?.text}`
    return async () => (await same.execute(sql)).rows.length > 0
  }

  /** Writes one row of each class that is so old, and answers whether each is there still. */
  const writers: Record<RetainedName, (days: number) => Promise<() => Promise<boolean>>> = {
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
      const time = at.getTime().toString(16).padStart(12, '0')
      const id = `att_${time.slice(0, 8)}-${time.slice(8)}${newUuid().slice(13)}`
      await raw`
        insert into attempts (id, event_id, partner_id, number, trigger, round, url, started_at, finished_at,
          response_headers, response_body)
        select ${id}, event_id, partner_id, 1, 'scheduled', 1, 'https://lender.example', ${at}, ${at}, '{}', 'no'
        from deliveries where lead_id = ${leadId}`.execute(sql)
      return async () => {
        const row = sql.selectFrom('attempts').selectAll().where('id', '=', id)
        const { response_headers: headers, response_body: body } = await row.executeTakeFirstOrThrow()
        expect(headers === null).toBe(body === null)
        return body !== null
      }
    },
    idempotency_keys: (days) =>
      insertRow('idempotency_keys', {
        partner_id: partnerId,
        key: newUuid(),
        request_hash: '',
        response: '{}',
        created_at: daysAgo(days),
      }),
    notices: (days) =>
      insertRow('notices', { partner_id: partnerId, kind: 'paused', owed_at: daysAgo(days) }),
    secrets: (days) =>
      insertRow('endpoint_secrets', {
        partner_id: partnerId,
        ciphertext: 'sealed',
        expires_at: daysAgo(days),
      }),
  }

  const run = (name: RetainedName, on = sql) => removeOld({ sql: on, config }, name)
  const limitOf = (name: RetainedName) => {
    const { days } = retained[name]
    return typeof days === 'number' ? days : limits[days]
  }

  it.each(retainedNames)(
    'removes of %s what is older than its limit and nothing younger, though it is interrupted',
    async (name) => {
      const limit = limitOf(name)
      // attempts may be an hour over it, because their ids come from workers' clocks
      const age = fc.double({ min: -limit, max: limit, noNaN: true }).filter((days) => Math.abs(days) > 0.05)
      const scene = fc.record({
        ages: fc.array(age, { minLength: 1, maxLength: 8 }),
        dies: fc.integer({ min: 1, max: 12 }),
      })
      await fc.assert(
        fc.asyncProperty(scene, async ({ ages, dies }) => {
          const rows = []
          for (const over of ages) rows.push({ over, isThere: await writers[name](limit + over) })
          await run(name, dyingBefore(sql, dies).sql).catch(() => undefined)
          await run(name)
          for (const { over, isThere } of rows) expect([over, await isThere()]).toEqual([over, over < 0])
        }),
        { numRuns: 4 },
      )
    },
    60_000,
  )

  it('keeps a lead that is held or open', async () => {
    const [held, open, old] = [await endedLead(800), await lead(), await endedLead(762)]
    await raw`update leads set held_at = now(), hold_reason = 'litigation' where id = ${held}`.execute(sql)
    await raw`update leads set created_at = now() - interval '9 years' where id = ${open}`.execute(sql)
    expect(await run('leads')).toBe(1)
    const erased = await sql.selectFrom('leads').select('id').where('erased_at', 'is not', null).execute()
    expect(erased).toEqual([{ id: old }])
    const log = readFileSync(config.ERASURE_LOG, 'utf8').split('\n').filter(Boolean)
    expect(JSON.parse(log.at(-1) ?? '')).toMatchObject({ lead_id: old })
    const audited = (await auditOf({ sql })).find(({ lead_id: id }) => id === old)
    expect(audited).toMatchObject({
      action: 'lead.erase',
      detail: { reason: 'retention', retention_days: 730 },
    })
  })

  it('keeps the secrets of a candidate, and of the previous URL until its days are over', async () => {
    const old = { partner_id: partnerId, ciphertext: 'sealed', expires_at: daysAgo(600) }
    const secrets = await sql.insertInto('endpoint_secrets').values([old, old]).returning('id').execute()
    const [candidate = 0, previous_secret = 0] = secrets.map(({ id }) => id)
    const change = sql.updateTable('endpoints').where('partner_id', '=', partnerId)
    await change.set({ candidate, previous_secret, previous_until: daysAgo(-1) }).execute()
    expect(await run('secrets')).toBe(0)
    await change.set({ previous_until: daysAgo(1) }).execute()
    expect(await run('secrets')).toBe(1)
    const left = await sql.selectFrom('endpoint_secrets').select('id').execute()
    expect(left).toEqual([{ id: candidate }])
  })

  it('removes nothing of a class that is off, and never anything of the audit', async () => {
    const isThere = await writers.leads(9000)
    const before = await auditOf({ sql })
    expect(
      await removeOld({ sql, config: { ...config, RETENTION_LEADS_DAYS: null } }, 'leads'),
    ).toBeUndefined()
    expect(await isThere()).toBe(true)
    for (const name of retainedNames) await run(name)
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

  it('counts in a dry run what a run removes', async () => {
    const context = await contextOf({ ...withoutTemporal(url), RETENTION_ATTEMPTS_DAYS: 'off' })
    for (const name of retainedNames) for (const days of [900, 800, 0]) await writers[name](days)
    const { json, text } = await retention(context, { dryRun: true })
    const counts = retainedNames.map((name) => [name, name === 'attempts' ? 0 : 2])
    expect(json.classes?.map(({ class: name, rows }) => [name, rows])).toEqual(counts)
    expect(text).toMatch(/^class .*\nleads +730 +2\nattempts +off +0\nidempotency_keys +1 +2\n/)
    for (const name of retainedNames) expect(await run(name)).toBe(2)
  })

  it('goes on with the other classes where one fails, and is tried again', async () => {
    for (const name of retainedNames) await writers[name](900)
    const ended = jest.fn()
    const log = { warn: jest.fn() }
    const observe = { scheduleEnded: ended }
    const activity = removeOldActivity({ sql, config, observe, log })
    const runOnce = () => new MockActivityEnvironment().run(activity)
    await raw`revoke delete on notices from referrals_service`.execute(ownerSql)
    await expect(runOnce()).rejects.toThrow('permission denied')
    await raw`grant delete on notices to referrals_service`.execute(ownerSql)
    expect(log.warn.mock.calls).toMatchObject([[{ class: 'notices' }, expect.anything()]])
    expect(ended).not.toHaveBeenCalled()
    const others = Object.fromEntries(retainedNames.map((name) => [name, name === 'notices' ? 1 : 0]))
    expect(await runOnce()).toEqual(others)
    expect(ended).toHaveBeenCalledWith('retention')
  })

  it('stops before it removes anything while a clock is wrong', async () => {
    const isThere = await writers.leads(800)
    const wrong = Date.now() + 400_000
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => wrong)
    await expect(run('leads')).rejects.toThrow('minutes apart')
    clock.mockRestore()
    expect(await isThere()).toBe(true)
  })
})
