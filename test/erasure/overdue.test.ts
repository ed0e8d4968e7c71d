import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { requireDeployment } from '../../src/core/record/statements/deployment.ts'
import { checkErasures } from '../../src/capabilities/erasure/statements/check.ts'
import { countLeft } from '../../src/capabilities/erasure/statements/empty.ts'
import { eraseLeads } from '../../src/capabilities/erasure/statements/erase.ts'
import { holdLead } from '../../src/capabilities/erasure/statements/holds.ts'
import { countOverdue } from '../../src/capabilities/erasure/statements/overdue.ts'
import { erasuresToStart, markErasureStarted } from '../../src/capabilities/erasure/statements/requests.ts'
import { connect, type Orm, type Sql, sqlOf } from '../../src/core/database/orm.ts'
import { addPartner } from '../../src/core/partners/statements/partner.ts'
import { atEnd } from '../support/at-end.ts'
import { freshDatabase } from '../support/database.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'

const PAGE = 200

describe('erasures that are overdue', () => {
  let orm: Orm
  let sql: Sql
  let partnerId: number

  beforeAll(async () => {
    const { url } = await freshDatabase()
    orm = await connect(url)
    atEnd(() => orm.close())
    sql = sqlOf(orm)
    await requireDeployment(sql, 'sandbox')
  })

  beforeEach(async () => {
    await raw`truncate leads restart identity cascade`.execute(sql)
    ;({ id: partnerId } = await addPartner(orm.em.fork(), { name: 'First Lender' }))
  })

  const lead = () => insertLead(sql, partnerId, LEAD, () => '{}')
  async function requested(hoursAgo: number, options: { isAnnounced?: boolean; toldHoursAgo?: number } = {}) {
    const id = await lead()
    const { isAnnounced = false, toldHoursAgo = null } = options
    await raw`
      insert into erasures (lead_id, requested_by, requested_at, due_at, is_announced, told_at)
      values (${id}, 'key 1', now() - ${hoursAgo} * interval '1 hour', now() - ${hoursAgo} * interval '1 hour',
        ${isAnnounced}, now() - ${toldHoursAgo}::float8 * interval '1 hour')`.execute(sql)
    return id
  }

  it('do not hide others from the sweep, though their workflows run and fail', async () => {
    for (let count = 0; count < PAGE; count += 1) await requested(48)
    const failing = await erasuresToStart(sql, PAGE)
    for (const id of failing) await markErasureStarted(sql, id)
    const late = await requested(1)
    expect(await erasuresToStart(sql, PAGE)).toContain(late)
    // and are looked at again after a minute, the longest ago first
    await raw`update erasures set started_at = started_at - interval '2 minutes' where lead_id <> ${late}`.execute(
      sql,
    )
    await markErasureStarted(sql, late)
    expect(await erasuresToStart(sql, PAGE)).toEqual(failing)
  })

  it('are looked for long before their day where nobody was told: their workflow may be gone', async () => {
    const untold = await requested(-48, { isAnnounced: true })
    const told = await requested(-48, { isAnnounced: true, toldHoursAgo: 1 })
    for (const id of [untold, told]) await markErasureStarted(sql, id)
    expect(await erasuresToStart(sql, PAGE)).toEqual([])
    await raw`update erasures set started_at = started_at - interval '2 minutes'`.execute(sql)
    expect(await erasuresToStart(sql, PAGE)).toEqual([untold])
  })

  it('are counted, with how long the oldest is', async () => {
    const overdue = async () => {
      const { count, oldestSeconds } = await countOverdue(sql)
      return [count, Math.round(oldestSeconds / 900)]
    }
    expect(await overdue()).toEqual([0, 0])
    await requested(0.2)
    await requested(23, { isAnnounced: true })
    const held = await requested(90)
    await holdLead(sql, held, { reason: 'litigation', reference: null })
    expect(await overdue()).toEqual([0, 0])
    const untold = await requested(25, { isAnnounced: true })
    expect(await overdue()).toEqual([1, 4])
    await requested(3, { isAnnounced: true, toldHoursAgo: 2 })
    expect(await overdue()).toEqual([2, 11])
    const erasing = { by: 'tester', reason: 'other' as const }
    await eraseLeads(sql, [untold], { journal: undefined, backupDays: undefined }, erasing)
    expect(await overdue()).toEqual([1, 11])
  })

  it('count the hash by which a lead is found, if it is left', async () => {
    const id = await lead()
    await eraseLeads(
      sql,
      [id],
      { journal: undefined, backupDays: undefined },
      { by: 'tester', reason: 'other' },
    )
    expect((await countLeft(sql, [id]))(id).leads).toBe(0)
    await raw`update leads set email_hash = 'hash' where id = ${id}`.execute(sql)
    expect((await countLeft(sql, [id]))(id).leads).toBe(1)
    expect(await checkErasures(sql, [id])).toEqual([id])
    await raw`update leads set email_hash = null where id = ${id}`.execute(sql)
  })

  it('count the hash of an address that is left, and the check empties it', async () => {
    const id = await lead()
    const tools = { journal: undefined, backupDays: undefined }
    await eraseLeads(sql, [id], tools, { by: 'tester', reason: 'other' })
    await raw`
      insert into onboarding_mails (lead_id, partner_id, address_hash, claimed_at)
      values (${id}, ${partnerId}, 'hash', now())`.execute(sql)
    expect(await countLeft(sql, [id]).then((leftOf) => leftOf(id).onboarding_mails)).toBe(1)
    expect(await checkErasures(sql, [id])).toEqual([])
    const mail = sql.selectFrom('onboarding_mails').select('address_hash').where('lead_id', '=', id)
    expect(await mail.executeTakeFirst()).toEqual({ address_hash: null })
  })
})
