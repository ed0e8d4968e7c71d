import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { lockEndpoint } from '../../src/endpoints/endpoint.ts'
import { rotateSecret } from '../../src/endpoints/rotate-endpoint-secret.ts'
import { setEndpoint, switchTo } from '../../src/endpoints/switch-endpoint.ts'
import { generateSecret } from '../../src/webhooks/signature.ts'
import { sealing } from '../../src/seal.ts'
import { testKeys } from '../support/test-keys.ts'
import { whileBusy } from '../support/while-busy.ts'
import { type Answer, type Api, type ApiPartner, prepareApi } from '../support/api.ts'

const URL_NEXT = 'https://lender.example/next'

/** Each with its body, and another one. */
const calls: [string, object, object][] = [
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
    await setEndpoint(api.sql, partner.id, { url: 'https://lender.example/now', secret })
    lead = await partner.createLead()
  })

  const send = (call: string, body: object, key = 'K-1', who = partner) =>
    who.post(call, call.endsWith('-lead') ? { lead_id: lead, ...body } : body, { 'idempotency-key': key })
  const isReplay = ({ headers }: Answer) => headers['idempotent-replayed'] === 'true'
  const auditOf = () =>
    api.sql.selectFrom('audit').select('action').where('partner_id', '=', partner.id).execute()
  const endpoint = async () => lockEndpoint(api.sql, partner.id)
  const keys = () =>
    api.sql.selectFrom('idempotency_keys').selectAll().where('partner_id', '=', partner.id).execute()

  it.each(calls)('gives a repeat of %s the first response, and does nothing again', async (call, body) => {
    const first = await send(call, body)
    expect([first.status, isReplay(first)]).toEqual([200, false])
    const before = [await auditOf(), await endpoint()]
    const again = await send(call, body)
    expect([again.status, isReplay(again), again.text]).toEqual([200, true, first.text])
    expect([await auditOf(), await endpoint()]).toEqual(before)
    expect(api.requested.length).toBe(new Set(api.requested).size)
  })

  it.each(calls)('lets twins of %s wait, and gives them one answer', async (call, body) => {
    const before = await auditOf()
    // one that waits for its twin for too long is told to come back
    const ask = () => whileBusy(() => send(call, body))
    const answers = await Promise.all(Array.from({ length: 8 }, ask))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers.filter(isReplay)).toHaveLength(7)
    expect(await auditOf()).toHaveLength(before.length + 1)
  })

  it('counts for one partner and one call', async () => {
    const other = await api.addPartner()
    for (const [call, body] of calls) expect(isReplay(await send(call, body))).toBe(false)
    const theirs = await other.post('set-endpoint', { url: URL_NEXT }, { 'idempotency-key': 'K-1' })
    expect([theirs.status, isReplay(theirs)]).toEqual([200, false])
    expect(isReplay(await partner.post('create-lead', LEAD, { 'idempotency-key': 'K-1' }))).toBe(false)
    expect(isReplay(await partner.post('create-lead', LEAD, { 'idempotency-key': 'K-1' }))).toBe(true)
  })

  it('is not remembered for a refusal', async () => {
    expect((await send('set-endpoint', { url: 'lender.example' })).status).toBe(400)
    await api.sql
      .updateTable('leads')
      .set({ hold_reason: 'litigation', held_at: new Date() })
      .where('id', '=', lead)
      .execute()
    expect((await send('erase-lead', {})).status).toBe(409)
    expect(await keys()).toEqual([])
    await api.sql
      .updateTable('leads')
      .set({ hold_reason: null, held_at: null })
      .where('id', '=', lead)
      .execute()
    expect((await send('erase-lead', {})).status).toBe(200)
  })

  it('stores no secret, and neither sealed', async () => {
    const answers = [await send('set-endpoint', { url: URL_NEXT }), await send('rotate-endpoint-secret', {})]
    const stored = await keys()
    for (const { body } of answers) expect(JSON.stringify(stored)).not.toContain(body.data.secret)
    expect(JSON.stringify(stored)).not.toMatch(/whsec_|v1\./)
    const places = stored.map(({ secret_at: place }) => String(place).replace(/\d+/, ''))
    expect(new Set(places)).toEqual(new Set(['endpoint_secrets::ciphertext']))
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
          message: expect.stringContaining('Send the request with a new Idempotency-Key to get another one.'),
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
})

const LEAD = { first_name: 'Ada', last_name: 'Miller', email: 'ada@example.com', phone: '+1 555-0100' }
