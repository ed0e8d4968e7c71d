import type { Evidence } from '../evidence.ts'
import { type Verdict, verdict } from './verdict.ts'

const restoreIn = ({ faults }: Pick<Evidence, 'faults'>) => faults.find(({ kind }) => kind === 'restore')

/** PostgreSQL came back with less: what may be lost, and what may not even so. */
export function checkRestore(evidence: Evidence): Verdict[] {
  const restore = restoreIn(evidence)
  if (restore === undefined) return []
  const { leads, calls, requests, feeds } = evidence
  const creates = calls.filter(({ path, status }) => path === 'create-lead' && status === 200)
  const byLead = Map.groupBy(creates, ({ body }) => Number(JSON.parse(body).lead_id))
  const byPlace = Map.groupBy(requests, ({ leadId, sequence }) => `lead ${leadId}, ${sequence}`)
  const lost = leads.filter(({ isLost }) => isLost)
  return [
    verdict('only leads that were acknowledged after the copy are lost', lost, (lead) => {
      const at = lead.acknowledgedAt ?? 0
      return (at < restore.at || at > restore.until) && `lead ${lead.leadId}`
    }),
    verdict('no lead id is given twice', byLead, ([leadId, answers]) => {
      const keys = new Set(answers.map(({ request }) => request))
      return keys.size > 1 && `lead ${leadId}: ${[...keys].join(' and ')}`
    }),
    verdict('a lead and sequence are always the same webhook, byte for byte', byPlace, ([place, all]) => {
      return new Set(all.map(({ id, body }) => `${id} ${body}`)).size > 1 && place
    }),
    verdict('a refused cursor comes with the next one', feeds, ({ partnerId, refusals }) => {
      const last = refusals.find((body) => typeof JSON.parse(body).error?.next !== 'string')
      return last !== undefined && `partner ${partnerId}: ${last}`
    }),
  ]
}

/** The evidence without what a restore may lose: all other promises hold for the rest. */
export function withoutLost(evidence: Evidence): Evidence {
  const restore = restoreIn(evidence)
  if (restore === undefined) return evidence
  const { leads, calls, reads, requests, record } = evidence
  const mayBeLost = (at: number) => at >= restore.at && at <= restore.until
  const lost = new Set(leads.filter(({ isLost }) => isLost).map(({ leadId }) => leadId))
  const events = new Set(record.events.map(({ id }) => id))
  return {
    ...evidence,
    leads: leads.filter(({ leadId }) => !lost.has(leadId)),
    calls: calls.filter(
      ({ path, status, body }) =>
        path !== 'create-lead' || status !== 200 || !lost.has(JSON.parse(body).lead_id),
    ),
    reads: reads.filter(({ leadId, at }) => !lost.has(leadId) && !mayBeLost(at)),
    requests: requests.filter(({ id, at }) => events.has(id) || at > restore.until),
  }
}
