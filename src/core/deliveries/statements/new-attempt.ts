import { sql as raw } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import { type AttemptTrigger, LEASE_MS } from '../decisions/delivery.ts'
import type { StoredSecret } from '../../endpoints/statements/secrets.ts'
import type { Sql } from '../../database/orm.ts'

export interface StartedAttempt {
  kind: 'send'
  attemptId: string
  eventId: string
  trigger: AttemptTrigger
  url: string
  body: string
  /** The live secrets in plain text, the newest first. */
  secrets: string[]
  /** Just before the lease began, on this process's monotonic clock, in milliseconds. */
  beganAt: number
}

/** Opens stored secrets, or says why it cannot. */
export type ReadSecrets = (stored: readonly StoredSecret[]) => { secrets: string[] } | { unreadable: string }

export interface AttemptTools {
  random: () => number
  readSecrets: ReadSecrets
}

/** Locks a partner's endpoint: what an attempt needs to know of its row. */
export function endpointOf(trx: Sql, partnerId: number) {
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
  { eventId, partnerId, body }: { eventId: string; partnerId: number; body: string },
  { url, revision, secrets: stored }: Endpoint,
  trigger: AttemptTrigger,
  readSecrets: ReadSecrets,
) {
  const read = readSecrets(stored)
  if ('unreadable' in read) return read
  const attemptId = `att_${uuidv7()}`
  const ids = { id: attemptId, event_id: eventId, partner_id: partnerId }
  const row = { ...ids, trigger, endpoint_revision: revision }
  const beganAt = performance.now()
  const request = { eventId, trigger, url: url ?? '', body, secrets: read.secrets, beganAt }
  const started: StartedAttempt = { kind: 'send', attemptId, ...request }
  return { row, started }
}

export type AttemptRow = Extract<ReturnType<typeof newAttempt>, { row: unknown }>['row']

/** The lease of an attempt that begins now. */
export function leaseOf(attemptId: string | null) {
  const end = raw<Date>`clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'`
  return { lease: attemptId, leased_until: attemptId === null ? null : end }
}
