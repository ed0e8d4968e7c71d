import { decideAttempt, type DeliveryFacts } from '../decisions/attempt-decision.ts'
import { readUnderLock } from '../../endpoints/statements/under-lock.ts'
import { compiledOnce } from '../../database/compiled-once.ts'
import type { Sql } from '../../database/orm.ts'
import { type AttemptRow, endpointOf, newAttempt, type StartedAttempt } from './new-attempt.ts'

export interface OpenedFirst {
  /** The attempt's row, to be written with its delivery. */
  attempt: AttemptRow & { number: number }
  started: StartedAttempt
}

/** A delivery that is not written yet. */
const NEW: Omit<DeliveryFacts, 'nextAttemptAt'> = {
  state: 'pending',
  failures: 0,
  leasedUntil: null,
  resendRequestedAt: null,
  interruptions: 0,
}

/** The delivery that is written with its first attempt. */
interface NewDelivery {
  event_id: string
  lead_id: number
  sequence: number
  partner_id: number
  body: string
  request_id: string | null
}

const lockFree = compiledOnce<{ partnerId: number }>()((sql, value) =>
  endpointOf(sql, value('partnerId'))
    .where('state', '=', 'active')
    .where('paced_until', 'is', null)
    .skipLocked(),
)

/**
 * Opens the first attempt at a delivery in the transaction that writes it. `undefined`: the endpoint cannot be called
 * right now, or it is locked, and recording must not wait for that.
 */
export async function openFirst(
  trx: Sql,
  {
    event_id: eventId,
    lead_id: leadId,
    partner_id: partnerId,
    sequence,
    body,
    request_id: requestId,
  }: NewDelivery,
  encryptionKeys: readonly Buffer[],
): Promise<OpenedFirst | undefined> {
  const [endpoint] = await lockFree(trx, { partnerId })
  if (endpoint === undefined) return undefined
  const locked = { ...endpoint, ...(await readUnderLock(trx, { id: endpoint.id, partnerId })) }
  const { now } = locked
  const facts = { ...NEW, nextAttemptAt: now }
  const decision = decideAttempt(facts, locked, 'scheduled', { now, random: Math.random })
  if (decision.kind !== 'send') return undefined
  const delivery = { eventId, leadId, sequence, partnerId, body, requestId }
  const opened = newAttempt(delivery, locked, 'scheduled', encryptionKeys)
  if ('unreadable' in opened) return undefined
  return { attempt: { ...opened.row, number: 1 }, started: opened.started }
}
