import { randomBytes } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { rewrite } from '../../src/privacy/encryption.ts'
import { find } from '../../src/leads/staff-find.ts'
import { onboardingRecipient } from '../../src/leads/onboarding-mail.ts'
import { correct } from '../../src/leads/staff.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import { openDatabase } from '../support/open-database.ts'
import { lackingKeys } from '../../src/seal.ts'
import { addPartner } from '../../src/partners/partner.ts'
import { LEAD } from '../support/leads.ts'
import { insertLead } from '../support/insert-lead.ts'
import { contextOf, staff, withoutTemporal } from '../staff/context.ts'

const newKey = () => randomBytes(32)
const text = (keys: Buffer[]) => keys.map((key) => key.toString('base64')).join(',')

describe('staff find', () => {
  let database: Awaited<ReturnType<typeof openDatabase>>
  let context: StaffContext
  let partner: number
  let key: Buffer
  let environment: Record<string, string>

  beforeAll(async () => {
    database = await openDatabase()
    key = newKey()
    await lackingKeys(database.sql, [key])
    environment = { ...withoutTemporal(database.url), ENCRYPTION_KEY: text([key]) }
    context = await contextOf(environment)
  })

  beforeEach(async () => {
    ;({ id: partner } = await addPartner(database.sql, { name: 'First Lender' }))
  })

  const lead = (fields: { email?: string; partner_lead_id?: string | null } = {}, keys = [key]) =>
    insertLead(database.sql, partner, { ...LEAD, ...fields }, ({ eventId }) => eventId, keys)
  const idsOf = async (given: string, on = context) =>
    (await find(on, given, { partner })).json.leads.map(({ lead_id: id }) => id)
  const searches = async () => {
    const rows = await database.sql
      .selectFrom('audit')
      .select(['action', 'outcome', 'actor', 'lead_id', 'partner_id', 'detail'])
      .where('partner_id', '=', partner)
      .orderBy('id')
      .execute()
    return rows.filter(({ action }) => action === 'lead.find')
  }
  const hashOf = async (id: number) => {
    const row = database.sql.selectFrom('leads').select('email_hash').where('id', '=', id)
    return (await row.executeTakeFirst())?.email_hash
  }

  it('recognizes a lead’s number, its partner’s number, a webhook and an email address, however it is written', async () => {
    const id = await lead({ email: `ada.${partner}@gmail.com`, partner_lead_id: `LOAN-${partner}` })
    const row = database.sql.selectFrom('lead_events').select('id').where('lead_id', '=', id)
    const { id: event } = await row.executeTakeFirstOrThrow()
    for (const given of [`${id}`, `lead-${id}`, `LOAN-${partner}`, event, `ADA${partner}+x@GoogleMail.com `])
      expect([given, await idsOf(given)]).toEqual([given, [id]])
  })

  it('leaves a row with who was found and by what kind of text, without the text', async () => {
    const email = `ada.${partner}@gmail.com`
    const id = await lead({ email, partner_lead_id: email })
    const other = await lead({ partner_lead_id: email })
    const row = {
      action: 'lead.find',
      outcome: 'done',
      actor: 'tester',
      partner_id: partner,
    }
    await idsOf(`${id}`)
    await idsOf(email)
    await idsOf('nobody@example.org')
    const rows = await searches()
    expect(rows).toEqual([
      { ...row, lead_id: id, detail: { lead_ids: [id] } },
      { ...row, lead_id: null, detail: { lead_ids: [other, id] } },
      { ...row, lead_id: null, detail: { lead_ids: [] } },
    ])
    expect(JSON.stringify(rows)).not.toContain('@')
  })

  it('says how to search when it found nothing', async () => {
    expect(await find(context, 'Nobody Known')).toMatchObject({
      failed: true,
      text: expect.stringContaining('Names and phone numbers cannot be searched'),
    })
    for (const given of ['', ' ', 'a\u0000b', 'x'.repeat(501)])
      await expect(find(context, given)).rejects.toThrow('Give 1 to 500 characters')
  })

  it('finds nothing for text that looks like SQL, a pattern or a large number', async () => {
    for (const given of [
      "' or 1=1 --",
      '%',
      '4294967296',
      '9999999999',
      `evt_${'f'.repeat(36)}`,
      '💥@💥',
      'a@b@c',
    ])
      expect([given, await idsOf(given)]).toEqual([given, []])
  })

  it('finds no erased lead by email address', async () => {
    const [kept, erased] = [
      await lead({ email: 'old@example.com' }),
      await lead({ email: 'old@example.com' }),
    ]
    await database.sql
      .updateTable('leads')
      .set({ personal: null, email_hash: null, erased_at: raw<Date>`now()` })
      .where('id', '=', erased)
      .execute()
    expect(await idsOf('old@example.com')).toEqual([kept])
  })

  it('finds leads under an older key, and under the newest alone after a rewrite', async () => {
    const email = `rotated${partner}@example.com`
    const id = await lead({ email })
    const older = await hashOf(id)
    const newer = newKey()
    await lackingKeys(database.sql, [newer, key])
    const rotating = await contextOf({ ...environment, ENCRYPTION_KEY: text([newer, key]) })
    const second = await lead({ email }, [newer, key])
    expect(await idsOf(email, rotating)).toEqual([second, id])
    await rewrite(rotating)
    const after = await contextOf({ ...environment, ENCRYPTION_KEY: text([newer]) })
    expect(await idsOf(email, after)).toEqual([second, id])
    expect([await hashOf(id), older]).toEqual([
      await hashOf(second),
      expect.not.stringMatching((await hashOf(id))!),
    ])
    // back, for the other tests
    await lackingKeys(database.sql, [key, newer])
    await rewrite(await contextOf({ ...environment, ENCRYPTION_KEY: text([key, newer]) }))
    expect(await hashOf(id)).toBe(older)
  })

  it('as commands: finds a lead, gives a corrected one its new address, and the audit the names of its fields', async () => {
    const id = await lead({ email: `typo${partner}@example.com` })
    const email = `right${partner}@example.com`
    const { stdout } = await staff(environment, ['lead', 'find', `typo${partner}@example.com`])
    expect(stdout).toMatch(new RegExp(`^lead .*\n${id} +${partner}, First Lender`))
    const args = ['lead', 'correct', `${id}`, '--email', email, '--first-name', 'Augusta']
    expect(await staff(environment, args)).toMatchObject({
      code: 0,
      stdout: `Corrected first_name, email of lead ${id}.\n`,
    })
    expect([await idsOf(email), await idsOf(`typo${partner}@example.com`)]).toEqual([[id], []])
    expect(await onboardingRecipient(database.sql, id, [key])).toMatchObject({ first_name: 'Augusta', email })
    const audit = database.sql.selectFrom('audit').select('detail').where('action', '=', 'lead.correct')
    expect(await audit.execute()).toEqual([{ detail: { fields: ['first_name', 'email'] } }])
    const wrong = await staff(environment, ['lead', 'correct', `${id}`, '--email', 'nobody'])
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('must be a valid email address') })
    await expect(correct(context, id, {})).rejects.toThrow('Name what to correct')
  })
})
