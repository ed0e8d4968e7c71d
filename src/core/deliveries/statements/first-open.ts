import { sql as raw } from 'kysely'

/** Whether a delivery, `d` in the statement, is the first open one of its lead: those after it wait, however old they are. */
export const isFirstOpen = raw<boolean>`not exists (
  select from deliveries earlier
  where earlier.lead_id = d.lead_id and earlier.state = 'pending' and earlier.sequence < d.sequence
)`

/** The first open delivery of its lead, for an open one of `deliveries` that is sent after it. */
export const waitsFor = raw<{ event_id: string; sequence: number } | null>`(
  select json_build_object('event_id', earlier.event_id, 'sequence', earlier.sequence)
  from deliveries earlier
  where deliveries.state = 'pending' and earlier.lead_id = deliveries.lead_id
    and earlier.state = 'pending' and earlier.sequence < deliveries.sequence
  order by earlier.sequence limit 1
)`
