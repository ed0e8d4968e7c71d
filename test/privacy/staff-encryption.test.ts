import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { requireDeployment } from '../../src/database/deployment.ts'
import { keyId, keysInUse, lackingKeys, sealing } from '../../src/seal.ts'
import { rotate } from '../../src/endpoints/staff.ts'
import { switchAsStaff } from '../../src/endpoints/switch-endpoint.ts'
import { signingSecrets } from '../../src/endpoints/secrets.ts'
import { insertLead, leadIds } from '../../src/leads/new-lead.ts'
import { findLead } from '../../src/leads/get-lead.ts'
import { updateLead } from '../../src/leads/update-partner-info.ts'
import type { Sql } from '../../src/database/sql.ts'
import { rewrite, showKeysInUse } from '../../src/privacy/encryption.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import { find } from '../../src/leads/staff-find.ts'
import { LEAD } from '../support/leads.ts'
import { openDatabase } from '../support/open-database.ts'
import { dyingBefore } from '../support/failing-sql.ts'
import { holdRow } from '../support/row-lock.ts'
import { until } from '../support/until.ts'
import { auditOf, contextOf, withoutTemporal } from '../staff/context.ts'

const [older, newer, lost] = [randomBytes(32), randomBytes(32), randomBytes(32)]
const [OLD, NEW, LOST] = [keyId(older), keyId(newer), keyId(lost)]
const textOf = (...keys: Buffer[]) => keys.map((key) => key.toString('base64')).join(',')

describe('staff encryption', () => {
  let sql: Sql
  let url: string
  let partnerId: number
  let context: StaffContext
  const environment = (...keys: Buffer[]) => ({ ...withoutTemporal(url), ENCRYPTION_KEY: textOf(...keys) })

  beforeEach(async () => {
    ;({ sql, url, partnerId } = await openDatabase())
    await requireDeployment(sql, 'sandbox')
    await lackingKeys(sql, [older])
    const target = { url: 'https://lender.example', secret: sealing('whsec_old', [older]) }
    await switchAsStaff(sql, partnerId, target)
    context = await contextOf(environment(newer, older))
  })

  /** As every process of a deployment does when it is restarted with another key. */
  const restartWith = (...keys: Buffer[]) => lackingKeys(sql, keys)

  async function newLead(key = older): Promise<number> {
    const creation = { sql, encryptionKeys: [key] }
    const reserved = await leadIds(sql)()
    const named = { call: 'create-lead', key: randomBytes(4).toString('hex') } as const
    const kept = { partnerId, requestHash: 'hash', ...named, response: 'null' }
    await insertLead(creation, reserved, partnerId, { ...LEAD, notes: 'notes' }, () => '{}', { kept })
    await updateLead(creation, partnerId, reserved.leadId, {
      fields: {},
      metadata: { branch: 'A', 'a.b c': 'B' },
    })
    return reserved.leadId
  }
  const read = (leadId: number, ...keys: Buffer[]) =>
    findLead({ sql, encryptionKeys: keys }, partnerId, leadId)
  const used = async () =>
    (await showKeysInUse(context)).json.values.map(({ key, column, values }) => `${column} ${key} ${values}`)

  it('shows how many values are under which key', async () => {
    await newLead()
    await newLead(newer)
    expect(await used()).toEqual([
      ...byKey('leads.personal', 1),
      `endpoint_secrets.ciphertext ${OLD} 1`,
      ...byKey('idempotency_keys.request_hash', 1),
    ])
    expect((await showKeysInUse(context)).text).toMatch(new RegExp(`^${OLD} +leads.personal +1$`, 'm'))
  })

  const byKey = (column: string, values: number) =>
    [OLD, NEW].toSorted().map((key) => `${column} ${key} ${values}`)

  it('moves everything to the newest key, says which key may go, and audits it', async () => {
    const leadId = await newLead()
    await restartWith(newer, older)
    const { text, failed, json } = await rewrite(context)
    expect(json).toMatchObject({ key: NEW, moved: 3, left: [] })
    expect(text).toContain(`Moved 3 values to the key ${NEW}.`)
    expect(text).toContain('Nothing is under another key.')
    expect(failed).toBe(false)
    expect(await read(leadId, newer)).toMatchObject({
      first_name: LEAD.first_name,
      phone: LEAD.phone,
      notes: 'notes',
      metadata: { branch: 'A', 'a.b c': 'B' },
    })
    expect(await signingSecrets(sql, partnerId, [newer])).toEqual(['whsec_old'])
    expect(await keysInUse(sql)).toEqual([NEW])
    expect(await lackingKeys(sql, [newer])).toBeUndefined()
    expect(await auditOf(context)).toEqual([
      expect.objectContaining({ action: 'encryption.rewrite', outcome: 'begun' }),
      expect.objectContaining({
        outcome: 'done',
        detail: expect.objectContaining({ moved: 3, retired: [OLD] }),
      }),
    ])
    expect((await rewrite(context)).json).toMatchObject({ moved: 0, left: [] })
  })

  it('refuses a key that only staff have so far, as every command that seals does', async () => {
    await newLead()
    await find(context, LEAD.email)
    const notYet = `No API or worker has ${NEW} as its newest key yet`
    await expect(rewrite(context)).rejects.toThrow(notYet)
    await expect(rotate(context, partnerId, { overlap: 0 })).rejects.toThrow(notYet)
    expect(await keysInUse(sql)).toEqual([OLD])
    expect(await lackingKeys(sql, [older])).toBeUndefined()
  })

  it('keeps what a partner changes during a rewrite', async () => {
    const leadId = await newLead()
    await restartWith(newer, older)
    const row = await holdRow(sql, 'leads', `id = ${leadId}`)
    const creation = { sql, encryptionKeys: [newer, older] }
    const change = (branch: string | null, office: string) =>
      updateLead(creation, partnerId, leadId, { fields: {}, metadata: { branch, office } })
    const changing = change('changed', 'x')
    await row.reached()
    const rewriting = rewrite(context)
    // its statement waits behind the change, and finds other values than it has read
    await until(async () => (await waiting()) === 2)
    await row.release()
    await changing
    expect((await rewriting).json.left).toEqual([])
    expect((await read(leadId, newer))?.metadata).toEqual({ 'a.b c': 'B', branch: 'changed', office: 'x' })
  })
  const waiting = async () => {
    const { rows } = await raw`select from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock'`.execute(sql)
    return rows.length
  }

  it('leaves what cannot be opened as it is, and keeps every key', async () => {
    const [damaged, unknown] = [await newLead(), await newLead(lost)]
    await raw`update leads set personal = left(personal, -6) where id = ${damaged}`.execute(sql)
    await restartWith(newer, older)
    const { json, text, failed } = await rewrite(context)
    expect(json.left).toContainEqual({ key: OLD, column: 'leads.personal', values: 1 })
    expect(json.left).toContainEqual({ key: LOST, column: 'leads.personal', values: 1 })
    expect(text).toContain('Keep every older key')
    expect(failed).toBe(true)
    expect(await keysInUse(sql)).toEqual([OLD, NEW].toSorted())
    expect((await read(unknown, lost))?.first_name).toBe(LEAD.first_name)
  })

  it('goes on where it was interrupted', async () => {
    const leads: number[] = []
    for (let count = 0; count < 5; count += 1) leads.push(await newLead())
    await restartWith(newer, older)
    await expect(rewrite({ ...context, sql: dyingBefore(sql, 7).sql })).rejects.toThrow('the process died')
    expect(await keysInUse(sql)).toEqual([OLD, NEW].toSorted())
    const { json } = await rewrite(context)
    expect(json.left).toEqual([])
    expect(json.moved).toBeLessThan(5 * 2 + 1)
    for (const id of leads) expect((await read(id, newer))?.first_name).toBe(LEAD.first_name)
  })
})
