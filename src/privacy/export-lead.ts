import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { inSnapshot, type Sql } from '../database/sql.ts'
import { sequenceOf } from '../deliveries/delivery.ts'
import { findDeliveries } from '../deliveries/list-deliveries.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { retryLater, unknownLead } from '../http/errors.ts'
import { ownLeadId, timestamp } from '../http/fields.ts'
import { limitInFlight } from '../http/limit-in-flight.ts'
import { operation } from '../http/operation.ts'
import { leadErrors, strictBody, stringMap, success } from '../http/schemas.ts'
import { changeableFields, eachField, requiredFields } from '../leads/lead-fields.ts'
import { findLeadRecord, openBorrower } from '../leads/lead.ts'
import { SCORE_PERIOD_DAYS } from '../leads/score-dates.ts'
import { referralId } from '../temporal/names.ts'
import { formatTimestamp } from '../values.ts'

/** The parts of an exported lead, with what the export says about each. */
const parts = {
  lead: 'The borrower’s data as the partner sent it, with notes and metadata, and the status.',
  onboarding_email: 'The email that welcomes the borrower, and why it was not sent if it was not.',
  clock: 'In a sandbox, by how many seconds the lead’s clock was advanced.',
  score_updates: `The date from which score updates are counted, every ${SCORE_PERIOD_DAYS} days.`,
  closing: 'When the lead was closed, 30 days after mortgage_ready or by whom, and why.',
  workflow:
    'The lead’s workflow in Temporal. It holds ids, states and dates, and what senders put into signals; no name, address or phone number.',
  idempotency_keys: 'The Idempotency-Key of the request that created the lead, kept for 24 hours.',
  events: 'The history, oldest first.',
  deliveries:
    'The webhooks about the lead, in their order: the body that each attempt sends, and what the partner’s endpoint answered.',
  actions: 'What the partner’s keys and staff did with the lead, and when staff looked at it, oldest first.',
}

/** The part that staff get, too. */
const HOLD = 'Since when the lead is under a legal hold, and why.'

/** An export is read by people: what is in a part may grow. */
export const exportedLeadSchema = z
  .object({ about: stringMap.describe('What each other part contains.'), exported_at: timestamp })
  .catchall(z.unknown())
  .meta({ id: 'ExportedLead' })

const RETRY_SECONDS = 5

const oneAtATime = () =>
  retryLater(
    'RATE_LIMITED',
    'Another lead of yours is being exported. Exports are made one at a time.',
    RETRY_SECONDS,
  )

const schema = operation({
  operationId: 'exportLead',
  tags: ['Leads'],
  summary: 'Export all data of a lead',
  description:
    'Returns everything that we keep about a borrower, as of one moment, for example to answer the borrower’s own request. Exports are made one at a time.',
  body: strictBody({ lead_id: ownLeadId }, 'lead_id is required'),
  bodyExamples: { lead: { lead_id: 1042 } },
  response: z.object({ success, data: exportedLeadSchema }),
  responseDescription: 'All data of the lead.',
  responseExamples: {
    lead: {
      success: true,
      data: {
        about: {
          lead: 'The borrower’s data as the partner sent it, with notes and metadata, and the status.',
        },
        exported_at: '2026-03-10 09:00:00',
        lead: { lead_id: 1042, first_name: 'Ada', last_name: 'Miller', status: 'lead_received' },
      },
    },
  },
  errors: [...leadErrors, oneAtATime()],
})

type Options = Pick<RouteDependencies, 'sql' | 'encryptionKeys'>

/** POST /export-lead (extension): everything that is kept of a lead. */
export const exportLead: FastifyPluginAsyncZod<Options> = async (app, { sql, encryptionKeys }) => {
  // an export is held in memory
  const limitExports = limitInFlight(1, oneAtATime)
  app.post('/export-lead', {
    schema,
    handler: async (request, reply) => {
      const { partnerId } = request
      const { lead_id: leadId } = request.body
      request.leadId = leadId
      limitExports(partnerId, reply)
      const found = await findExport({ sql, encryptionKeys, leadId, partnerId })
      if (found === undefined) throw unknownLead()
      return { success: true as const, data: exportOnWire(found) }
    },
  })
}

interface Exporting {
  sql: Sql
  encryptionKeys: readonly Buffer[]
  leadId: number
  /** A partner gets only its own leads that are not erased, without names of staff and details of their actions. */
  partnerId?: number
}

/**
 * Everything that is kept of a lead, as it is at one moment; `undefined` if there is no such lead.
 *
 * @throws {SealError}
 */
export async function findExport({ sql, encryptionKeys, leadId, partnerId }: Exporting) {
  return inSnapshot(sql, async (snapshot) => {
    const lead = await findLeadRecord(snapshot, leadId, partnerId)
    if (lead === undefined) return undefined
    const borrower = lead.personal === null ? null : openBorrower(leadId, lead.personal, encryptionKeys)
    const hold = { since: lead.held_at, reason: lead.hold_reason, reference: lead.hold_reference }
    const isStaff = partnerId === undefined
    return {
      about: isStaff ? { ...parts, hold: HOLD } : parts,
      exported_at: new Date(),
      lead: {
        lead_id: leadId,
        partner_id: lead.partner_id,
        ...eachField(requiredFields, (name) => borrower?.[name] ?? null),
        ...eachField(changeableFields, (name) => lead[name]),
        notes: borrower?.notes ?? null,
        metadata: borrower?.metadata ?? {},
        status: lead.status,
        created_at: lead.created_at,
        updated_at: lead.updated_at,
      },
      onboarding_email:
        lead.onboarding === 'sent'
          ? { sent_at: lead.onboarding_at, not_sent_because: null }
          : { sent_at: null, not_sent_because: lead.onboarding },
      clock: { seconds_ahead: lead.clock_offset },
      score_updates: { since: lead.anchor_at },
      closing: { closed_at: lead.closed_at, reason: lead.close_reason, erased_at: lead.erased_at },
      ...(isStaff && { hold }),
      workflow: { workflow_id: referralId(leadId), started_at: lead.workflow_started_at },
      idempotency_keys: await snapshot
        .selectFrom('idempotency_keys')
        .select(['key', 'created_at'])
        .where('lead_id', '=', leadId)
        .execute(),
      events: await eventsOf(snapshot, leadId),
      deliveries: await deliveriesOf(snapshot, leadId),
      actions: await actionsOn(snapshot, leadId, isStaff),
    }
  })
}

export type LeadExport = NonNullable<Awaited<ReturnType<typeof findExport>>>

/** With all dates in the specification's format. */
export const exportOnWire = (found: LeadExport) => onWire(found) as z.output<typeof exportedLeadSchema>

function onWire(value: unknown): unknown {
  if (value instanceof Date) return formatTimestamp(value)
  if (Array.isArray(value)) return value.map(onWire)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, onWire(each)]))
}

async function eventsOf(sql: Sql, leadId: number) {
  return sql
    .selectFrom('lead_events')
    .select(['id as event_id', sequenceOf('lead_events.id').as('sequence')])
    .select(['event_name', 'event_payload', 'created_at'])
    .where('lead_id', '=', leadId)
    .where('position', '>', 0)
    .orderBy('position')
    .execute()
}

/** More than a lead can have. */
const MOST_DELIVERIES = 10_000

async function deliveriesOf(sql: Sql, leadId: number) {
  const deliveries = await findDeliveries(sql, { leadId, limit: MOST_DELIVERIES })
  const attempts = await sql
    .selectFrom('attempts')
    .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
    .select(['attempts.event_id', 'number', 'trigger', 'started_at', 'finished_at', 'duration_ms'])
    .select(['status', 'error_code', 'hint', 'response_headers', 'response_body'])
    .where('deliveries.lead_id', '=', leadId)
    .orderBy('number')
    .execute()
  const attemptsOf = Map.groupBy(attempts, (row) => row.event_id)
  return deliveries.map((row) => ({
    event_id: row.event_id,
    sequence: row.sequence,
    state: row.state,
    body: row.body,
    next_attempt_at: row.next_attempt_at,
    settled_at: row.settled_at,
    attempts: (attemptsOf.get(row.event_id) ?? []).map(({ event_id: _, ...made }) => made),
  }))
}

async function actionsOn(sql: Sql, leadId: number, isForStaff: boolean) {
  const rows = await sql
    .selectFrom('audit')
    .select(['at', 'action', 'outcome', 'actor', 'detail'])
    .where('lead_id', '=', leadId)
    .orderBy('id')
    .execute()
  return rows.map(({ actor, detail, ...row }) => {
    // a partner's own actions are by `key <id>`
    const by = /^key \d+$/.test(actor) ? actor : 'staff'
    return { ...row, by, ...(isForStaff && { actor, detail }) }
  })
}
