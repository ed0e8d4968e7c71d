import { z } from 'zod'
import { LARGEST_ID } from '../values.ts'
import { EVENT_ID, numberOr } from './fields.ts'

/**
 * The cursors of lists: `next` in a response, `after` in the next request. Only what a response can have held is accepted,
 * so that PostgreSQL gets no number beyond its type, or in another notation.
 */

const NOT_OURS = 'must be the next of an earlier response'
/** In place of a list-events cursor: after all events so far. */
export const NOW = 'now'

/** Epoch, transaction, lead and position. Without leading zeros: PostgreSQL reads a transaction id that has them as octal. */
const FEED = /^(0|[1-9]\d{0,9})-(0|[1-9]\d{0,18})-(0|[1-9]\d{0,9})-(0|[1-9]\d{0,9})$/

/** list-events: the place of the last event. */
export const feedCursor = z
  .string('must be a string')
  .refine((cursor) => cursor === NOW || readFeedCursor(cursor) !== undefined, `${NOT_OURS}, or ${NOW}`)
  .meta({ pattern: `^${NOW}$|${FEED.source}` })

/** list-leads: the last lead. */
export const leadCursor = z
  .int({ error: numberOr(NOT_OURS) })
  .min(1, NOT_OURS)
  .max(LARGEST_ID, NOT_OURS)

/** get-deliveries: the last event. */
export const eventCursor = z.string('must be a string').regex(EVENT_ID, NOT_OURS)

/** A place in a partner's feed of events: after this event. */
export interface FeedPosition {
  epoch: number
  txid: string
  lead_id: number
  position: number
}

export function writeFeedCursor({ epoch, txid, lead_id, position }: FeedPosition): string {
  return `${epoch}-${txid}-${lead_id}-${position}`
}

/** @returns `undefined` for `now`, and for what no response has held. */
export function readFeedCursor(cursor: string): FeedPosition | undefined {
  const [, epoch, txid = '', leadId, position] = FEED.exec(cursor) ?? []
  const place = { epoch: Number(epoch), txid, lead_id: Number(leadId), position: Number(position) }
  return [place.epoch, place.lead_id, place.position].every((part) => part <= LARGEST_ID) ? place : undefined
}
