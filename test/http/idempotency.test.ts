import { createHash } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { lockEndpoint } from '../../src/endpoints/endpoint.ts'
import { rotateSecret } from '../../src/endpoints/rotate-endpoint-secret.ts'
import { switchAsStaff, switchTo } from '../../src/endpoints/switch-endpoint.ts'
import { requestHashPlace } from '../../src/http/idempotency.ts'
import { open, sealing } from '../../src/seal.ts'
import { generateSecret } from '../../src/webhooks/signature.ts'
import { type Answer, type Api, type ApiPartner, borrower, prepareApi } from '../support/api.ts'
import { testKeys } from '../support/test-keys.ts'
import { whileBusy } from '../support/while-busy.ts'

const URL_NEXT = 'https://lender.example/next'

/** Calls, each with a body, and what makes it another body. */
const calls: [string, object, object][] = [
  ['create-lead', borrower, { first_name: 'Grace' }],
  ['set-endpoint', { url: URL_NEXT }, { url: 'https://lender.example/other' }],
  ['rotate-endpoint-secret', {}, { overlap_hours: 0 }],
  ['erase-lead', {}, { reason: 'borrower_request' }],
]

describe('an Idempotency-Key', () => {
  let api: Api
  let partner: ApiPartner
  let lead: number
  beforeAll(async () => {
    api = await prepareApi({ environment: 'production' })
  })
  beforeEach(async () => {
    partner = await api.addPartner()
    const secret = sealing(generateSecret(), testKeys)
    await switchAsStaff(api.sql, partner.id, { url: 'https://lender.example/now', secret })
    lead = await partner.createLead()
  })

  const send = (call: string, body: object, key = 'K-1') =>
    partner.post(call, call === 'erase-lead' ? { lead_id: lead, ...body } : body, { 'idempotency-key': key })
  const create = (fields: object = {}, key = 'K-1') => send('create-lead', { ...borrower, ...fields }, key)
  const isReplay = ({ headers }: Answer) => headers['idempotent-replayed'] === 'true'
  const keys = () =>
    api.sql.selectFrom('idempotency_keys').selectAll().where('partner_id', '=', partner.id).execute()
  /** Each call makes a lead, or a row in the audit. */
  const countDone = async () => {
    const { rows } = await raw`select id from leads where partner_id = ${partner.id}
      union all select id from audit where partner_id = ${partner.id}`.execute(api.sql)
    return rows.length
  }
  const endpoint = async () => lockEndpoint(api.sql, partner.id)

  it.each(calls)('gives a repeat of %s the first response, and does nothing again', async (call, body) => {
    const first = await send(call, body)
    expect([first.status, isReplay(first)]).toEqual([200, false])
    const before = [await countDone(), await endpoint()]
    const again = await send(call, body)
    expect([again.status, isReplay(again), again.text]).toEqual([200, true, first.text])
    expect([await countDone(), await endpoint()]).toEqual(before)
    const started = api.started.filter(({ leadId }) => leadId === first.body.lead_id)
    expect(started).toHaveLength(call === 'create-lead' ? 1 : 0)
  })

  it.each(calls)('lets concurrent repeats of %s wait, and gives them one answer', async (call, body) => {
    const before = await countDone()
    // a repeat that waits for too long gets a 503
    const ask = () => whileBusy(() => send(call, body))
    const answers = await Promise.all(Array.from({ length: 8 }, ask))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers.filter(isReplay)).toHaveLength(7)
    expect(await countDone()).toBe(before + 1)
  })

  it.each(calls)('refuses another body of %s with 422 IDEMPOTENCY_CONFLICT', async (call, body, other) => {
    const first = await send(call, body)
    const { status, body: answer } = await send(call, { ...body, ...other })
    expect([status, answer.error.code]).toEqual([422, 'IDEMPOTENCY_CONFLICT'])
    if (call !== 'create-lead') return
    const { lead_id: id } = first.body
    expect(answer.error.lead_id).toBe(id)
    expect(answer.error.message).toContain(
      `created lead ${id}. To change that lead, use update-partner-info.`,
    )
  })

  it('counts for one partner and one call', async () => {
    const other = await api.addPartner()
    for (const [call, body] of calls) {
      expect(isReplay(await send(call, body))).toBe(false)
      if (call === 'erase-lead') continue
      const theirs = await other.post(call, body, { 'idempotency-key': 'K-1' })
      expect([call, isReplay(theirs)]).toEqual([call, false])
    }
    expect(isReplay(await create())).toBe(true)
  })

  it('is not remembered for a refusal', async () => {
    expect((await create({ email: 'x' })).status).toBe(400)
    expect((await send('set-endpoint', { url: 'lender.example' })).status).toBe(400)
    const hold = (hold_reason: 'litigation' | null, held_at: Date | null) =>
      api.sql.updateTable('leads').set({ hold_reason, held_at }).where('id', '=', lead).execute()
    await hold('litigation', new Date())
    expect((await send('erase-lead', {})).status).toBe(409)
    expect(await keys()).toEqual([])
    await hold(null, null)
    expect((await send('erase-lead', {})).status).toBe(200)
    expect((await create()).status).toBe(200)
  })

  it('stores no secret, not even sealed', async () => {
    const answers = [await send('set-endpoint', { url: URL_NEXT }), await send('rotate-endpoint-secret', {})]
    const stored = await keys()
    for (const { body } of answers) expect(JSON.stringify(stored)).not.toContain(body.data.secret)
    expect(JSON.stringify(stored)).not.toMatch(/whsec_|v1\./)
    for (const { secret_at: place } of stored) expect(place).toMatch(/^endpoint_secrets:\d+:ciphertext$/)
  })

  it.each(['set-endpoint', 'rotate-endpoint-secret'])(
    'says what to do if the secret of %s is replaced',
    async (call) => {
      const body = call === 'set-endpoint' ? { url: URL_NEXT } : {}
      const first = await send(call, body)
      const second = await send(call, body, 'K-2')
      const again = await send(call, body)
      expect([again.status, again.body.error]).toEqual([
        409,
        {
          code: 'SECRET_REPLACED',
          message: expect.stringContaining('Send the request with a new Idempotency-Key'),
        },
      ])
      expect(again.text).not.toContain(first.body.data.secret)
      expect((await send(call, body, 'K-2')).text).toBe(second.text)
    },
  )

  it('gives the secret once its change has taken effect, until it is rotated', async () => {
    const first = await send('set-endpoint', { url: URL_NEXT })
    const before = await endpoint()
    await api.sql.transaction().execute(async (trx) => {
      await switchTo(trx, await endpoint(), { url: URL_NEXT, secretId: before.candidate! }, {})
    })
    expect((await send('set-endpoint', { url: URL_NEXT })).text).toBe(first.text)
    const secret = sealing(generateSecret(), testKeys)
    await api.sql.transaction().execute((trx) => rotateSecret(trx, before, secret, 3_600_000))
    expect((await send('set-endpoint', { url: URL_NEXT })).body.error.code).toBe('SECRET_REPLACED')
  })

  it('repeats which lead the first request was a duplicate of, whatever is open by then', async () => {
    const fields = { partner_lead_id: 'LOAN-TWICE' }
    const earlier = await create(fields)
    const first = await create({ ...fields, notes: 'the second', odd: 'ignored' }, 'K-2')
    expect(first.body).toMatchObject({ duplicate_of: earlier.body.lead_id, ignored_fields: ['odd'] })
    const again = await create({ ...fields, notes: 'the second' }, 'K-2')
    expect([again.status, again.text]).toEqual([200, first.text])
  })

  it('compares only the fields that have a value, so that a new optional field causes no conflict', async () => {
    await create({ notes: null, fico_range: '' })
    const [stored] = await keys()
    const hash = createHash('sha256').update(JSON.stringify(borrower)).digest('hex')
    expect(stored!.request_hash).not.toContain(hash)
    expect(open(stored!.request_hash, requestHashPlace(stored!.lead_id!), testKeys)).toBe(hash)
  })

  it.each(['leads', 'idempotency_keys'] as const)(
    'is stored with its lead or not at all, if %s fails',
    async (table) => {
      const constraint = raw`alter table ${raw.table(table)} add constraint nothing_new check (false) not valid`
      await constraint.execute(api.sql)
      const before = await countDone()
      expect((await create()).status).toBe(500)
      await raw`alter table ${raw.table(table)} drop constraint nothing_new`.execute(api.sql)
      expect(await countDone()).toBe(before)
      const again = await create()
      expect([again.status, isReplay(again)]).toEqual([200, false])
      expect(await countDone()).toBe(before + 1)
    },
  )

  it('is forgotten after 24 hours', async () => {
    const first = await create()
    const age = (hours: number) =>
      api.sql
        .updateTable('idempotency_keys')
        .set({ created_at: new Date(Date.now() - hours * 3_600_000) })
        .where('partner_id', '=', partner.id)
        .execute()
    await age(23.9)
    expect((await create()).text).toBe(first.text)
    await age(24.1)
    const second = await create({ first_name: 'Grace' })
    expect([second.status, isReplay(second)]).toEqual([200, false])
    expect((await create({ first_name: 'Grace' })).text).toBe(second.text)
  })

  it.each(['!', '~'.repeat(255)])('has 1 to 255 visible ASCII characters', async (key) => {
    expect((await create({}, key)).status).toBe(200)
  })

  it.each(['', ' ', 'a b', 'x'.repeat(256), 'é'])('%j is refused', async (key) => {
    const { status, body } = await create({}, key)
    expect([status, body.error.code]).toEqual([400, 'INVALID_PAYLOAD'])
    expect(body.error.message).toContain('Idempotency-Key')
  })
})
