import type { Sql } from '../orm.ts'

const REMEMBERED = 10_000

/** Whose a lead is, which never changes and is remembered; `undefined` when there is no such lead. */
export function leadPartners(sql: Sql): (leadId: number) => Promise<number | undefined> {
  const partners = new Map<number, number>()
  return async (leadId) => {
    const known = partners.get(leadId)
    if (known !== undefined) return known
    const lead = sql.selectFrom('leads').select('partner_id').where('id', '=', leadId)
    const partnerId = (await lead.executeTakeFirst())?.partner_id
    if (partners.size >= REMEMBERED) partners.clear()
    if (partnerId !== undefined) partners.set(leadId, partnerId)
    return partnerId
  }
}
