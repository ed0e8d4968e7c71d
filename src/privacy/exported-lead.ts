import { z } from 'zod'
import { auditOutcomes } from '../audit.ts'
import type { Sql } from '../database/sql.ts'
import { attemptTrigger, deliveryState, nextAttemptOf } from '../deliveries/list-deliveries.ts'
import { timestamp } from '../http/fields.ts'
import {
  attemptNumber,
  errorCode,
  httpStatus,
  leadFieldMeanings,
  leadStatus,
  ofEvent,
  ofLead,
  ofPartner,
  stringMap,
  webhookSequence,
  webhookSequenceOrNone,
} from '../http/schemas.ts'
import type { Pages } from '../http/streamed.ts'
import { eventSchema, eventShape } from '../leads/event-schema.ts'
import { eachField, optionalFieldNames, requiredFields } from '../leads/lead-fields.ts'
import { findOnboardingMail, mailRefusals } from '../leads/onboarding-mail.ts'
import type { WholeLead } from '../leads/read-lead.ts'
import { formatTimestamp } from '../values.ts'
import { actionsOn, type Attempt, deliveriesOf, eventsOf, idempotencyKeysOf } from './export-pages.ts'

/** The parts of an exported lead, in their order, with what the export says about each. */
export const exportedParts = {
  lead: 'The borrower’s data as the partner sent it, with notes and metadata, and the status.',
  onboarding_email: 'The email that welcomes the borrower, and why it was not sent if it was not.',
  clock: 'In a sandbox, by how many seconds the lead’s clock was advanced.',
  score_updates: 'The date from which score updates are counted, every 45 days.',
  closing:
    'When the lead was closed, 30 days after mortgage_ready or by whom, and why. get-lead has a closing that waits.',
  workflow:
    'The lead’s workflow in Temporal. It holds ids, states and dates, and what senders put into signals; no name, address or phone number.',
  idempotency_keys: 'The Idempotency-Key of the request that created the lead, kept for 24 hours.',
  events: 'The history, oldest first.',
  deliveries:
    'The webhooks about the lead, in their order: the body that each attempt sends, and what the partner’s endpoint answered.',
  actions: 'What the partner’s keys and staff did with the lead, and when staff looked at it, oldest first.',
} as const

export type ExportedPart = keyof typeof exportedParts

/** An exported lead on the wire, as a partner gets it. */

const moment = timestamp.nullable()

const attempt = z
  .object({
    number: attemptNumber,
    trigger: attemptTrigger,
    started_at: timestamp,
    finished_at: moment,
    duration_ms: z.int().nullable().describe('`null` while it is in progress.'),
    address: z.string().nullable().describe('The IP address of your endpoint that was called.'),
    status: httpStatus,
    error_code: errorCode,
    hint: z.string().nullable().describe('How to fix the failure.'),
    response_headers: stringMap.nullable(),
    response_body: z
      .string()
      .nullable()
      .describe('What your endpoint answered, cut off after a few kilobytes.'),
  })
  .meta({ id: 'ExportedAttempt' })

const delivery = z
  .object({
    sequence: webhookSequence,
    event_id: ofEvent,
    state: deliveryState,
    body: z.string().describe('The bytes that every attempt signs and sends.'),
    next_attempt_at: moment,
    settled_at: moment,
    attempts: z.array(attempt).describe('Oldest first.'),
  })
  .meta({ id: 'ExportedDelivery' })

const exportedEvent = eventSchema('ExportedEvent', {
  ...eventShape,
  event_id: ofEvent,
  sequence: webhookSequenceOrNone,
})

const leadShape = z
  .object({
    lead_id: ofLead,
    partner_id: ofPartner,
    ...eachField(requiredFields, (name) => z.string().describe(leadFieldMeanings[name])),
    ...eachField(optionalFieldNames, (name) => z.string().nullable().describe(leadFieldMeanings[name])),
    metadata: stringMap,
    status: leadStatus,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'ExportedFields' })

const key = z
  .object({ key: z.string().describe('The `Idempotency-Key` of create-lead.'), created_at: timestamp })
  .meta({ id: 'ExportedIdempotencyKey' })
const actionShape = z
  .object({
    at: timestamp,
    action: z.string().describe('What was done, for example `milestone` or `lead.close`.'),
    outcome: z.enum(auditOutcomes).describe('How it went.'),
    by: z.string().describe('`key <id>` for one of your API keys, `staff` for ours.'),
  })
  .meta({ id: 'ExportedAction' })

const parts = {
  lead: leadShape,
  onboarding_email: z.object({
    sent_at: moment,
    not_sent_because: z
      .enum(mailRefusals)
      .meta({ id: 'OnboardingEmailRefusal' })
      .nullable()
      .describe('`address_limit`: the address got as many within 24 hours as an address may.'),
  }),
  clock: z.object({ seconds_ahead: z.int().describe('How far the sandbox advanced it; 0 in production.') }),
  score_updates: z.object({ since: moment }),
  closing: z.object({
    closed_at: moment,
    reason: z
      .string()
      .nullable()
      .describe(
        'Such as `withdrew` or `mortgage_ready`; new ones may be added. `null` while the lead is open.',
      ),
  }),
  workflow: z.object({ workflow_id: z.string().describe('Its id in Temporal.'), started_at: moment }),
  idempotency_keys: z.array(key),
  events: z.array(exportedEvent),
  deliveries: z.array(delivery),
  actions: z.array(actionShape),
} satisfies Record<ExportedPart, z.ZodType>

const described = Object.fromEntries(
  Object.entries(parts).map(([name, part]) => [name, part.describe(exportedParts[name as ExportedPart])]),
) as typeof parts

export const exportedLeadSchema = z
  .object({
    about: stringMap.describe('What each part is.'),
    exported_at: timestamp,
    ...described,
  })
  .meta({ id: 'ExportedLead' })

/** Whom the export is for: partners are not told who of staff did something, and as what details. */
export type Viewer = 'partner' | 'staff'

const time = (at: Date | null) => at && formatTimestamp(at)

/**
 * Everything that is kept of a lead, as the properties of a JSON object. What may be long is read while it is written.
 *
 * @param workflowId of its workflow in Temporal.
 */
export async function exportedLead(
  sql: Sql,
  lead: WholeLead,
  { viewer, workflowId }: { viewer: Viewer; workflowId: string },
): Promise<Record<'about' | 'exported_at' | ExportedPart, unknown>> {
  const { id, partner_id: partnerId } = lead
  const mail = await findOnboardingMail(sql, id)
  return {
    about: exportedParts,
    exported_at: formatTimestamp(new Date()),
    lead: {
      lead_id: id,
      partner_id: partnerId,
      ...eachField(requiredFields, (name) => lead.borrower?.[name] ?? null),
      ...eachField(optionalFieldNames, (name) => lead[name]),
      metadata: lead.metadata,
      status: lead.status,
      created_at: time(lead.created_at),
      updated_at: time(lead.updated_at),
    },
    onboarding_email: {
      sent_at: time(lead.onboarding_sent_at),
      not_sent_because: mail?.refused ?? null,
    },
    clock: { seconds_ahead: lead.clock_offset },
    score_updates: { since: time(lead.anchor_at) },
    closing: { closed_at: time(lead.closed_at), reason: lead.close_reason },
    workflow: { workflow_id: workflowId, started_at: time(lead.workflow_started_at) },
    idempotency_keys: (await idempotencyKeysOf(sql, partnerId, id)).map((row) => ({
      key: row.key,
      created_at: time(row.created_at),
    })),
    events: mapped(eventsOf(sql, id), eventOf),
    deliveries: mapped(deliveriesOf(sql, id), deliveryOf),
    actions: mapped(actionsOn(sql, id), (row) => actionOf(row, viewer)),
  }
}

async function* mapped<Row>(pages: AsyncIterable<Row[]>, toWire: (row: Row) => object): Pages {
  for await (const page of pages) yield page.map(toWire)
}

type RowOf<Read extends (...args: never[]) => AsyncIterable<object[]>> =
  ReturnType<Read> extends AsyncIterable<(infer Row)[]> ? Row : never

const eventOf = (row: RowOf<typeof eventsOf>) => ({
  event_id: row.event_id,
  sequence: row.sequence,
  event_name: row.event_name,
  event_payload: row.event_payload,
  created_at: time(row.created_at),
})

const deliveryOf = (row: RowOf<typeof deliveriesOf>) => ({
  sequence: row.sequence,
  event_id: row.event_id,
  state: row.state,
  body: row.body,
  next_attempt_at: time(nextAttemptOf(row)),
  settled_at: time(row.settled_at),
  attempts: mapped(row.attempts, attemptOf),
})

const attemptOf = (row: Attempt) => ({
  number: row.number,
  trigger: row.trigger,
  started_at: time(row.started_at),
  finished_at: time(row.finished_at),
  duration_ms: row.duration_ms,
  address: row.address,
  status: row.status,
  error_code: row.error_code,
  hint: row.hint,
  response_headers: row.response_headers,
  response_body: row.response_body,
})

/** A partner's own actions are by `key <id>`. */
function actionOf({ at, action, outcome, actor, detail }: RowOf<typeof actionsOn>, viewer: Viewer) {
  const by = /^key \d+$/.test(actor) ? actor : 'staff'
  return { at: time(at), action, outcome, by, ...(viewer === 'staff' && { actor, detail }) }
}
