import { sql as raw } from 'kysely'

/** The request that created the lead of a query's row; null if none did. */
export const leadRequest = raw<string | null>`(
  select request_id from deliveries where lead_id = leads.id and sequence = 1
)`
