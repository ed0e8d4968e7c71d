import { inSnapshot } from '../database/sql.ts'
import { findDeliveries, nextText } from '../deliveries/list-deliveries.ts'
import { findOnboardingMail, type MailRefusal } from './onboarding-mail.ts'
import {
  findLeadAttempts,
  findLeadEvents,
  type LeadRecord,
  type OpenedRecord,
  openRecord,
} from './require-lead.ts'
import { withReference } from './reasons.ts'
import { aheadText } from './operator-text.ts'
import { optionalFieldNames, optionalFields } from './lead-fields.ts'
import { describeReferral, describeStatus } from './describe-referral.ts'
import { fields, table } from '../staff/answer.ts'
import type { StaffContext } from '../staff/context.ts'

const MOST_DELIVERIES = 10_000

/** Everything that PostgreSQL and Temporal know of a lead. */
export async function showLead(context: StaffContext, record: LeadRecord) {
  const { sql } = context
  const { id, ...lead } = openRecord(record, await context.openingKeys())
  // first: it rejects when the namespace is another deployment's
  const described = await describeReferral(context.client, id)
  const { workflowId, status, notes, isFailing } = described
  const why = status === 'UNKNOWN' || lead.closed_at === null ? describeStatus(described) : undefined
  await context.recordLook({ action: 'lead.show', leadId: id, partnerId: lead.partner_id })
  const [events, deliveries, attempts, mail] = await inSnapshot(sql, async (snapshot) => [
    await findLeadEvents(snapshot, id),
    await findDeliveries(snapshot, { leadId: id, limit: MOST_DELIVERIES }),
    await findLeadAttempts(snapshot, id),
    await findOnboardingMail(snapshot, id),
  ])
  const url = urlOf(context, workflowId)
  const attemptsOf = (event: string) =>
    attempts.filter(({ event_id }) => event_id === event).map(({ event_id: _, ...attempt }) => attempt)
  const json = {
    lead_id: id,
    ...lead,
    onboarding_mail: mail ?? null,
    events,
    deliveries: deliveries.map((row) => ({ ...row, attempts: attemptsOf(row.event_id) })),
    workflow: { workflow_id: workflowId, status, why: why ?? null, url, notes, is_failing: isFailing },
  }
  // apart: a partner may name a field as we name one of the lead's
  const metadata = Object.entries(lead.metadata)
  const sequences = new Map(deliveries.map((row) => [row.event_id, row.sequence]))
  const parts = [
    leadFields(id, lead, mailState(lead, mail)),
    metadata.length > 0 && table(metadata, { metadata: ([name]) => name, value: ([, value]) => value }),
    table(events, {
      '#': 'position',
      event: 'event_name',
      at: 'created_at',
      id: 'event_id',
      payload: ({ event_payload: payload }) => payload && JSON.stringify(payload),
    }),
    table(deliveries, {
      webhook: 'sequence',
      event: 'event_name',
      state: 'state',
      failures: 'failures',
      'next attempt': nextText,
      settled: 'settled_at',
    }),
    attempts.length > 0 &&
      table(attempts, {
        webhook: (row) => sequences.get(row.event_id),
        attempt: 'number',
        trigger: 'trigger',
        at: 'started_at',
        ms: 'duration_ms',
        status: 'status',
        error: (row) => (row.finished_at === null ? 'under way' : row.error_code),
        hint: 'hint',
      }),
    fields({
      workflow: workflowId,
      status,
      ...(why !== undefined && { why }),
      'Web UI': url,
      ...(isFailing && {
        task: 'fails, or no worker answered: nothing is recorded or sent until it succeeds. See “Workflows fail” in docs/operations.md',
      }),
    }),
    notes.length > 0 &&
      table(notes, { 'ignored or gone wrong': 'what', at: ({ at }) => new Date(at), why: 'why' }),
  ]
  return { json, text: parts.filter(Boolean).join('\n\n') }
}

type Mail = Awaited<ReturnType<typeof findOnboardingMail>>

const whyNotMailed: Record<MailRefusal, string> = {
  address_limit: 'not sent: the address got as many within 24 hours as an address may',
}

/** What became of the onboarding mail. */
function mailState({ onboarding_sent_at: sentAt }: Pick<LeadRecord, 'onboarding_sent_at'>, mail: Mail) {
  if (sentAt !== null || mail === undefined) return sentAt
  return mail.refused === null ? null : whyNotMailed[mail.refused]
}

function leadFields(id: number, lead: Omit<OpenedRecord, 'id'>, mailed: Date | string | null): string {
  return fields({
    lead: id,
    partner: `${lead.partner_id}, ${lead.partner_name}`,
    status: lead.status,
    ...(lead.erased_at !== null && { erased: lead.erased_at }),
    ...(lead.held_at !== null && { 'held since': lead.held_at, 'held because': holdText(lead) }),
    name: [lead.first_name, lead.last_name].filter(Boolean).join(' '),
    email: lead.email,
    phone: lead.phone,
    ...Object.fromEntries(optionalFieldNames.map((name) => [optionalFields[name].label, lead[name]])),
    created: lead.created_at,
    updated: lead.updated_at,
    'onboarding email': mailed,
    'clock ahead': lead.clock_offset === 0 ? null : aheadText(lead.clock_offset * 1000),
    closed: lead.closed_at,
    'close reason': lead.close_reason,
  })
}

const holdText = ({ hold_reason: reason, hold_reference: reference }: Omit<OpenedRecord, 'id'>) =>
  reason && withReference(reason, reference)

function urlOf({ config, temporal }: StaffContext, workflowId: string): string | null {
  const ui = config.TEMPORAL_UI_URL?.replace(/\/$/, '')
  return ui === undefined ? null : `${ui}/namespaces/${temporal.namespace}/workflows/${workflowId}`
}
