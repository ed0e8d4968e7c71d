import { sql as raw } from 'kysely'

// SQL expressions over an endpoint and its deliveries.

/** The number of open deliveries of a row of `endpoints`. */
export const openDeliveryCount = raw<number>`(
  select count(*)::int from deliveries d where d.partner_id = endpoints.partner_id and d.state = 'pending'
)`

/** Whether delivery row `d` is the first open one of its lead: those after it wait, however old they are. */
export const isFirstOpen = raw<boolean>`not exists (
  select from deliveries earlier
  where earlier.lead_id = d.lead_id and earlier.state = 'pending' and earlier.sequence < d.sequence
)`

/** `inRound` in SQL: a delivery's schedule in its endpoint's round. Takes the names of both in the statement. */
export function scheduleInRound(delivery: 'd' | 'deliveries', endpoint: 'e' | 'endpoints') {
  const [d, e] = [raw.table(delivery), raw.table(endpoint)]
  return {
    failures: raw<number>`case when ${d}.round = ${e}.round then ${d}.failures else 0 end`,
    nextAttemptAt: raw<Date>`case when ${d}.round = ${e}.round then greatest(${d}.next_attempt_at, ${e}.since)
      else least(greatest(case ${d}.round when 0 then ${d}.next_attempt_at end, ${e}.since), clock_timestamp()) end`,
  }
}
