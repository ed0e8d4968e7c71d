import type { Sql } from '../../database/sql.ts'

const REMEMBERED = 10_000

/** Looks up a lead's partner, with a cache, because it never changes; `undefined` if there is no such lead. */
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
