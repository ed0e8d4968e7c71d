import { isDeepStrictEqual } from 'node:util'
import type { Evidence, LeadJournal, View } from '../evidence.ts'
import { type Verdict, verdict } from './verdict.ts'

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
    verdict('every acknowledged lead reads back, field by field', acknowledged, (lead) => {
      const found = views.get(lead.leadId ?? 0)
      return !(found && readsBack(lead, found)) && `lead ${lead.leadId}: ${JSON.stringify(found)}`
    }),
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

/** Field by field; the notes are not returned. */
function readsBack({ leadId, owner, fields }: LeadJournal, { lead }: View): boolean {
  const { status, created_at, updated_at } = lead
  const ids = { id: leadId, lead_id: leadId, partner_id: owner.id }
  const sent = Object.entries(fields).filter(([name]) => name !== 'notes')
  return isDeepStrictEqual(lead, { ...Object.fromEntries(sent), ...ids, status, created_at, updated_at })
}
