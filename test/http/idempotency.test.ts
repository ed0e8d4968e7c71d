import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { requestHashPlace } from '../../src/http/idempotency.ts'
import { open } from '../../src/seal.ts'
import { testKeys } from '../support/test-keys.ts'
import { whileBusy } from '../support/while-busy.ts'
import { type Api, type ApiPartner, borrower, prepareApi } from '../support/api.ts'

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

describe('Idempotency-Key on create-lead', () => {
  let api: Api
  let partner: ApiPartner
  beforeAll(async () => {
    api = await prepareApi()
    partner = await api.addPartner()
  })
  const create = (key: string, fields: object = {}, sender = partner) =>
    sender.post('create-lead', { ...borrower, ...fields }, { 'idempotency-key': key })
  const countLeads = async () => (await api.sql.selectFrom('leads').select('id').execute()).length

  it('gives the same body the stored answer and no second lead', async () => {
    const first = await create('same', { partner_lead_id: 'LOAN-1' })
    const before = await countLeads()
    const again = await create('same', { partner_lead_id: 'LOAN-1', unknown: 'ignored', notes: null })
    expect([again.status, again.text]).toEqual([200, first.text])
    const isReplay = [first, again].map(({ headers }) => headers['idempotent-replayed'])
    expect(isReplay).toEqual([undefined, 'true'])
    expect(await countLeads()).toBe(before)
    expect(api.started.filter(({ leadId }) => leadId === first.body.lead_id)).toHaveLength(1)
  })

  it('repeats which lead the first request was a duplicate of, whatever is open by then', async () => {
    const fields = { partner_lead_id: 'LOAN-TWICE' }
    const earlier = await create('earlier', fields)
    const first = await create('duplicate', { ...fields, notes: 'the second', odd: 'ignored' })
    expect(first.body).toMatchObject({ duplicate_of: earlier.body.lead_id, ignored_fields: ['odd'] })
    const again = await create('duplicate', { ...fields, notes: 'the second' })
    expect([again.status, again.text]).toEqual([200, first.text])
  })

  it('compares only the fields that have a value, so that a new optional field causes no conflict', async () => {
    await create('absent', { notes: null, fico_range: '' })
    const { request_hash: sealed, lead_id: leadId } = await api.sql
      .selectFrom('idempotency_keys')
      .select(['request_hash', 'lead_id'])
      .where('key', '=', 'absent')
      .executeTakeFirstOrThrow()
    expect(sealed).not.toContain(hashOf(JSON.stringify(borrower)))
    expect(open(sealed, requestHashPlace(Number(leadId)), testKeys)).toBe(hashOf(JSON.stringify(borrower)))
  })

  it('refuses another body with 422 IDEMPOTENCY_CONFLICT, which names the lead that is there', async () => {
    const { lead_id: id } = (await create('other')).body
    const { status, body } = await create('other', { first_name: 'Grace' })
    expect([status, body.error.code, body.error.lead_id]).toEqual([422, 'IDEMPOTENCY_CONFLICT', id])
    expect(body.error.message).toContain(`created lead ${id}. To change that lead, use update-partner-info.`)
  })

  it('lets a concurrent twin wait, and gives it the same answer', async () => {
    const before = await countLeads()
    // one that waits for the first for too long is told to come back
    const answers = await Promise.all(Array.from({ length: 12 }, () => whileBusy(() => create('twins'))))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200))
    expect(await countLeads()).toBe(before + 1)
  })

  it('keeps each partner’s keys apart', async () => {
    const other = await api.addPartner()
    const mine = await create('shared')
    const theirs = await create('shared', { first_name: 'Grace' }, other)
    expect(theirs.status).toBe(200)
    expect(theirs.body.lead_id).not.toBe(mine.body.lead_id)
  })

  it('does not store a refusal', async () => {
    expect((await create('refused', { email: 'x' })).status).toBe(400)
    expect((await create('refused')).status).toBe(200)
  })

  it.each(['leads', 'idempotency_keys'])(
    'is stored with its lead or not at all, if %s fails',
    async (table) => {
      const before = await countLeads()
      const constraint = raw`alter table ${raw.table(table)} add constraint nothing_new check (false) not valid`
      await constraint.execute(api.sql)
      expect((await create(`failed-${table}`)).status).toBe(500)
      await raw`alter table ${raw.table(table)} drop constraint nothing_new`.execute(api.sql)
      expect(await countLeads()).toBe(before)
      const { status, headers } = await create(`failed-${table}`)
      expect([status, headers['idempotent-replayed']]).toEqual([200, undefined])
      expect(await countLeads()).toBe(before + 1)
    },
  )

  it('forgets a key after 24 hours', async () => {
    const first = await create('old')
    const age = (hours: number) =>
      api.sql
        .updateTable('idempotency_keys')
        .set({ created_at: new Date(Date.now() - hours * 3_600_000) })
        .where('key', '=', 'old')
        .execute()
    await age(23.9)
    expect((await create('old')).body.lead_id).toBe(first.body.lead_id)
    await age(24.1)
    const second = await create('old', { first_name: 'Grace' })
    expect(second.status).toBe(200)
    expect(second.body.lead_id).not.toBe(first.body.lead_id)
    expect((await create('old', { first_name: 'Grace' })).text).toBe(second.text)
  })

  it.each(['!', '~'.repeat(255)])('takes 1 to 255 visible ASCII characters', async (key) => {
    expect((await create(key)).status).toBe(200)
  })

  it.each(['', ' ', 'a b', 'x'.repeat(256), 'é'])('refuses the key %j', async (key) => {
    const { status, body } = await create(key)
    expect([status, body.error.code]).toEqual([400, 'INVALID_PAYLOAD'])
    expect(body.error.message).toContain('Idempotency-Key')
  })
})
