import { sql as raw } from 'kysely'
import { LARGEST_ID } from '../../values/ids.ts'
import type { Sql } from '../../database/sql.ts'
import { hashesOfEmail } from './sealed-lead.ts'

// Each answers ids of leads, the newest first, `limit` at most, of one partner if it is named.

export interface Within {
  partnerId?: number | undefined
  limit: number
}

const ofPartner = ({ partnerId }: Within) =>
  partnerId === undefined ? raw`` : raw`and partner_id = ${partnerId}`

async function idsOf(found: ReturnType<typeof raw<{ id: number }>>, sql: Sql): Promise<number[]> {
  const { rows } = await found.execute(sql)
  return rows.map(({ id }) => id)
}

export async function leadById(sql: Sql, id: number, within: Within): Promise<number[]> {
  if (id > LARGEST_ID) return []
  return idsOf(raw<{ id: number }>`select id from leads where id = ${id} ${ofPartner(within)}`, sql)
}

/** One partner after the other, each by its index: there are few partners, and no index of all of them. */
export async function leadsByPartnerLeadId(sql: Sql, text: string, within: Within): Promise<number[]> {
  const { partnerId, limit } = within
  const only = partnerId === undefined ? raw`` : raw`where partners.id = ${partnerId}`
  return idsOf(
    raw<{ id: number }>`
      select own.id from partners cross join lateral (
        select id from leads where partner_id = partners.id and partner_lead_id = ${text} order by id desc limit ${limit}
      ) as own ${only} order by own.id desc limit ${limit}`,
    sql,
  )
}

/** @param encryptionKeys under whose hashes it is looked for. */
export async function leadsByEmail(
  { sql, encryptionKeys }: { sql: Sql; encryptionKeys: readonly Buffer[] },
  email: string,
  within: Within,
): Promise<number[]> {
  return idsOf(
    raw<{ id: number }>`
      select id from leads where email_hash = any(${hashesOfEmail(email, encryptionKeys)}) ${ofPartner(within)}
      order by id desc limit ${within.limit}`,
    sql,
  )
}

/** @param id an event's, which is its webhook's, or an attempt's. */
export async function leadByWebhook(sql: Sql, id: string, within: Within): Promise<number[]> {
  const eventId = id.startsWith('att_') ? raw`(select event_id from attempts where id = ${id})` : raw`${id}`
  return idsOf(
    raw<{ id: number }>`select lead_id as id from lead_events where id = ${eventId} ${ofPartner(within)}`,
    sql,
  )
}
