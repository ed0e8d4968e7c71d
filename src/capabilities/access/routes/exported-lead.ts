import { z } from 'zod'
import { auditOutcomes } from '../../../core/audit/tables/audit-entry.ts'
import { mailRefusals } from '../../../core/leads/tables/onboarding-mail.ts'
import { type ExportedPart, exportedParts } from '../decisions/exported-lead.ts'
import { eachField, optionalFieldNames, requiredFields } from '../../../core/leads/decisions/lead-fields.ts'
import { attemptTrigger, deliveryState } from '../../../core/deliveries/routes/deliveries.ts'
import { eventShape, eventSchema } from '../../../core/http/events.ts'
import { timestamp } from '../../../core/http/fields.ts'
import { leadStatus, stringMap } from '../../../core/http/schemas.ts'
import {
  attemptNumber,
  errorCode,
  httpStatus,
  leadFieldMeanings,
  ofEvent,
  ofLead,
  ofPartner,
  webhookSequence,
  webhookSequenceOrNone,
} from '../../../core/http/response-fields.ts'

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

const lead = z
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
const action = z
  .object({
    at: timestamp,
    action: z.string().describe('What was done, for example `milestone` or `lead.close`.'),
    outcome: z.enum(auditOutcomes).describe('How it went.'),
    by: z.string().describe('`key <id>` for one of your API keys, `staff` for ours.'),
  })
  .meta({ id: 'ExportedAction' })

const parts = {
  lead,
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
  actions: z.array(action),
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
