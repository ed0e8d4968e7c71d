import { sql as raw } from 'kysely'
import { decideMilestones, type RecordingDecision } from './recording-decision.ts'
import type { MilestoneItem, Recording } from './referral-state.ts'
import { endOf } from './score-dates.ts'
import { newAttempt, readEndpoint, type StartedAttempt } from '../deliveries/attempt.ts'
import { jsonb, type Sql } from '../database/sql.ts'
import type { WebhookBody } from '../webhooks/body.ts'
import { leadUpdatedAt, type LockedLead, lockLead } from './lead.ts'
import { newEventId } from './new-lead.ts'

export interface RecordingOptions {
  opening?: Opening | undefined
  /** Whether milestones may be simulated, and events are limited. */
  isSandbox?: boolean
}

/** Lets a recording open the first attempt at the next webhook, if all of the lead's webhooks up to `after` are settled. */
export interface Opening {
  after: number
  encryptionKeys: readonly Buffer[]
}

interface Recorded {
  partnerId: number
  recording: Recording
  /** The attempt that was opened with it, for the caller to make now. */
  started?: StartedAttempt
}

/**
 * Records milestones of a lead: events, status, positions, sequences and deliveries in one transaction.
 * Repeated with the same items it changes nothing and answers the same.
 *
 * Begins with the lead's row lock, so that events get their positions, and transactions their ids, in the
 * order in which they become visible.
 *
 * @param options `opening` opens the first attempt at the next webhook, if its endpoint is active.
 * @returns `undefined` when there is no such lead.
 */
export async function recordMilestones(
  sql: Sql,
  leadId: number,
  items: readonly MilestoneItem[],
  toBody: WebhookBody,
  { opening, isSandbox = false }: RecordingOptions = {},
): Promise<Recorded | undefined> {
  return sql.transaction().execute(async (trx) => {
    const lead = await lockLead(trx, leadId, items)
    if (lead === undefined) return undefined
    const decision = decideMilestones(lead, items, { newEventId, isSandbox })
    const recording = answerOf(lead, decision)
    const { partnerId } = lead
    if (decision.events.length === 0) return { partnerId, recording }
    const rows = rowsOf(lead, decision, toBody)
    const isNext = lead.nextSequence - 1 === opening?.after
    const next = isNext ? rows.deliveries[0] : undefined
    const opened = next && opening && (await openFirst(trx, next, opening.encryptionKeys))
    await append(trx, lead.id, decision, rows, opened)
    return { partnerId, recording, ...(opened && { started: opened.started }) }
  })
}

function rowsOf(
  { id: leadId, partnerId, partnerLeadId }: LockedLead,
  { events }: RecordingDecision,
  toBody: WebhookBody,
) {
  const ids = { lead_id: leadId, partner_id: partnerId }
  return {
    events: events.map((event) => ({
      ...ids,
      id: event.eventId,
      position: event.position,
      event_name: event.name,
      event_payload: jsonb(event.payload),
      dedupe_key: event.dedupeKey,
      created_at: event.createdAt,
    })),
    deliveries: events.flatMap(({ eventId, name, payload, createdAt, sequence, requestId }) => {
      if (sequence === undefined) return []
      const facts = { eventId, eventName: name, eventPayload: payload, createdAt, sequence }
      const body = toBody({ ...facts, leadId, partnerLeadId })
      return { ...ids, event_id: eventId, sequence, body, request_id: requestId }
    }),
  }
}

/** Opens the first attempt at a delivery in the transaction that writes it; `undefined` if it cannot be made now. */
async function openFirst(
  trx: Sql,
  delivery: ReturnType<typeof rowsOf>['deliveries'][number],
  encryptionKeys: readonly Buffer[],
) {
  const { event_id: eventId, lead_id: leadId, partner_id: partnerId, request_id: requestId } = delivery
  const endpoint = await readEndpoint(trx, { partnerId, leadId })
  if (endpoint.url === null || endpoint.pausedBy !== null) return undefined
  const facts = { ...delivery, eventId, leadId, partnerId, requestId, isRepeat: false }
  const opened = newAttempt(facts, endpoint, 'scheduled', encryptionKeys)
  return 'unreadable' in opened ? undefined : opened
}

/** Writes all of it in one statement: each further one is a round trip while the lead is locked. */
async function append(
  trx: Sql,
  leadId: number,
  { lead }: RecordingDecision,
  rows: ReturnType<typeof rowsOf>,
  opened: Awaited<ReturnType<typeof openFirst>>,
): Promise<void> {
  const deliveries = rows.deliveries.map((row) => ({
    ...row,
    next_attempt_at: raw<Date>`clock_timestamp()`,
    lease: opened?.row.event_id === row.event_id ? opened.row.id : null,
  }))
  let query = trx.with('recorded', (cte) => cte.insertInto('lead_events').values(rows.events))
  if (deliveries.length > 0)
    query = query.with('queued', (cte) => cte.insertInto('deliveries').values(deliveries))
  if (opened !== undefined)
    query = query.with('opened', (cte) => cte.insertInto('attempts').values({ ...opened.row, number: 1 }))
  await query
    .updateTable('leads')
    .set({
      status: lead.status,
      next_position: lead.nextPosition,
      next_sequence: lead.nextSequence,
      anchor_at: lead.anchorAt,
      last_event_at: lead.lastEventAt,
      updated_at: leadUpdatedAt,
    })
    .where('id', '=', leadId)
    .execute()
}

function answerOf({ clockOffset, isClosed }: LockedLead, { outcomes, lead }: RecordingDecision): Recording {
  return {
    outcomes,
    status: lead.status,
    anchor: lead.anchorAt?.getTime() ?? null,
    endsAt: endOf(lead.readyAt),
    offset: clockOffset * 1000,
    last: lead.nextSequence - 1,
    lastEventAt: lead.lastEventAt.getTime(),
    closed: isClosed,
  }
}
