import { sql as raw } from 'kysely'
import { newUuid } from '../../values/uuid.ts'
import type { AttemptTrigger } from '../decisions/delivery.ts'
import { isLiveSecret, openSecrets, type StoredSecret } from '../../endpoints/statements/secrets.ts'
import { compiledOnce } from '../../database/compiled-once.ts'

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
