import { z } from 'zod'
import type { FeedPosition } from '../leads/event-feed.ts'
import { LARGEST_ID } from '../values.ts'
import { EVENT_ID, numberOr } from './fields.ts'

/**
 * The places at which lists continue: what `next` of a response holds, and `after` of the next request takes. Only what a
 * response can have held is taken, so that PostgreSQL gets no number beyond its type, or in another notation.
 */

const NOT_OURS = 'must be the next of an earlier response'
/** Instead of a cursor of list-events: after all events that there are. */
export const NOW = 'now'

const LARGEST_INT4 = BigInt(LARGEST_ID)
/** Transaction ids are unsigned. */
const LARGEST_XID8 = 2n ** 64n - 1n
/** The parts of a cursor of list-events, in their order. */
const LARGEST_PARTS = [LARGEST_INT4, LARGEST_XID8, LARGEST_INT4, LARGEST_INT4]
/** Without leading zeros: PostgreSQL reads a transaction id that has them as octal. */
const DECIMAL = /^(?:0|[1-9]\d{0,19})$/

/** list-events: epoch, transaction, lead and position of the last event. */
export const feedCursor = z
  .string('must be a string')
  .refine((cursor) => cursor === NOW || partsOf(cursor) !== undefined, `${NOT_OURS}, or ${NOW}`)
  .meta({ pattern: String.raw`^(?:now|(?:0|[1-9]\d{0,9})-(?:0|[1-9]\d{0,19})(?:-(?:0|[1-9]\d{0,9})){2})$` })

/** list-leads: the last lead. */
export const leadCursor = z
  .int({ error: numberOr(NOT_OURS) })
  .min(1, NOT_OURS)
  .max(LARGEST_ID, NOT_OURS)

/** get-deliveries: the last event. */
export const eventCursor = z.string('must be a string').regex(EVENT_ID, NOT_OURS)

export function writeFeedCursor({ epoch, txid, lead_id, position }: FeedPosition): string {
  return `${epoch}-${txid}-${lead_id}-${position}`
}

/** @param cursor that `feedCursor` took, but not `now`. */
export function readFeedCursor(cursor: string): FeedPosition {
  const [epoch = '', txid = '', leadId = '', position = ''] = partsOf(cursor) ?? []
  return { epoch: Number(epoch), txid, lead_id: Number(leadId), position: Number(position) }
}

function partsOf(cursor: string): string[] | undefined {
  const parts = cursor.split('-', LARGEST_PARTS.length + 1)
  const isInRange = (part: string, index: number) =>
    DECIMAL.test(part) && BigInt(part) <= (LARGEST_PARTS[index] ?? 0n)
  return parts.length === LARGEST_PARTS.length && parts.every(isInRange) ? parts : undefined
}
