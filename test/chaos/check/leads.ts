import type { Call, Evidence, LeadJournal } from '../evidence.ts'
import { grouped, type Verdict, verdict } from './verdict.ts'

/** What get-lead does not return. */
const HIDDEN = ['notes']
/** What the service adds of its own. */
const OWN = ['status', 'created_at', 'updated_at']

export function checkLeads({ leads, calls, views, foreign, record }: Evidence): Verdict[] {
  const acknowledged = leads.filter(({ leadId }) => leadId !== null)
  const sentAs = grouped(acknowledged, ({ leadId }) => leadId)
  const creates = calls.filter(({ path, status }) => path === 'create-lead' && status === 200)
  return [
    verdict(
      'every create-lead is acknowledged in the end',
      leads,
      ({ key, leadId }) => leadId === null && key,
    ),
    verdict('every acknowledged lead reads back, field by field', acknowledged, (lead) =>
      differences(lead, views.get(lead.leadId ?? 0)?.lead),
    ),
    verdict(
      'no lead is there twice, and none that nobody sent',
      record.leads,
      ({ id, partner_id: partnerId }) => {
        const senders = sentAs.get(id) ?? []
        const isOurs = senders.length === 1 && senders[0]?.partnerId === partnerId
        return !isOurs && `lead ${id} of partner ${partnerId} was acknowledged ${senders.length} times`
      },
    ),
    verdict(
      'one Idempotency-Key, one answer',
      grouped(creates, ({ request }) => request),
      ([key, answers]) => {
        const different = new Set(answers.map(({ body }) => body))
        return different.size > 1 && `${key}: ${[...different].join(' and ')}`
      },
    ),
    verdict(
      'another partner’s lead and an unknown one get the same 404',
      pairs(foreign),
      ([theirs, nobodys]) => {
        const isSame = theirs.status === 404 && nobodys?.status === 404 && theirs.body === nobodys.body
        return (
          !isSame && `${theirs.path}: ${theirs.status} ${theirs.body}, ${nobodys?.status} ${nobodys?.body}`
        )
      },
    ),
  ]
}

function differences(
  { leadId, partnerId, fields, metadata }: LeadJournal,
  lead: Record<string, unknown> | undefined,
): string | undefined {
  if (lead === undefined) return `lead ${leadId} is not there`
  const hidden = Object.fromEntries(HIDDEN.map((name) => [name, undefined]))
  const found = Object.fromEntries(Object.entries(lead).filter(([name]) => !OWN.includes(name)))
  const sent = { ...fields, ...hidden, ...metadata, id: leadId, lead_id: leadId, partner_id: partnerId }
  const expected = new Map<string, unknown>(Object.entries(sent))
  const wrong = [...new Set([...Object.keys(found), ...expected.keys()])].filter(
    (name) => found[name] !== expected.get(name),
  )
  return wrong.length === 0 ? undefined : `lead ${leadId}: ${wrong.join(', ')}`
}

function pairs(calls: Call[]): [Call, Call | undefined][] {
  return calls.flatMap((call, index) => (index % 2 === 0 ? [[call, calls[index + 1]]] : []))
}
