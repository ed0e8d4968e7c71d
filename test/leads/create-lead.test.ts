import { beforeAll, describe, expect, it } from '@jest/globals'
import { hashesOfEmail, openBorrower } from '../../src/leads/lead.ts'
import { testKeys } from '../support/test-keys.ts'
import { eachField, optionalFields } from '../../src/leads/lead-fields.ts'
import { type Api, type ApiPartner, borrower, prepareApi, refusalOf } from '../support/api.ts'

describe('POST /create-lead', () => {
  let api: Api
  let partner: ApiPartner
  beforeAll(async () => {
    api = await prepareApi()
    partner = await api.addPartner()
  })
  const create = (fields: object) => partner.post('create-lead', { ...borrower, ...fields })

  const storedNotes = async (id: number) => {
    const leads = api.sql.selectFrom('leads').select('personal').where('id', '=', id)
    return openBorrower(id, (await leads.executeTakeFirstOrThrow()).personal ?? '', testKeys).notes
  }

  it('answers 200 with success, a message, the lead’s id and the partner_lead_id that was sent', async () => {
    const email = 'only@example.com'
    const { status, body, headers } = await create({ partner_lead_id: 'LOAN-1', email })
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(body).toEqual({
      success: true,
      message: 'Lead created.',
      lead_id: expect.any(Number),
      partner_lead_id: 'LOAN-1',
    })
  })

  it.each([
    ['partner_lead_id', { partner_lead_id: 'LOAN-TWICE' }, { partner_lead_id: 'loan-twice' }],
    ['address', { email: 'Twice@example.com' }, { email: 'thrice@example.com' }],
  ])('names the newest open lead of the same partner that has the same %s', async (_, same, similar) => {
    const mine = await api.addPartner()
    const other = await api.addPartner()
    let count = 0
    const add = async (fields: object, sender = mine) => {
      const email = `${(count += 1)}@example.com`
      const { status, body } = await sender.post('create-lead', { ...borrower, email, ...fields })
      expect(status).toBe(200)
      return body
    }
    const close = (id: number) => mine.post('close-lead', { lead_id: id, reason: 'withdrew' })
    const first = await add(same)
    expect(first).not.toHaveProperty('duplicate_of')
    const second = await add(same)
    expect(second.duplicate_of).toBe(first.lead_id)
    const third = await add(same)
    expect(third.duplicate_of).toBe(second.lead_id)
    expect(await add(similar)).not.toHaveProperty('duplicate_of')
    expect(await add(same, other)).not.toHaveProperty('duplicate_of')
    await close(third.lead_id)
    await close(second.lead_id)
    const fourth = await add(same)
    expect(fourth.duplicate_of).toBe(first.lead_id)
    await close(fourth.lead_id)
    await close(first.lead_id)
    expect(await add(same)).not.toHaveProperty('duplicate_of')
  })

  it('finds an address in any case, also under an encryption key that is being replaced', async () => {
    const email = 'grace@example.com'
    const old = Buffer.alloc(32, 8)
    const replacing = await prepareApi({ encryptionKeys: [...testKeys, old] })
    const mine = await replacing.addPartner()
    const id = await mine.createLead({ email })
    const [email_hash = null] = hashesOfEmail(email, [old])
    await replacing.sql.updateTable('leads').set({ email_hash }).where('id', '=', id).execute()
    const { body } = await mine.post('create-lead', { ...borrower, email: 'Grace@Example.com' })
    expect(body.duplicate_of).toBe(id)
  })

  it.each(['first_name', 'last_name', 'email', 'phone'])('needs %s', async (field) => {
    for (const value of [undefined, null, '', 5, {}, []]) {
      const named = value === undefined ? `${field} is required` : field
      expect(refusalOf(await create({ [field]: value }))).toContain(named)
    }
  })

  const accepted: [string, Record<string, unknown>][] = [
    ['names of 100 characters', { first_name: 'é'.repeat(100), last_name: '😀'.repeat(100) }],
    ['names in any script', { first_name: 'Søren', last_name: '李 Ó’Brien-Núñez' }],
    ['an email address with tags and dots', { email: 'a.b+c_d-e@mail.example.co.uk' }],
    [
      'an email address of 254 characters',
      { email: `${'a'.repeat(60)}@${`${'b'.repeat(60)}.`.repeat(3)}${'c'.repeat(6)}.com` },
    ],
    ['a phone of digits, hyphens, spaces and +', { phone: '+1 555-010 0100' }],
    ['a phone of 32 characters', { phone: '1'.repeat(32) }],
    ['the fico_range 300-850', { fico_range: '300-850' }],
    ['the fico_range 850-850', { fico_range: '850-850' }],
    ['identifiers of 255 characters', { partner_lead_id: 'x'.repeat(255), loan_officer_id: '"'.repeat(255) }],
    ['notes of 10,000 characters with tabs and line breaks', { notes: 'a\tb\r\nc'.padEnd(10_000, '.') }],
  ]
  it.each(accepted)('accepts %s', async (_, fields) => {
    const lead = await partner.readLead(await partner.createLead(fields))
    const { notes, ...returned } = fields
    expect(lead).toMatchObject(returned)
    expect(await storedNotes(lead.id as number)).toBe(notes ?? null)
  })

  const refused: [string, Record<string, unknown>][] = [
    ['a name of 101 characters', { first_name: 'x'.repeat(101) }],
    ['a name of blanks', { last_name: ' \u00a0 ' }],
    ['a name with a control character', { first_name: 'A\u0000da' }],
    ['a name with a line break in it', { first_name: 'A\nda' }],
    ['a name that nobody can see', { first_name: '\u200B\u3164\u202E' }],
    ['half a character', { last_name: 'a\ud800' }],
    ...[
      'ada',
      'a b@example.com',
      'ada@example',
      'a..b@example.com',
      '.a@example.com',
      'ada@-x.com',
      'Ada <ada@example.com>',
      'ada@example.com\r\nBcc: x@example.com',
    ].map((email): [string, Record<string, unknown>] => [
      `the email address ${JSON.stringify(email)}`,
      { email },
    ]),
    [
      'an email address of 255 characters',
      { email: `${'a'.repeat(60)}@${`${'b'.repeat(60)}.`.repeat(3)}${'c'.repeat(7)}.com` },
    ],
    ...['', '+ -', '(555) 0100', '５５５', '1'.repeat(33), '555\t0100'].map(
      (phone): [string, Record<string, unknown>] => [`the phone ${JSON.stringify(phone)}`, { phone }],
    ),
    ...['549-500', '299-400', '800-851', '500', '500–549', '500 - 549'].map(
      (range): [string, Record<string, unknown>] => [
        `the fico_range ${JSON.stringify(range)}`,
        { fico_range: range },
      ],
    ),
    ['a partner_lead_id of 256 characters', { partner_lead_id: 'x'.repeat(256) }],
    ['a partner_lead_id that is a number', { partner_lead_id: 12 }],
    ['a loan_officer_id of 256 characters', { loan_officer_id: 'x'.repeat(256) }],
    ['a loan_officer_id with a line break', { loan_officer_id: 'a\nb' }],
    ['notes of 10,001 characters', { notes: 'x'.repeat(10_001) }],
    ['notes with an escape character', { notes: '\u001b[31m' }],
  ]
  it.each(refused)('refuses %s', async (_, fields) => {
    expect(refusalOf(await create(fields))).toContain(Object.keys(fields)[0])
  })

  it('drops the blanks around a name, an email address, a phone and a fico_range', async () => {
    const sent = {
      first_name: '  Ada ',
      last_name: '\tMiller\n',
      email: ' ada@example.com\r\n',
      phone: '\u00a0+1 555-0100 ',
      fico_range: ' 500-549\n',
    }
    const trimmed = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, value.trim()]))
    expect(await partner.readLead(await partner.createLead(sent))).toMatchObject(trimmed)
  })

  it('treats a blank optional field as absent, here and in update-partner-info', async () => {
    const blank = eachField(optionalFields, () => ' \t\n ')
    const { body } = await create(blank)
    expect(body).not.toHaveProperty('partner_lead_id')
    const { lead_id: id } = body
    const lead = await partner.readLead(id)
    for (const name of optionalFields) expect(lead).not.toHaveProperty(name)
    expect(await storedNotes(id)).toBeNull()
    await partner.post('update-partner-info', { lead_id: id, loan_officer_id: 'LO-7' })
    await partner.post('update-partner-info', { lead_id: id, loan_officer_id: ' ' })
    expect(await partner.readLead(id)).not.toHaveProperty('loan_officer_id')
  })

  it('ignores unknown fields, whatever they hold', async () => {
    const unknown =
      '"__proto__": {"status": "x"}, "constructor": {"prototype": {}}, "status": "mortgage_ready", "id": 1, "x": [[[]]]'
    const { status, body } = await partner.post(
      'create-lead',
      `{${unknown}, ${JSON.stringify(borrower).slice(1)}`,
    )
    expect(status).toBe(200)
    expect(body.ignored_fields).toEqual(['__proto__', 'constructor', 'status', 'id', 'x'])
    expect(await partner.readLead(body.lead_id)).toEqual({
      ...borrower,
      id: body.lead_id,
      lead_id: body.lead_id,
      partner_id: partner.id,
      status: 'lead_received',
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
  })

  it('names at most 20 ignored fields, shortened and without what cannot be seen', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `${index}\u0000${'😀'.repeat(100)}`)
    const { body } = await create(Object.fromEntries(names.map((name) => [name, 'x'])))
    const shown = names.slice(0, 20).map((_, index) => `${index}?${'😀'.repeat(index < 10 ? 62 : 61)}…`)
    expect(body.ignored_fields).toEqual(shown)
  })
})
