import { sql as raw } from 'kysely'
import { decideMilestones, type LeadStanding, type RecordingDecision } from './recording-decision.ts'
import type { MilestoneItem, Recording } from './referral-state.ts'
import { endOf } from './score-dates.ts'
import { endpointToCall, insertAttempt, newAttempt, type StartedAttempt } from '../deliveries/attempt.ts'
import { compiledOnce, type Sql } from '../database/sql.ts'
import type { WebhookBody } from '../webhooks/body.ts'
import { isClosedOrErased, leadNow, leadUpdatedAt } from './lead.ts'
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
 * Records milestones of a lead: events, status, positions, sequences and deliveries. Repeated with the same items it changes
 * nothing and answers the same.
 *
 * One statement reads where the lead stands, and another writes what was decided from that, unless the lead changed
 * meanwhile: then both are repeated.
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
  for (;;) {
    const [lead] = await selectLead(sql, { leadId, keys: items.map((item) => item.dedupeKey) })
    if (lead === undefined) return undefined
    const decision = decideMilestones(lead, items, { newEventId, isSandbox })
    const answer = { partnerId: lead.partnerId, recording: answerOf(lead, decision) }
    if (decision.events.length === 0) return answer
    const deliveries = deliveriesOf(lead, decision, toBody)
    const isNext = lead.nextSequence - 1 === opening?.after
    const opened = isNext ? openFirst(lead, deliveries[0], opening.encryptionKeys) : undefined
    if (await append(sql, lead, decision, deliveries, opened))
      return { ...answer, ...(opened && { started: opened.started }) }
  }
}

/**
 * Reads where a lead stands, which of the milestones with these `keys` are recorded, and where its webhooks go. Nothing is
 * locked: whoever acts on it writes only if the lead's row still has the `version`, the transaction that wrote it.
 */
const selectLead = compiledOnce<{ leadId: number; keys: string[] }>()((sql, value) =>
  sql
    .selectFrom('leads')
    .innerJoin('endpoints', 'endpoints.partner_id', 'leads.partner_id')
    .select(['id', 'leads.partner_id as partnerId', 'partner_lead_id as partnerLeadId', 'status'])
    .select(['next_position as nextPosition', 'next_sequence as nextSequence', 'anchor_at as anchorAt'])
    .select(['clock_offset as clockOffset', 'last_event_at as lastEventAt'])
    .select([isClosedOrErased.as('isClosed'), leadNow.as('now'), endpointToCall.as('endpoint')])
    .select(raw<string>`leads.xmin::text`.as('version'))
    .select(
      raw<number>`(
        select count(*)::int from lead_events where lead_id = leads.id and event_name = 'score_update'
      )`.as('scoreUpdates'),
    )
    .select(
      raw<Date | null>`case when status = 'mortgage_ready' then (
        select created_at from lead_events where lead_id = leads.id and dedupe_key = 'mortgage_ready'
      ) end`.as('readyAt'),
    )
    .select(
      raw<Record<string, string>>`(
        select coalesce(json_object_agg(dedupe_key, id), '{}') from lead_events
        where lead_id = leads.id and dedupe_key = any(${value('keys')})
      )`.as('known'),
    )
    .where('leads.id', '=', value('leadId')),
)

type StoredLead = Awaited<ReturnType<typeof selectLead>>[number]

function deliveriesOf(
  { id: leadId, partnerLeadId }: StoredLead,
  { events }: RecordingDecision,
  toBody: WebhookBody,
) {
  return events.flatMap(({ eventId, name, payload, createdAt, sequence, requestId }) => {
    if (sequence === undefined) return []
    const facts = { eventId, eventName: name, eventPayload: payload, createdAt, sequence }
    return { eventId, sequence, body: toBody({ ...facts, leadId, partnerLeadId }), requestId }
  })
}

type NewDelivery = ReturnType<typeof deliveriesOf>[number]

/** Opens the first attempt at a delivery that is written with it; `undefined` if it cannot be made now. */
function openFirst(
  { id: leadId, partnerId, endpoint }: StoredLead,
  delivery: NewDelivery | undefined,
  encryptionKeys: readonly Buffer[],
) {
  if (delivery === undefined || endpoint.url === null || endpoint.pausedBy !== null) return undefined
  const opened = newAttempt(
    { ...delivery, leadId, partnerId, isRepeat: false, number: 1 },
    endpoint,
    'scheduled',
    encryptionKeys,
  )
  return 'unreadable' in opened ? undefined : opened
}

/**
 * Writes all of it, unless the lead's row has another version. Whoever waits for that row has its transaction's id already,
 * and writes nothing if another came first: so events become visible in the order of their transactions, as list-events needs.
 */
async function append(
  sql: Sql,
  { id, version }: StoredLead,
  { lead, events }: RecordingDecision,
  deliveries: readonly NewDelivery[],
  opened: ReturnType<typeof openFirst>,
): Promise<boolean> {
  const leased = deliveries.map((row, index) => ({ ...row, lease: index === 0 ? opened?.row.id : null }))
  const written = await writeAll(sql, {
    id,
    version,
    ...lead,
    events: JSON.stringify(events),
    deliveries: JSON.stringify(leased),
    attempt: opened === undefined ? null : JSON.stringify(opened.row),
  })
  return written.length > 0
}

type Written = LeadStanding &
  Record<'version' | 'events' | 'deliveries', string> & { id: number; attempt: string | null }

const writeAll = compiledOnce<Written>()(
  (_sql, value) =>
    raw<object>`
    with lead as (
      update leads set status = ${value('status')}, next_position = ${value('nextPosition')},
        next_sequence = ${value('nextSequence')}, anchor_at = ${value('anchorAt')},
        last_event_at = ${value('lastEventAt')}, updated_at = ${leadUpdatedAt}
      where id = ${value('id')} and xmin = ${value('version')}::xid returning id, partner_id
    ), recorded as (
      insert into lead_events (lead_id, partner_id, id, position, event_name, event_payload, dedupe_key, created_at)
      select lead.*, event.* from lead cross join json_to_recordset(${value('events')}) as event
        ("eventId" text, position int, name text, payload jsonb, "dedupeKey" text, "createdAt" timestamptz)
    ), delivery as (
      insert into deliveries (lead_id, partner_id, event_id, sequence, body, request_id, lease, next_attempt_at)
      select lead.*, new.*, clock_timestamp() from lead cross join json_to_recordset(${value('deliveries')}) as new
        ("eventId" text, sequence int, body text, "requestId" uuid, lease text)
      returning event_id
    ), opened as (${insertAttempt(value('attempt'))})
    select from lead`,
)

function answerOf({ clockOffset, isClosed }: StoredLead, { outcomes, lead }: RecordingDecision): Recording {
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
