import type { Evidence, LeadJournal } from '../evidence.ts'
import { type Verdict, verdict } from './verdict.ts'

/** What get-lead does not return. */
const HIDDEN = ['notes']
/** What the service adds of its own. */
const OWN = ['status', 'created_at', 'updated_at']

export function checkLeads({ leads, calls, views, record }: Evidence): Verdict[] {
  const acknowledged = leads.filter(({ leadId }) => leadId !== null)
  const creates = calls.filter(({ path, status }) => path === 'create-lead' && status === 200)
  const byRequest = Map.groupBy(creates, ({ request }) => request)
  const answered = Map.groupBy(creates, ({ body }) => Number(JSON.parse(body).lead_id))
  return [
    verdict(
      'every create-lead is acknowledged in the end',
      leads,
      (lead) => lead.leadId === null && lead.key,
    ),
    verdict('every acknowledged lead reads back, field by field', acknowledged, (lead) =>
      differences(lead, views.get(lead.leadId ?? 0)?.lead),
    ),
    verdict('no lead is there twice, and none that nobody sent', record.leads, (lead) => {
      const answers = answered.get(lead.id) ?? []
      const senders = new Set(answers.map(({ request }) => request))
      const isOurs = senders.size === 1 && answers[0]?.partnerId === lead.partner_id
      return !isOurs && `lead ${lead.id} was acknowledged for ${senders.size} requests`
    }),
    verdict('one Idempotency-Key, one answer', byRequest, ([key, answers]) => {
      const different = new Set(answers.map(({ body }) => body))
      return different.size > 1 && `${key}: ${[...different].join(' and ')}`
    }),
  ]
}

function differences(
  { leadId, owner, fields, metadata, describedAt }: LeadJournal,
  lead: Record<string, unknown> | undefined,
): string | undefined {
  if (lead === undefined) return `lead ${leadId} is not there`
  const hidden = Object.fromEntries(HIDDEN.map((name) => [name, undefined]))
  const found = Object.fromEntries(Object.entries(lead).filter(([name]) => !OWN.includes(name)))
  const ids = { id: leadId, lead_id: leadId, partner_id: owner.id }
  const sent = { ...fields, ...hidden, ...(describedAt !== null && metadata), ...ids }
  const expected = new Map<string, unknown>(Object.entries(sent))
  const wrong = [...new Set([...Object.keys(found), ...expected.keys()])].filter(
    (name) => found[name] !== expected.get(name),
  )
  return wrong.length === 0 ? undefined : `lead ${leadId}: ${wrong.join(', ')}`
}
