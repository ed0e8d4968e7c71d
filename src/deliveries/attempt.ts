import { defineEntity, p } from '@mikro-orm/core'
import { type Expression, sql as raw } from 'kysely'
import { instant } from '../database/columns.ts'
import type { Sql } from '../database/sql.ts'
import type { EndpointPauser } from '../endpoints/endpoint-state.ts'
import { isLiveSecret, openSecrets, type StoredSecret } from '../endpoints/secrets.ts'
import { newUuid } from '../values.ts'
import { type AttemptTrigger } from './delivery-states.ts'

/** One HTTP request of a delivery, written before it is sent and completed after. */
export const Attempt = defineEntity({
  name: 'Attempt',
  tableName: 'attempts',
  properties: {
    /** `att_<uuidv7>` */
    id: p.text().primary(),
    eventId: p.text(),
    /** Without a foreign key, which would lock the partner's row for every attempt: the event has one. */
    partnerId: p.integer(),
    /** 1 for the delivery's first. */
    number: p.integer(),
    trigger: p.text().$type<AttemptTrigger>(),
    /** The endpoint's round when the attempt began. */
    round: p.integer(),
    url: p.text(),
    startedAt: instant().defaultRaw('clock_timestamp()'),
    finishedAt: instant().nullable(),
    durationMs: p.integer().nullable(),
    status: p.integer().nullable(),
    errorCode: p.text().nullable(),
    hint: p.text().nullable(),
    responseHeaders: p.json<Record<string, string>>().nullable(),
    responseBody: p.text().nullable(),
    /** The `webhook-timestamp` that was sent, and `webhook-signature`; null while it is in progress, or if it was interrupted. */
    signedAt: instant().nullable(),
    signature: p.text().nullable(),
  },
})

/** How many attempts of a delivery partners are shown. */
const SHOWN = 20

/**
 * The latest attempts of each event's delivery, oldest first.
 *
 * @param withBodies whether to read the bodies that the endpoint answered.
 */
export async function latestAttempts(sql: Sql, eventIds: string[], withBodies: boolean) {
  const rows = await sql
    .selectFrom(raw<{ event: string }>`unnest(${eventIds}::text[])`.as<'wanted'>(raw`wanted (event)`))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('attempts')
          .select(['event_id', 'number', 'trigger', 'url', 'started_at', 'duration_ms', 'status'])
          .select(['error_code', 'hint', 'signed_at', 'signature', 'response_headers'])
          .$if(withBodies, (query) => query.select('response_body'))
          .whereRef('attempts.event_id', '=', 'wanted.event')
          .orderBy('number', 'desc')
          .limit(SHOWN)
          .as('latest'),
      (join) => join.onTrue(),
    )
    .selectAll('latest')
    .orderBy('number')
    .execute()
  return Map.groupBy(rows, (row) => row.event_id)
}

/** What an attempt sends, and for whom. */
interface AttemptedDelivery {
  eventId: string
  leadId: number
  sequence: number
  partnerId: number
  body: string
  /** The request that caused the event. */
  requestId: string | null
  /** Whether the webhook is settled, and sent again. */
  isRepeat: boolean
  /** Which of the delivery's attempts it is: 1 for the first. */
  number: number
}

/** An attempt whose lease this process holds: it makes the request. */
export interface StartedAttempt extends AttemptedDelivery {
  attemptId: string
  trigger: AttemptTrigger
  url: string
  /** The live secrets in plain text, the newest first. */
  secrets: string[]
  /** Just before the lease began, on this process's monotonic clock, in milliseconds. */
  beganAt: number
}

/** What an attempt needs to know of its endpoint. */
interface EndpointToCall {
  url: string | null
  pausedBy: EndpointPauser | null
  round: number
  secrets: StoredSecret[]
}

/**
 * The endpoint in a query of `endpoints`: in one statement, so that URL and secrets belong together. Nothing is locked: the
 * endpoint may change until the request, and during it.
 */
export const endpointToCall = raw<EndpointToCall>`json_build_object(
  'url', url, 'pausedBy', paused_by, 'round', endpoints.round, 'secrets', array(
    select array[id::text, ciphertext] from endpoint_secrets
    where endpoint_secrets.partner_id = endpoints.partner_id and ${isLiveSecret} order by id desc
  )
)`

/**
 * The part of a statement that inserts a new attempt, if the part `delivery` has written its delivery.
 *
 * @param attempt the row as JSON; null for none.
 */
export const insertAttempt = (attempt: Expression<string | null>) => raw`
  insert into attempts (id, event_id, partner_id, number, trigger, url, round)
  select attempt.* from delivery join json_to_record(${attempt}) as attempt
    (id text, event_id text, partner_id int, number int, trigger text, url text, round int)
    on attempt.event_id = delivery.event_id`

/** A new attempt: its row, and the request to make once the row is written; or why a secret cannot be read. */
export function newAttempt(
  delivery: AttemptedDelivery,
  endpoint: EndpointToCall,
  trigger: AttemptTrigger,
  encryptionKeys: readonly Buffer[],
) {
  const opened = openSecrets(endpoint.secrets, encryptionKeys)
  if ('unreadable' in opened) return opened
  const { eventId: event_id, partnerId: partner_id, number } = delivery
  const attemptId = `att_${newUuid()}`
  // nothing is sent to an endpoint without one
  const url = endpoint.url ?? ''
  const row = { id: attemptId, event_id, partner_id, number, trigger, url, round: endpoint.round }
  const request = { attemptId, trigger, url, secrets: opened.secrets, beganAt: performance.now() }
  const started: StartedAttempt = { ...delivery, ...request }
  return { row, started }
}

export type NewAttempt = Extract<ReturnType<typeof newAttempt>, { row: object }>['row']
