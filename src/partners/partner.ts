import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { instant } from '../database/columns.ts'
import { inTransaction, type Sql } from '../database/sql.ts'

/** A lender that refers borrowers. */
export const Partner = defineEntity({
  name: 'Partner',
  tableName: 'partners',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    name: p.text(),
    contactEmail: p.text().nullable(),
    createdAt: instant().defaultRaw('now()'),
  },
})

/** Adds a partner and its endpoint, which is paused and holds deliveries until it has a URL. */
export async function addPartner(
  sql: Sql,
  partner: { name: string; contact_email?: string | null },
): Promise<{ id: number }> {
  return inTransaction(sql, async (trx) => {
    const added = trx.insertInto('partners').values(partner).returning('id')
    const { id } = await added.executeTakeFirstOrThrow()
    await trx
      .insertInto('endpoints')
      .values({ partner_id: id, state: 'paused', paused_by: 'service', reason: 'no_endpoint' })
      .execute()
    return { id }
  })
}

/** All partners, or the one with this id. */
export async function listPartners(sql: Sql, partnerId?: number) {
  return sql
    .selectFrom('partners')
    .innerJoin('endpoints', 'endpoints.partner_id', 'partners.id')
    .select(['partners.id as partner_id', 'partners.name', 'partners.contact_email', 'partners.created_at'])
    .select('endpoints.url as endpoint_url')
    .select(
      raw<'active' | 'failing' | 'paused'>`case
        when endpoints.state = 'active' and failing_since is not null then 'failing' else endpoints.state
      end`.as('endpoint_state'),
    )
    .$if(partnerId !== undefined, (query) => query.where('partners.id', '=', partnerId ?? 0))
    .orderBy('partners.id')
    .execute()
}
