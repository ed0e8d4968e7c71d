import { sql as raw } from 'kysely'
import { Endpoint } from '../../endpoints/tables/endpoint.ts'
import { Partner } from '../tables/partner.ts'
import type { Em, Sql } from '../../database/sql.ts'
import { isValidKey } from './keys.ts'

interface NewPartner {
  name: string
  contactEmail?: string | null
}

/** Adds a partner and its endpoint. The endpoint is paused, and deliveries are held, until it has a URL. */
export async function addPartner(em: Em, { name, contactEmail = null }: NewPartner): Promise<{ id: number }> {
  const partner = em.create(Partner, { name, contactEmail, createdAt: new Date() })
  const since = new Date()
  em.create(Endpoint, { partner, state: 'paused', pausedBy: 'service', reason: 'no_endpoint', since })
  await em.flush()
  return { id: partner.id }
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
