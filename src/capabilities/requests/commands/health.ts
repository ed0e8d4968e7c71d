import type { HealthSection } from '../../../core/partners/commands/partner-health.ts'
import { table } from '../../../staff/answer.ts'
import { cameAt, KEPT_DAYS, MOST_KEPT } from '../decisions/request-age.ts'
import { countRequests } from '../statements/request-counts.ts'

const MOST_SHOWN = 30
const LIMITED = 429

/** A partner's requests by status, and the limits that it met. */
export const requestHealth: HealthSection = async (sql, partner) => {
  const counts = (await countRequests(sql, partner, MOST_SHOWN)).map(({ last_id: id, ...row }) => ({
    ...row,
    last_at: cameAt(id),
  }))
  const limited = counts.filter(({ status }) => status === LIMITED)
  const of = `of the last ${KEPT_DAYS} days, the latest ${MOST_KEPT} at most`
  return {
    json: { requests: counts, limits_met: limited },
    text: [
      counts.length === 0
        ? `No requests ${of}.`
        : `Requests ${of}:\n${table(counts, { call: 'call', status: 'status', error: 'error_code', requests: 'requests', last: 'last_at' })}`,
      limited.length === 0
        ? 'It met no limit.'
        : `Limits met: ${limited.map(({ call, requests }) => `${call}, ${requests} times`).join('; ')}.`,
    ].join('\n\n'),
  }
}
