import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { instant, oneOf } from '../database/columns.ts'
import { compiledOnce, type Sql } from '../database/sql.ts'
import { v7 as newUuid } from 'uuid'
import { isLiveSecret, openSecrets, type StoredSecret } from '../endpoints/secrets.ts'
import { LeadEvent } from '../leads/lead-event.ts'
import { type AttemptTrigger, attemptTriggers } from './delivery-states.ts'

/** One HTTP request of a delivery, written before it is sent and completed after. */
export const Attempt = defineEntity({
  name: 'Attempt',
  tableName: 'attempts',
  properties: {
    /** `att_<uuidv7>` */
    id: p.text().primary(),
    event: () => p.manyToOne(LeadEvent).deleteRule('restrict'),
    /** Its event's, which has the foreign key: a second one would lock the partner's row for every attempt. */
    partnerId: p.integer(),
    /** 1 for the delivery's first. */
    number: p.integer(),
    trigger: p.text().$type<AttemptTrigger>(),
    /** The endpoint's revision that was called. */
    endpointRevision: p.integer(),
    url: p.text(),
    startedAt: instant().defaultRaw('clock_timestamp()'),
    finishedAt: instant().nullable(),
    durationMs: p.integer().nullable(),
    address: p.text().nullable(),
    status: p.integer().nullable(),
    errorCode: p.text().nullable(),
    hint: p.text().nullable(),
    responseHeaders: p.json<Record<string, string>>().nullable(),
    responseBody: p.text().nullable(),
    /** The `webhook-timestamp` that was sent, and `webhook-signature`; null while it is in progress, or if it was interrupted. */
    signedAt: instant().nullable(),
    signature: p.text().nullable(),
    nextAttemptAt: instant().nullable(),
  },
  checks: [{ name: 'attempts_trigger_check', expression: oneOf('trigger', attemptTriggers) }],
  uniques: [{ name: 'attempts_number_unique', properties: ['event', 'number'] }],
  indexes: [{ name: 'attempts_partner_id_index', properties: ['partnerId', 'id'] }],
})

/** The latest attempts of each delivery, as partners are shown them. */
const ATTEMPTS = 20

/** Events as a table, to which the attempts of each are joined as far as they are wanted. */
const wanted = (eventIds: string[]) =>
  raw<{ event: string }>`unnest(${eventIds}::text[])`.as<'wanted'>(raw`wanted (event)`)

/**
 * Attempts of deliveries by event, in their order; of each delivery the latest twenty, and no others are read.
 *
 * @param withBodies whether to read what the endpoint answered in full.
 */
export async function latestAttempts(sql: Sql, eventIds: string[], withBodies = false) {
  if (eventIds.length === 0) return new Map<string, never>()
  const rows = await sql
    .selectFrom(wanted(eventIds))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('attempts')
          .select(['event_id', 'number', 'trigger', 'started_at', 'duration_ms', 'status'])
          .select(['error_code', 'hint', 'url', 'response_headers', 'signed_at', 'signature'])
          .$if(withBodies, (query) => query.select('response_body'))
          .whereRef('attempts.event_id', '=', 'wanted.event')
          .orderBy('number', 'desc')
          .limit(ATTEMPTS)
          .as('latest'),
      (join) => join.onTrue(),
    )
    .selectAll('latest')
    .orderBy('number')
    .execute()
  return Map.groupBy(rows, (row) => row.event_id)
}

/** An open attempt: the process that began it sends it. */
export interface StartedAttempt extends Delivery {
  attemptId: string
  trigger: AttemptTrigger
  url: string
  /** The live secrets in plain text, the newest first. */
  secrets: string[]
  /** Just before the lease began, on this process's monotonic clock, in milliseconds. */
  beganAt: number
}

interface Delivery {
  eventId: string
  leadId: number
  sequence: number
  partnerId: number
  body: string
  /** The request that caused the event. */
  requestId: string | null
}

/**
 * What an attempt at a webhook of a locked lead or delivery needs to know of its endpoint: in one statement, so that URL and
 * secrets belong together. It locks nothing: a change of the endpoint comes before the request, or during it.
 */
export const readEndpoint = compiledOnce<{ partnerId: number; leadId: number }>()((sql, value) =>
  sql
    .selectFrom('endpoints')
    .select(['id', 'url', 'paused_by as pausedBy', 'revision', 'round'])
    .select(
      raw<StoredSecret[]>`array(
        select array[id::text, ciphertext] from endpoint_secrets
        where endpoint_id = endpoints.id and ${isLiveSecret} order by id desc
      )`.as('secrets'),
    )
    .select(raw<Date>`clock_timestamp()`.as('now'))
    .select(
      raw<boolean>`exists (select from leads where id = ${value('leadId')} and erased_at is not null)`.as(
        'isErased',
      ),
    )
    .where('partner_id', '=', value('partnerId')),
)

export type CalledEndpoint = Awaited<ReturnType<typeof readEndpoint>>[number]

/** A new attempt: its row, without its number, and what to send once that is written; or why a secret cannot be read. */
export function newAttempt(
  { eventId, leadId, sequence, partnerId, body, requestId }: Delivery,
  { url: stored, revision, secrets: sealed }: CalledEndpoint,
  trigger: AttemptTrigger,
  encryptionKeys: readonly Buffer[],
) {
  const read = openSecrets(sealed, encryptionKeys)
  if ('unreadable' in read) return read
  const attemptId = `att_${newUuid()}`
  const ids = { id: attemptId, event_id: eventId, partner_id: partnerId }
  // nothing is sent to an endpoint without one
  const url = stored ?? ''
  const row = { ...ids, trigger, endpoint_revision: revision, url }
  const delivery = { eventId, leadId, sequence, partnerId, body, requestId }
  const request = { trigger, url, secrets: read.secrets, beganAt: performance.now() }
  const started: StartedAttempt = { attemptId, ...delivery, ...request }
  return { row, started }
}

export type AttemptRow = Extract<ReturnType<typeof newAttempt>, { row: unknown }>['row']
