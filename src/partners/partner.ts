import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { instant } from '../database/columns.ts'
import { type Em, type Sql, sqlOf } from '../database/sql.ts'

export const Partner = defineEntity({
  name: 'Partner',
  tableName: 'partners',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    name: p.text(),
    contactEmail: p.text().nullable(),
    /** Whether it changes its endpoint itself in production; in a sandbox each does. */
    selfService: p.boolean().default(false),
    createdAt: instant().defaultRaw('now()'),
    /** When the record was restored, until the partner is told. */
    restoredAt: instant().nullable(),
  },
})

/** Whether a row of `api_keys` works now. */
export const isValidKey = raw<boolean>`(revoked_at is null and (expires_at is null or expires_at > now()))`

interface NewPartner {
  name: string
  contactEmail?: string | null
}

/** Adds a partner and its endpoint. The endpoint is paused, and deliveries are held, until it has a URL. */
export async function addPartner(em: Em, { name, contactEmail = null }: NewPartner): Promise<{ id: number }> {
  return em.transactional(async (trx) => {
    const partner = trx.create(Partner, { name, contactEmail, createdAt: new Date() })
    await trx.flush()
    const { id } = partner
    await sqlOf({ em: trx })
      .insertInto('endpoints')
      .values({
        partner_id: id,
        state: 'paused',
        paused_by: 'service',
        reason: 'no_endpoint',
        since: new Date(),
      })
      .execute()
    return { id }
  })
}

export async function findPartner(sql: Sql, partnerId: number) {
  return sql
    .selectFrom('partners')
    .select(['name', 'contact_email'])
    .where('id', '=', partnerId)
    .executeTakeFirst()
}

export async function changePartner(
  sql: Sql,
  partnerId: number,
  change: { contact_email: string } | { self_service: boolean },
): Promise<void> {
  await sql.updateTable('partners').set(change).where('id', '=', partnerId).execute()
}

/** All partners, or the one with this id, with the numbers of their leads and valid keys. */
export async function listPartners(sql: Sql, partnerId?: number) {
  return sql
    .selectFrom('partners')
    .innerJoin('endpoints', 'endpoints.partner_id', 'partners.id')
    .select(['partners.id as partner_id', 'partners.name', 'partners.contact_email', 'partners.created_at'])
    .select('partners.self_service')
    .select(['endpoints.url as endpoint_url', 'endpoints.state as endpoint_state', 'failing_since'])
    .select([
      raw<number>`(select count(*)::int from leads where partner_id = partners.id)`.as('leads'),
      raw<number>`(
        select count(*)::int from api_keys where partner_id = partners.id and ${isValidKey}
      )`.as('valid_keys'),
    ])
    .$if(partnerId !== undefined, (query) => query.where('partners.id', '=', partnerId ?? 0))
    .orderBy('partners.id')
    .execute()
}
