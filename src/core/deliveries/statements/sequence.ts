import { sql as raw } from 'kysely'

/**
 * The sequence of an event's webhook; `null` if it is not sent. A subquery, so that it is looked up for the rows of a page
 * alone.
 *
 * @param eventId the column that has the event's id.
 */
export const sequenceOf = (eventId: string) =>
  raw<number | null>`(select sequence from deliveries where event_id = ${raw.ref(eventId)})`

/** The bytes of its webhook; `null` if it is not sent, or will not be. */
export const bodyOf = (eventId: string) =>
  raw<
    string | null
  >`(select body from deliveries where event_id = ${raw.ref(eventId)} and state <> 'canceled')`
