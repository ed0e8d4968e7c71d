import { beforeAll, describe, expect, it } from '@jest/globals'
import { findKeyOwner, hashOf } from '../../src/partners/keys.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import * as partner from '../../src/partners/staff.ts'
import { openDatabase } from '../support/open-database.ts'
import { auditOf, contextOf, withoutTemporal } from '../staff/context.ts'

const HOUR_MS = 3_600_000

describe('the keys of a partner', () => {
  let context: StaffContext
  let id: number

  beforeAll(async () => {
    context = await contextOf(withoutTemporal((await openDatabase()).url))
  })

  async function newPartner(): Promise<number> {
    return (await partner.add(context, 'Acme', {})).json.partner_id
  }
  const issue = async () => (await partner.issue(context, id)).json as { key_id: number; key: string }
  const rotate = async (overlap: number) =>
    (await partner.rotate(context, id, { overlap })).json as { key: string }
  const owner = async (of: { key: string }) => {
    const found = await findKeyOwner(context.sql, hashOf(of.key))
    return 'refusal' in found ? found.refusal : found
  }

  it('go on for the overlap when they are rotated, and not longer', async () => {
    id = await newPartner()
    const [first, second] = [await issue(), await issue()]
    const third = await rotate(HOUR_MS)
    for (const valid of [first, second, third])
      await expect(owner(valid)).resolves.toMatchObject({ partnerId: id })
    const { keys } = (await partner.listKeysOf(context, id)).json as {
      keys: { state: string; expires_at: Date | null }[]
    }
    expect(keys.map(({ expires_at }) => expires_at !== null)).toEqual([true, true, false])
    const fourth = await rotate(0)
    for (const old of [first, second, third]) await expect(owner(old)).resolves.toBe('expired')
    await expect(owner(fourth)).resolves.toMatchObject({ partnerId: id })
  })

  it('are shown with the partner, without the keys themselves', async () => {
    id = await newPartner()
    const valid = await issue()
    await partner.revoke(context, String((await issue()).key_id))
    const { json, text } = await partner.showPartner(context, id)
    const last4 = valid.key.slice(-4)
    expect(json).toMatchObject({ partner_id: id, keys: [{ state: 'valid', last4 }, { state: 'revoked' }] })
    expect(JSON.stringify([json, text])).not.toContain(valid.key)
    expect(text).toMatch(new RegExp(`^${valid.key_id} .* valid `, 'm'))
    expect((await partner.listAllPartners(context)).text).toMatch(new RegExp(`^${id} +Acme`, 'm'))
    await expect(partner.showPartner(context, id + 1)).rejects.toThrow(
      `There is no partner ${id + 1}: see "partner list".`,
    )
  })

  it('never live longer because of a rotation', async () => {
    id = await newPartner()
    const first = await issue()
    await rotate(0)
    await rotate(HOUR_MS)
    await expect(owner(first)).resolves.toBe('expired')
  })

  it('go on for the overlap by PostgreSQL’s clock, whatever the clock of this machine says', async () => {
    id = await newPartner()
    const first = await issue()
    const { now } = Date
    Date.now = () => now() - 2 * HOUR_MS
    await partner.rotate(context, id, { overlap: HOUR_MS }).finally(() => (Date.now = now))
    await expect(owner(first)).resolves.toMatchObject({ partnerId: id })
    // the API's host is ahead
    Date.now = () => now() + 2 * HOUR_MS
    const judged = await owner(first).finally(() => (Date.now = now))
    expect(judged).toMatchObject({ partnerId: id })
  })

  it('rotated twice at once leave one key without an end', async () => {
    id = await newPartner()
    await issue()
    await Promise.all([rotate(HOUR_MS), rotate(HOUR_MS)])
    const { keys } = (await partner.listKeysOf(context, id)).json as { keys: { expires_at: Date | null }[] }
    expect(keys.filter(({ expires_at }) => expires_at === null)).toHaveLength(1)
  })

  it('are revoked by id or by the key itself', async () => {
    id = await newPartner()
    const [first, second] = [await issue(), await issue()]
    await partner.revoke(context, String(first.key_id))
    await partner.revoke(context, second.key)
    for (const old of [first, second]) await expect(owner(old)).resolves.toBe('revoked')
    const done = (await auditOf(context)).filter(
      ({ action, partner_id }) => action === 'key.revoke' && partner_id === id,
    )
    expect(done.map(({ detail }) => detail)).toEqual([{ key_id: first.key_id }, { key_id: second.key_id }])
  })
})
