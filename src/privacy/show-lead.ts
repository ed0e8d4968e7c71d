import { noSuchLead } from '../leads/look-up.ts'
import { fields, table } from '../staff/answer.ts'
import type { StaffContext } from '../staff/context.ts'
import { exportOnWire, findExport, type LeadExport } from './exported-lead.ts'

// What staff read of one lead: each look at a borrower leaves a row in the audit before anything is shown.

/** Everything that is kept of a lead, with `--json` or without. */
export async function exportLead(context: StaffContext, id: number) {
  const found = await look(context, id, 'lead.export')
  const json = exportOnWire(found)
  return { json, text: JSON.stringify(json, null, 2) }
}

/** `lead show`: the same to be read. What was ignored and why, its workflow says in the Web UI. */
export async function showLead(context: StaffContext, id: number) {
  const found = await look(context, id, 'lead.show')
  const { config, temporal } = context
  const ui = config.TEMPORAL_UI_URL?.replace(/\/$/, '')
  const path = `namespaces/${temporal.namespace}/workflows/${found.workflow.workflow_id}`
  const url = ui === undefined ? null : `${ui}/${path}`
  return { json: { ...found, url }, text: textOf(found, url) }
}

async function look(context: StaffContext, id: number, action: string): Promise<LeadExport> {
  const found = await findExport({
    sql: context.sql,
    encryptionKeys: await context.openingKeys(),
    leadId: id,
  })
  if (found === undefined) throw noSuchLead(id)
  await context.recordLook({ action, leadId: id, partnerId: found.lead.partner_id })
  return found
}

function textOf(found: LeadExport, url: string | null): string {
  const { lead, onboarding_email: mail, clock, closing, hold, workflow, events, deliveries } = found
  const { metadata, ...own } = lead
  const attempts = deliveries.flatMap(({ sequence, attempts: made }) =>
    made.map((attempt) => ({ sequence, ...attempt })),
  )
  const parts = [
    fields({
      ...own,
      'onboarding email': mail.sent_at ?? (mail.not_sent_because && `not sent: ${mail.not_sent_because}`),
      'clock ahead': `${clock.seconds_ahead} s`,
      closed: closing.closed_at,
      'close reason': closing.reason,
      erased: closing.erased_at,
      'held since': hold?.since,
      'held because': [hold?.reason, hold?.reference].filter(Boolean).join(', '),
      workflow: workflow.workflow_id,
      'Web UI': url,
    }),
    // apart: a partner may name a field as we name one of the lead's
    fields(metadata),
    table(events, {
      event: 'event_name',
      at: 'created_at',
      id: 'event_id',
      payload: ({ event_payload: payload }) => payload && JSON.stringify(payload),
    }),
    table(deliveries, {
      webhook: 'sequence',
      event: 'event_id',
      state: 'state',
      'next attempt': 'next_attempt_at',
      settled: 'settled_at',
    }),
    table(attempts, {
      webhook: 'sequence',
      attempt: 'number',
      trigger: 'trigger',
      at: 'started_at',
      ms: 'duration_ms',
      status: 'status',
      error: (row) => (row.finished_at === null ? 'under way' : row.error_code),
      hint: 'hint',
    }),
  ]
  return parts.filter(Boolean).join('\n\n')
}
