import { sql as raw } from 'kysely'

/**
 * As `inRound` says, for a delivery and its endpoint under their names in a statement: how often it has failed, and since
 * when it is due, or when it will be.
 */
export function countedOf(delivery: 'd' | 'deliveries', endpoint: 'e' | 'endpoints') {
  const [d, e] = [raw.table(delivery), raw.table(endpoint)]
  return {
    failures: raw<number>`case when ${d}.round = ${e}.round then ${d}.failures else 0 end`,
    nextAttemptAt: raw<Date>`greatest(case when ${d}.round in (0, ${e}.round) then ${d}.next_attempt_at end, ${e}.since)`,
  }
}
