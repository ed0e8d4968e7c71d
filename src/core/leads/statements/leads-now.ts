import { sql as raw } from 'kysely'

/** The time on a lead's own clock: ours, and in a sandbox as far ahead as it was moved. */
export const leadsNow = raw<Date>`clock_timestamp() + clock_offset * interval '1 second'`

/** When a lead changes: never before it last did, whose time may have been a moment ahead. */
export const leadsChange = raw<Date>`greatest(leads.updated_at, ${leadsNow})`

/** When a lead was closed, on its own clock, which moves on without this; `null` while it is open. */
export const leadsEnd = raw<Date | null>`closed_at + clock_offset * interval '1 second'`
