import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type Api, type ApiPartner, prepareApi } from './api.ts'

describe('POST /update-partner-info', () => {
  let api: Api
  let partner: ApiPartner
  let leadId: number
  beforeAll(async () => {
    api = await prepareApi()
    partner = await api.addPartner()
  })
  beforeEach(async () => {
    leadId = await partner.createLead({ partner_lead_id: 'LOAN-1' })
  })

  const update = (fields: object) => partner.post('update-partner-info', { lead_id: leadId, ...fields })
  const stored = async () => {
    const row = await api.sql
      .selectFrom('leads')
      .selectAll()
      .where('id', '=', leadId)
      .executeTakeFirstOrThrow()
    return row.metadata
  }

  it('answers 200 with success and a message', async () => {
    const { status, body } = await update({ loan_product: 'FHA' })
    expect([status, body]).toEqual([200, { success: true, message: 'Lead updated.' }])
  })

  it('stores loan_product, property_state and any further fields, retrievable through get-lead', async () => {
    await update({ loan_product: 'VA', property_state: 'TX', branch: 'Austin', 'a.b-C_9': 'x', empty: '' })
    expect(await partner.readLead(leadId)).toMatchObject({
      loan_product: 'VA',
      property_state: 'TX',
      branch: 'Austin',
      'a.b-C_9': 'x',
      empty: '',
    })
  })

  it('merges: a field that is not sent stays, null removes one', async () => {
    await update({ loan_product: 'FHA', branch: 'Austin', desk: '4' })
    await update({ branch: null, desk: '5', never_there: null })
    expect(await stored()).toEqual({ loan_product: 'FHA', desk: '5' })
    await update({ loan_product: null, property_state: null })
    expect(await stored()).toEqual({ desk: '5' })
  })

  it('changes nothing when only lead_id is sent', async () => {
    const before = await partner.readLead(leadId)
    const { status, body } = await update({})
    expect([status, body.success]).toEqual([200, true])
    expect(await partner.readLead(leadId)).toEqual(before)
  })

  it('keeps two concurrent updates', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `f${index}`)
    await Promise.all(names.map((name) => update({ [name]: 'x' })))
    expect(Object.keys(await stored()).toSorted()).toEqual(names.toSorted())
  })

  it('stores property_state in upper case', async () => {
    await update({ property_state: 'tx' })
    expect(await stored()).toEqual({ property_state: 'TX' })
  })

  it.each(['T', 'TEX', 'T1', '', ' TX', 'ТХ', 'ßx', 5, true, ['TX'], {}])(
    'refuses the property_state %j, which is not a two-letter code',
    async (value) => {
      const { status, body } = await update({ property_state: value })
      expect([status, body.error.code]).toEqual([400, 'INVALID_PAYLOAD'])
      expect(body.error.message).toContain('property_state')
    },
  )

  it.each([5, 1.5, true, [], ['x'], {}, { a: 'b' }, 'x'.repeat(2001), 'a\u0000b', '\ud800', '\u001b'])(
    'refuses the custom value %j',
    async (value) => {
      for (const field of ['custom', 'loan_product']) {
        const { status, body } = await update({ [field]: value, other: 'x' })
        expect([status, body.error.code]).toEqual([400, 'INVALID_PAYLOAD'])
        expect(body.error.message).toContain(field)
      }
      expect(await stored()).toEqual({})
    },
  )

  it('takes values of 2,000 characters with tabs and line breaks', async () => {
    const value = 'a\tb\r\nc'.padEnd(2000, '😀'.repeat(1)).slice(0, 2000)
    await update({ custom: value.toWellFormed() })
    expect(await stored()).toEqual({ custom: value.toWellFormed() })
  })

  it.each([
    'id',
    'lead_id ',
    'partner_id',
    'partner_lead_id',
    'first_name',
    'last_name',
    'email',
    'phone',
    'status',
    'fico_range',
    'loan_officer_id',
    'notes',
    'metadata',
    'created_at',
    'updated_at',
  ])('refuses %j: metadata can never shadow or change a lead', async (field) => {
    const before = await partner.readLead(leadId)
    for (const value of ['x', null]) {
      const { status, body } = await update({ [field]: value, custom: 'x' })
      expect([status, body.error.code]).toEqual([400, 'INVALID_PAYLOAD'])
      expect(body.error.message).toContain(field)
    }
    expect(await partner.readLead(leadId)).toEqual(before)
  })

  it.each(['', '9a', '_a', 'a b', 'a/b', 'é', 'a\u0000', `a${'b'.repeat(64)}`, '$ne', 'a\n', '.a', '-'])(
    'refuses the field name %j',
    async (name) => {
      const { status, body } = await update({ [name]: 'x' })
      expect([status, body.error.code]).toEqual([400, 'INVALID_PAYLOAD'])
      expect(body.error.message).toContain('is not a valid name')
    },
  )

  it('refuses __proto__ like any other bad name', async () => {
    const { status, body } = await partner.post(
      'update-partner-info',
      `{"lead_id": ${leadId}, "__proto__": "x"}`,
    )
    expect([status, body.error.code]).toEqual([400, 'INVALID_PAYLOAD'])
  })

  it.each(['constructor', 'toString', 'hasOwnProperty', 'toJSON', 'then', 'valueOf', 'success', 'data'])(
    'stores the field %s as any other',
    async (name) => {
      expect((await update({ [name]: 'x' })).status).toBe(200)
      expect(await partner.readLead(leadId)).toHaveProperty([name], 'x')
    },
  )

  it('names every faulty field, bad names and bad values alike', async () => {
    const { body } = await update({ status: 'x', custom: 5, '9a': 'x', property_state: 'Texas' })
    for (const field of ['status', 'custom', '9a', 'property_state']) {
      expect(body.error.message).toContain(field)
    }
  })

  it('keeps its answer short, however many fields are faulty', async () => {
    const faulty = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [index, 0]))
    const { status, text } = await update(faulty)
    expect(status).toBe(400)
    expect(text.length).toBeLessThan(10_000)
  })

  it('takes at most 50 custom fields a lead, beside loan_product and property_state', async () => {
    const names = Array.from({ length: 50 }, (_, index) => [`f${index}`, 'x'])
    expect((await update(Object.fromEntries(names))).status).toBe(200)
    expect((await update({ loan_product: 'FHA', property_state: 'TX' })).status).toBe(200)
    const { status, body } = await update({ one_more: 'x' })
    expect([status, body.error.code]).toEqual([400, 'INVALID_PAYLOAD'])
    expect((await update({ f0: null, one_more: 'x' })).status).toBe(200)
    expect((await update({ f1: 'changed' })).status).toBe(200)
    expect(Object.keys(await stored())).toHaveLength(52)
  })
})
