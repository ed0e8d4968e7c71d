import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { openBorrower } from '../../src/leads/lead.ts'
import { record } from '../support/leads.ts'
import { testKeys } from '../support/test-keys.ts'
import { whileBusy } from '../support/while-busy.ts'
import { type Api, type ApiPartner, borrower, prepareApi, refusalOf } from '../support/api.ts'

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
    return openBorrower(leadId, row.personal ?? '', testKeys).metadata
  }

  it('changes nothing with lead_id alone, of the partner’s own leads only', async () => {
    const before = await partner.readLead(leadId)
    const { status, body } = await update({})
    expect([status, body.success]).toEqual([200, true])
    expect(await partner.readLead(leadId)).toEqual(before)
    expect((await update({ lead_id: 999_999 })).status).toBe(404)
  })

  it('merges: a field that is not sent stays, null removes one', async () => {
    await update({ loan_product: 'FHA', branch: 'Austin', context: '4' })
    await update({ branch: null, context: '5', never_there: null })
    expect(await stored()).toEqual({ loan_product: 'FHA', context: '5' })
    await update({ loan_product: null, property_state: null })
    expect(await stored()).toEqual({ context: '5' })
  })

  it('keeps two concurrent updates', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `f${index}`)
    // they take turns; a request that waits too long gets a 503 and is sent again
    const answers = await Promise.all(names.map((name) => whileBusy(() => update({ [name]: 'x' }))))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(Object.keys(await stored()).toSorted()).toEqual(names.toSorted())
  })

  it('stores property_state in upper case, without the blanks around it', async () => {
    await update({ property_state: ' tx ' })
    expect(await stored()).toEqual({ property_state: 'TX' })
  })

  it.each(['TEX', 'T1', '', 'ТХ', 5])(
    'refuses the property_state %j, which is not a two-letter code',
    async (value) => {
      expect(refusalOf(await update({ property_state: value }))).toContain('property_state')
    },
  )

  it.each([5, true, ['x'], { a: 'b' }, 'x'.repeat(2001), 'a\u0000b', '\ud800'])(
    'refuses the custom value %j',
    async (value) => {
      for (const field of ['custom', 'loan_product']) {
        expect(refusalOf(await update({ [field]: value, other: 'x' }))).toContain(field)
      }
      expect(await stored()).toEqual({})
    },
  )

  it.each([
    'id',
    'partner_id',
    'first_name',
    'last_name',
    'email',
    'phone',
    'status',
    'metadata',
    'created_at',
    'updated_at',
  ])('refuses %j: it is the service’s, or says who the borrower is', async (field) => {
    const before = await partner.readLead(leadId)
    for (const value of ['x', null]) {
      expect(refusalOf(await update({ [field]: value, custom: 'x', notes: 'y' }))).toContain(field)
    }
    expect(await partner.readLead(leadId)).toEqual(before)
  })

  it.each([
    ['partner_lead_id', 'LOAN-2'],
    ['loan_officer_id', 'LO-7'],
    ['fico_range', '580-619'],
  ] as const)('changes %s of the lead, and null or "" removes it', async (field, value) => {
    const row = async () => {
      const lead = api.sql.selectFrom('leads').select(field).where('id', '=', leadId)
      return (await lead.executeTakeFirstOrThrow())[field]
    }
    expect((await update({ [field]: value, branch: 'Austin' })).status).toBe(200)
    expect(await row()).toBe(value)
    const lead = await partner.readLead(leadId)
    expect(lead).toMatchObject({ first_name: 'Ada', branch: 'Austin' })
    expect(lead[field]).toBe(value)
    for (const nothing of [null, '']) {
      await update({ [field]: value })
      expect((await update({ [field]: nothing })).status).toBe(200)
      expect(await row()).toBeNull()
      expect(await partner.readLead(leadId)).not.toHaveProperty(field)
    }
    expect(await stored()).toEqual({ branch: 'Austin' })
  })

  it('takes at most 200 fields at once, whatever they are', async () => {
    const names = Array.from({ length: 199 }, (_, index) => `f${index}`)
    const removed = Object.fromEntries(names.map((name) => [name, null]))
    expect((await update(removed)).status).toBe(200)
    expect(refusalOf(await update({ ...removed, '\u0000': null }))).toBe(
      'Invalid request: the request body must have at most 200 fields.',
    )
  })

  it.each([
    ['partner_lead_id', 'x'.repeat(256)],
    ['partner_lead_id', 5],
    ['loan_officer_id', 'a\nb'],
    ['fico_range', '900-999'],
  ])('refuses for %s what create-lead refuses', async (field, value) => {
    const before = await partner.readLead(leadId)
    const created = await partner.post('create-lead', { ...borrower, [field]: value })
    const updated = await update({ [field]: value, branch: 'Austin' })
    expect([updated.status, updated.text]).toEqual([400, created.text])
    expect(await partner.readLead(leadId)).toEqual(before)
  })

  it('shows a new partner_lead_id in later webhooks only: what is queued stays byte for byte', async () => {
    const deliveries = () =>
      api.sql
        .selectFrom('deliveries')
        .select('body')
        .where('lead_id', '=', leadId)
        .orderBy('sequence')
        .execute()
    const [queued] = await deliveries()
    await update({ partner_lead_id: 'LOAN-2' })
    await record(api.sql, leadId, 'contract_signed')
    const [first, second] = await deliveries()
    expect(first).toEqual(queued)
    expect(JSON.parse(second?.body ?? '').data).toMatchObject({ partner_lead_id: 'LOAN-2', sequence: 2 })
    const { data } = (await partner.post('get-events', { lead_id: leadId })).body
    expect(data[0]).toMatchObject({ event_payload: { partner_lead_id: 'LOAN-1' } })
  })

  it.each([
    '_utm',
    'loan amount',
    '$ne',
    '"',
    '名前',
    '😀'.repeat(64),
    'Status',
    'constructor',
    '__defineGetter__',
    'toJSON',
    'then',
  ])('stores a field of the name %j', async (name) => {
    expect((await update({ [name]: 'x' })).status).toBe(200)
    expect(await partner.readLead(leadId)).toHaveProperty([name], 'x')
    expect((await update({ [name]: null })).status).toBe(200)
    expect(await stored()).toEqual({})
  })

  it.each(['', 'a\u0000', '\u200b', 'a\u202eb', 'a\u00a0b', '\ud800', 'b'.repeat(65)])(
    'refuses the field name %j, which cannot be printed or is too long',
    async (name) => {
      expect(refusalOf(await update({ [name]: 'x' }))).toContain('is not a valid name')
    },
  )

  it('names every faulty field, bad names and bad values alike', async () => {
    const faulty = { status: 'x', 'c/d é': 5, 'b\n': 'x', property_state: 'Texas', fico_range: 'x' }
    const named = ['status', 'c/d é must be', 'b? is not', 'property_state', 'fico_range']
    const message = refusalOf(await update(faulty))
    for (const text of named) expect(message).toContain(text)
  })

  it('takes at most 50 custom fields a lead, beside loan_product and property_state', async () => {
    const names = Array.from({ length: 50 }, (_, index) => [`f${index}`, 'x'])
    expect((await update(Object.fromEntries(names))).status).toBe(200)
    expect((await update({ loan_product: 'FHA', property_state: 'TX' })).status).toBe(200)
    expect(refusalOf(await update({ one_more: 'x' }))).toContain('50 custom fields')
    expect((await update({ f0: null, one_more: 'x' })).status).toBe(200)
    expect((await update({ f1: 'changed' })).status).toBe(200)
    expect(Object.keys(await stored())).toHaveLength(52)
  })
})
