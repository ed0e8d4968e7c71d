import { z } from 'zod'
import { auditOutcomes } from '../db/entities/audit-entry.ts'
import { mailRefusals } from '../db/entities/onboarding-mail.ts'
import { readKinds } from '../db/entities/personal-read.ts'
import { type ExportedPart, exportedParts } from '../domain/exported-lead.ts'
import { eachField, optionalFieldNames, requiredFields } from '../domain/lead-fields.ts'
import { attemptTrigger, deliveryState } from './deliveries.ts'
import { event, tellApart } from './events.ts'
import { id, timestamp } from './fields.ts'
import { leadStatus, stringMap } from './schemas.ts'

/** An exported lead on the wire, as a partner gets it. */

const moment = timestamp.nullable()
const by = z.string().describe('`key <id>` for one of your API keys, `staff` for ours.')

const attempt = z
  .object({
    number: z.int(),
    trigger: attemptTrigger,
    started_at: timestamp,
    finished_at: moment,
    duration_ms: z.int().nullable(),
    address: z.string().nullable().describe('The IP address of your endpoint that was called.'),
    status: z.int().nullable(),
    error_code: z.string().nullable(),
    hint: z.string().nullable(),
    response_headers: stringMap.nullable(),
    response_body: z
      .string()
      .nullable()
      .describe('What your endpoint answered, cut off after a few kilobytes.'),
  })
  .meta({ id: 'ExportedAttempt' })

const delivery = z
  .object({
    sequence: z.int(),
    event_id: z.string(),
    state: deliveryState,
    body: z.string(),
    next_attempt_at: moment,
    settled_at: moment,
    resend_requested_at: moment,
    attempts: z.array(attempt),
  })
  .meta({ id: 'ExportedDelivery' })

const exportedEvent = tellApart('ExportedEvent', event.extend({ position: z.int(), event_id: z.string() }))

const lead = z
  .object({
    lead_id: id,
    partner_id: id,
    ...eachField(requiredFields, () => z.string()),
    ...eachField(optionalFieldNames, () => z.string().nullable()),
    metadata: stringMap,
    status: leadStatus,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'ExportedFields' })

const key = z.object({ key: z.string(), created_at: timestamp }).meta({ id: 'ExportedIdempotencyKey' })
const read = z.object({ at: timestamp, what: z.enum(readKinds), by }).meta({ id: 'ExportedRead' })
const action = z
  .object({ at: timestamp, action: z.string(), outcome: z.enum(auditOutcomes), by })
  .meta({ id: 'ExportedAction' })

const parts = {
  lead,
  onboarding_email: z.object({
    sent_at: moment,
    due_at: moment.describe('When it may be sent, if it was not sent yet.'),
    not_sent_because: z
      .enum(mailRefusals)
      .meta({ id: 'OnboardingEmailRefusal' })
      .nullable()
      .describe(
        '`repeated`: the address got one about a lead of yours within 24 hours. `address_limit`: it got as many within 24 hours as an address may.',
      ),
  }),
  clock: z.object({ seconds_ahead: z.int() }),
  score_updates: z.object({ since: moment }),
  closing: z.object({ closed_at: moment, reason: z.string().nullable() }),
  workflow: z.object({ workflow_id: z.string(), started_at: moment }),
  idempotency_keys: z.array(key),
  events: z.array(exportedEvent),
  deliveries: z.array(delivery),
  reads: z.array(read),
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
