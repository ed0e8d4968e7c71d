import { findDeliveries } from '../db/deliveries/list.ts'
import { findLeadAttempts, findLeadEvents, type LeadRecord } from '../db/leads/record.ts'
import { type Answer, fields, table } from './answer.ts'
import type { StaffContext } from './context.ts'
import { describeReferral } from '../temporal/describe-referral.ts'

const MOST_DELIVERIES = 10_000

/** All that is known of a lead, from the record and from Temporal. */
export async function show(context: StaffContext, { id, ...lead }: LeadRecord): Promise<Answer> {
  const { sql } = context
  // first and alone: where it is another deployment's, nothing else is under way
  const workflow = await describeReferral(context.client, id)
  const [events, deliveries, attempts] = await Promise.all([
    findLeadEvents(sql, id),
    findDeliveries(sql, { leadId: id, limit: MOST_DELIVERIES }),
    findLeadAttempts(sql, id),
  ])
  const attemptsOf = (event: string) =>
    attempts.filter(({ event_id }) => event_id === event).map(({ event_id: _, ...attempt }) => attempt)
  const json = {
    lead_id: id,
    ...lead,
    events,
    deliveries: deliveries.map((row) => ({ ...row, attempts: attemptsOf(row.event_id) })),
    workflow: {
      workflow_id: workflow.workflowId,
      status: workflow.status,
      url: urlOf(context, workflow.workflowId),
      notes: workflow.notes,
    },
  }
  const parts = [
    fields({
      lead: id,
      partner: `${lead.partner_id}, ${lead.partner_name}`,
      ...pick(lead),
      ...lead.metadata,
    }),
    table(
      ['#', 'event', 'at', 'id', 'payload'],
      events.map((row) => [
        row.position,
        row.event_name,
        row.created_at,
        row.event_id,
        payloadText(row.event_payload),
      ]),
    ),
    table(
      ['webhook', 'event', 'state', 'failures', 'next attempt', 'settled'],
      deliveries.map((row) => [
        row.sequence,
        row.event_name,
        row.state,
        row.failures,
        row.state === 'pending' ? row.next_attempt_at : null,
        row.settled_at,
      ]),
    ),
    ...(attempts.length > 0 ? [attemptTable(deliveries, attempts)] : []),
    fields({
      workflow: workflow.workflowId,
      state: workflow.status,
      'Web UI': urlOf(context, workflow.workflowId),
    }),
    ...(workflow.notes.length > 0
      ? [
          table(
            ['changed nothing', 'at', 'why'],
            workflow.notes.map(({ at, what, why }) => [what, new Date(at), why]),
          ),
        ]
      : []),
  ]
  return { json, text: parts.join('\n\n') }
}

function pick(lead: Omit<LeadRecord, 'id'>) {
  return {
    status: lead.status,
    'partner’s id': lead.partner_lead_id,
    name: `${lead.first_name} ${lead.last_name}`,
    email: lead.email,
    phone: lead.phone,
    'FICO range': lead.fico_range,
    'loan officer': lead.loan_officer_id,
    notes: lead.notes,
    created: lead.created_at,
    updated: lead.updated_at,
    onboarded: lead.onboarding_sent_at,
    'clock ahead': lead.clock_offset === 0 ? null : `${lead.clock_offset} s`,
    closed: lead.closed_at,
    'close reason': lead.close_reason,
  }
}

function payloadText(payload: unknown): string | null {
  return payload === null ? null : JSON.stringify(payload)
}

function attemptTable(
  deliveries: Awaited<ReturnType<typeof findDeliveries>>,
  attempts: Awaited<ReturnType<typeof findLeadAttempts>>,
): string {
  const sequences = new Map(deliveries.map((row) => [row.event_id, row.sequence]))
  return table(
    ['webhook', 'attempt', 'why', 'at', 'ms', 'status', 'error', 'hint'],
    attempts.map((row) => [
      sequences.get(row.event_id),
      row.number,
      row.trigger,
      row.started_at,
      row.duration_ms,
      row.status,
      row.error_code,
      row.hint,
    ]),
  )
}

function urlOf({ config, temporal }: StaffContext, workflowId: string): string | null {
  const { TEMPORAL_UI_URL: ui } = config
  return ui === undefined
    ? null
    : `${ui.replace(/\/$/, '')}/namespaces/${temporal.namespace}/workflows/${workflowId}`
}
