import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { keyId, noteKey } from '../../src/seal.ts'
import { testKeys } from '../support/test-keys.ts'
import { type Api, type ApiPartner, borrower, prepareApi } from '../support/api.ts'

const otherKey = randomBytes(32)
const UNAVAILABLE = { status: 503, body: { success: false, error: { code: 'SERVICE_UNAVAILABLE' } } }

describe('what describes a borrower, in the database', () => {
  let api: Api
  let partner: ApiPartner
  let leadId: number

  beforeAll(async () => {
    api = await prepareApi({ encryptionKeys: testKeys })
    partner = await api.addPartner()
    leadId = await partner.createLead()
    // whose value is put in its place
    await partner.createLead({ first_name: 'Grace' })
  })

  const getLead = () => partner.post('get-lead', { lead_id: leadId })
  /** Changes what is stored, asks, and puts it back. */
  async function withStored(set: string, ask = getLead) {
    const lead = api.sql.selectFrom('leads').select('personal').where('id', '=', leadId)
    const before = await lead.executeTakeFirstOrThrow()
    await raw`update leads set ${raw.raw(set)} where id = ${leadId}`.execute(api.sql)
    const answer = await ask()
    await api.sql.updateTable('leads').set(before).where('id', '=', leadId).execute()
    return answer
  }
  const loggedErrors = () =>
    api.logged
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ level }) => Number(level) >= 50)

  it.each([
    ['another lead’s borrower', `personal = (select personal from leads order by id desc limit 1)`],
    [
      'a value with one letter changed',
      `personal = overlay(personal placing (case substr(personal, 40, 1) when 'A' then 'B' else 'A' end) from 40)`,
    ],
    ['a readable value', `personal = '{"branch": "Austin"}'`],
    ['an unknown key', `personal = 'v1.00000000' || substr(personal, 12)`],
  ])('is refused where somebody has put %s, with one line in the log', async (_, set) => {
    api.logged.length = 0
    const { status, body, headers } = await withStored(set)
    expect({ status, body }).toMatchObject(UNAVAILABLE)
    expect(headers['retry-after']).toBe('5')
    const [line, ...more] = loggedErrors()
    expect(more).toEqual([])
    expect(line).toMatchObject({ lead_id: leadId })
    expect(line?.msg).toMatch(/^(a stored value|ENCRYPTION_KEY lacks the key 00000000: add it after)/)
    expect(line).not.toHaveProperty('err')
    expect(JSON.stringify(line)).not.toMatch(/eve@|Austin|seal\.ts/)
    expect((await getLead()).status).toBe(200)
  })

  it('does not stop other changes of the lead', async () => {
    const update = () => partner.post('update-partner-info', { lead_id: leadId, loan_officer_id: 'y' })
    expect((await withStored(`personal = 'v1.00000000' || substr(personal, 12)`, update)).status).toBe(200)
  })
})

describe('an API whose ENCRYPTION_KEY lacks one under which data is stored', () => {
  it('answers 503 and stores nothing, says why, and goes on when the key is no longer needed', async () => {
    const api = await prepareApi({ encryptionKeys: [otherKey] })
    const partner = await api.addPartner()
    await noteKey(api.sql, keyId(testKeys[0]!))
    for (let count = 0; count < 3; count += 1)
      expect(await partner.post('create-lead', borrower)).toMatchObject(UNAVAILABLE)
    expect(await api.sql.selectFrom('leads').select('id').execute()).toEqual([])
    expect(await api.sql.selectFrom('encryption_keys').select('id').execute()).toHaveLength(1)
    const said = api.logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 50)
    expect(said.map(({ msg }) => msg)).toEqual(
      Array(3).fill(
        `ENCRYPTION_KEY lacks the key ${keyId(testKeys[0]!)}, under which data is stored: add it after the current one, separated by a comma; if it is lost, see “A wrong key” in docs/operations.md`,
      ),
    )
    expect(said[0]).not.toHaveProperty('err')
    await api.sql.deleteFrom('encryption_keys').execute()
    expect((await partner.post('create-lead', borrower)).status).toBe(200)
  })
})
