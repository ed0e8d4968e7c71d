import { type Expression, sql as raw } from 'kysely'
import { newUuid } from '../../values/uuid.ts'
import { type AttemptTrigger, LEASE_MS } from '../decisions/delivery.ts'
import { openSecrets, type StoredSecret } from '../../endpoints/statements/secrets.ts'
import type { Sql } from '../../database/orm.ts'

/** An open attempt: the process that began it sends it. */
export interface StartedAttempt extends Delivery {
  kind: 'send'
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

/** Locks a partner's endpoint: what an attempt needs to know of its row. */
export function endpointOf(trx: Sql, partnerId: number | Expression<number>) {
  return trx
    .selectFrom('endpoints')
    .select(['id', 'url', 'paused_by as pausedBy', 'revision', 'blocked_until as blockedUntil'])
    .select('paced_until as pacedUntil')
    .where('partner_id', '=', partnerId)
    .forNoKeyUpdate()
}

interface Endpoint {
  url: string | null
  revision: number
  secrets: readonly StoredSecret[]
}

/** A new attempt: its row, without its number, and what to send once that is written; or why a secret cannot be read. */
export function newAttempt(
  { eventId, leadId, sequence, partnerId, body, requestId }: Delivery,
  { url: stored, revision, secrets: sealed }: Endpoint,
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
  const beganAt = performance.now()
  const delivery = { eventId, leadId, sequence, partnerId, body, requestId }
  const request = { trigger, url, secrets: read.secrets, beganAt }
  const started: StartedAttempt = { kind: 'send', attemptId, ...delivery, ...request }
  return { row, started }
}

export type AttemptRow = Extract<ReturnType<typeof newAttempt>, { row: unknown }>['row']

/** The lease of an attempt that begins now. */
export function leaseOf(attemptId: string | null) {
  const end = raw<Date>`clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'`
  return { lease: attemptId, leased_until: attemptId === null ? null : end }
}
