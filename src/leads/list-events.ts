import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { setTimeout as delay } from 'node:timers/promises'
import { sql as raw } from 'kysely'
import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import { bodyOf, sequenceOf } from '../deliveries/delivery.ts'
import { feedCursor, type FeedPosition, NOW, readFeedCursor, writeFeedCursor } from '../http/cursors.ts'
import { ApiError, invalidRequest, retryLater } from '../http/errors.ts'
import { flag, integer } from '../http/fields.ts'
import { limitInFlight } from '../http/limit-in-flight.ts'
import { operation } from '../http/operation.ts'
import {
  ofEvent,
  ofLead,
  pageLimit,
  strictBody,
  success,
  webhookSequenceOrNone,
  yourLeadId,
} from '../http/schemas.ts'
import { formatTimestamp } from '../values.ts'
import { eventSchema, eventShape, feedKinds } from './event-schema.ts'

/** Below the time after which proxies and clients usually give up. */
const MOST_SECONDS = 25
/** Requests of one key that wait at a time, in this process. */
const MOST_WAITS = 2
/** How often each of them looks for events. */
const LOOK_MS = 500

/** Before every event. */
const BEGINNING: FeedPosition = { epoch: 0, txid: '0', lead_id: 0, position: 0 }

const body = strictBody({
  after: feedCursor
    .nullish()
    .describe(
      'The `next` of the previous response; without it or with `null`, from the first event on. `now` skips all past events.',
    ),
  limit: pageLimit,
  wait: integer(0, MOST_SECONDS)
    .default(0)
    .describe(
      'If there are no events yet, for how many seconds to wait for some; 0 by default. Two requests of a key can wait at a time.',
    ),
  webhooks: flag.default(false).describe('`true`: each event has `webhook_body`.'),
}).describe('All fields are optional.')

const feedEvent = eventSchema(
  'FeedEvent',
  {
    event_id: ofEvent,
    ...eventShape,
    lead_id: ofLead,
    partner_lead_id: yourLeadId,
    sequence: webhookSequenceOrNone,
    cursor: z.string().describe('Send it as `after` to continue after this event, in the middle of a page.'),
    webhook_body: z
      .string()
      .nullable()
      .optional()
      .describe(
        'The body of its webhook, byte for byte, if the request has `webhooks`; `null` for an event that is not sent.',
      ),
  },
  feedKinds,
)

const schema = operation({
  operationId: 'listEvents',
  tags: ['Deliveries'],
  summary: 'Poll for events of all leads',
  description:
    'Returns the events of all your leads in the order in which they were committed; get-events returns those of one lead. `lead.closed` says that a lead was closed: it is not a milestone, is not sent as a webhook, and has no `sequence`. Send `next` as `after` in the following request: no event is skipped or repeated. Store `next` only after you have processed the page, or each event’s `cursor` after the event. With `wait`, the response comes as soon as there are events.',
  body,
  bodyExamples: {
    'from the beginning': {},
    'only what happens from now on': { after: 'now' },
    'wait for news': { after: writeFeedCursor(BEGINNING), wait: 25 },
  },
  response: z.object({
    success,
    data: z.array(feedEvent).describe('In commit order; those of one lead in the order of its history.'),
    next: z.string().describe('Send it as `after` in the next request.'),
    has_more: z.boolean().describe('Whether there are more events now: ask again at once.'),
  }),
  responseDescription: 'A page of events.',
  responseExamples: {
    page: {
      success: true,
      data: [
        {
          event_id: 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
          event_name: 'contract_signed',
          event_payload: null,
          created_at: '2026-03-09 10:30:00',
          lead_id: 1042,
          partner_lead_id: 'LOAN-2026-118',
          sequence: 3,
          cursor: '28252800-81290-1042-4',
        },
      ],
      next: '28252800-81290-1042-4',
      has_more: false,
    },
  },
  errors: [
    invalidRequest({ field: 'after', problem: 'must be the next of an earlier response, or now' }),
    unknownPlace({ epoch: 28_252_800, txid: '81201', lead_id: 1040, position: 2 }),
    tooManyWaits(),
  ],
})

/** POST /list-events (extension): events of all leads in commit order, for partners without a public address. */
export const listEvents: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  const limitWaits = limitInFlight(MOST_WAITS, tooManyWaits)
  const stopping = new AbortController()
  app.addHook('preClose', async () => stopping.abort())
  app.post('/list-events', {
    schema,
    handler: async (request, reply) => {
      const { limit, wait, webhooks } = request.body
      const { partnerId, keyId } = request
      const after = await startOf(sql, partnerId, request.body.after)
      const read = () => eventsAfter(sql, partnerId, after, { limit: limit + 1, webhooks })
      let found = await read()
      if (found.length === 0 && wait > 0) {
        limitWaits(keyId, reply)
        const end = performance.now() + wait * 1000
        while (
          found.length === 0 &&
          performance.now() < end &&
          !stopping.signal.aborted &&
          !reply.raw.destroyed
        ) {
          await delay(Math.min(LOOK_MS, end - performance.now()))
          found = await read()
        }
        await app.authenticateAgain(request)
      }
      const page = found.slice(0, limit)
      const last = page.at(-1)
      return {
        success: true as const,
        data: page.map(toWire),
        next: writeFeedCursor(last ?? after),
        has_more: found.length > limit,
      }
    },
  })
}

type Row = Awaited<ReturnType<typeof eventsAfter>>[number]

const toWire = ({ epoch, txid, position, ...event }: Row) => ({
  ...event,
  cursor: writeFeedCursor({ epoch, txid, position, lead_id: event.lead_id }),
  created_at: formatTimestamp(event.created_at),
})

async function startOf(sql: Sql, partnerId: number, after: string | null | undefined): Promise<FeedPosition> {
  if (after === undefined || after === null) return BEGINNING
  if (after === NOW) return (await lastEvent(sql, partnerId)) ?? BEGINNING
  const place = readFeedCursor(after) ?? BEGINNING
  const last = await lastEvent(sql, partnerId, place)
  if (writeFeedCursor(last ?? BEGINNING) === after) return place
  // this epoch has lost nothing: the cursor is from elsewhere
  throw unknownPlace(last !== undefined && place.epoch < last.current_epoch ? last : BEGINNING)
}

/** An event that a restored database lost may have been recorded again, with another cursor. */
function unknownPlace(last: FeedPosition): ApiError {
  const what =
    'names an event that we do not have: it is from another account or deployment, or the database was restored from a backup'
  const next = writeFeedCursor(last)
  const message = `Invalid request: after ${what}. Continue with the cursor in error.next, "${next}". You may get events that you already have: compare event_id.`
  return new ApiError('INVALID_PAYLOAD', message, {}, { fields: [{ field: 'after', problem: what }], next })
}

function tooManyWaits(): ApiError {
  const what = `${MOST_WAITS} requests of your key are waiting for events already, which is the maximum.`
  return retryLater('RATE_LIMITED', what, 1)
}

const PLACE = raw`(lead_events.epoch, lead_events.txid, lead_events.lead_id, lead_events.position)`

const literal = ({ epoch, txid, lead_id, position }: FeedPosition) =>
  raw`(${epoch}::int, ${txid}::xid8, ${lead_id}::bigint, ${position}::bigint)`

const epochAndTxid = ['lead_events.epoch', raw<string>`lead_events.txid::text`.as('txid')] as const

/**
 * Whether no event can appear before this one any more: all transactions before its own have ended. Transaction ids of an
 * earlier epoch may be from another cluster; that epoch has ended.
 */
const isSettled = raw<boolean>`(lead_events.epoch < current_epoch()
  or lead_events.txid < pg_snapshot_xmin(pg_current_snapshot()))`

/** A partner's events of all leads after a place, in the order in which they were committed; with the body of each webhook. */
async function eventsAfter(
  sql: Sql,
  partnerId: number,
  after: FeedPosition,
  { limit, webhooks }: { limit: number; webhooks: boolean },
) {
  return (
    sql
      .selectFrom('lead_events')
      .innerJoin('leads', 'leads.id', 'lead_events.lead_id')
      .select(['lead_events.id as event_id', 'event_name', 'event_payload', 'lead_events.created_at'])
      .select(['lead_events.lead_id', 'leads.partner_lead_id', ...epochAndTxid])
      .select(['position', sequenceOf('lead_events.id').as('sequence')])
      .$if(webhooks, (query) => query.select(bodyOf('lead_events.id').as('webhook_body')))
      .where('lead_events.partner_id', '=', partnerId)
      .where(raw<boolean>`${PLACE} > ${literal(after)}`)
      .where(isSettled)
      .orderBy('lead_events.epoch')
      // the column: the result's text of this name would sort 1000 before 999
      .orderBy('lead_events.txid')
      .orderBy('lead_events.lead_id')
      .orderBy('lead_events.position')
      .limit(limit)
      .execute()
  )
}

/** The last event of a partner's feed, or the last one up to and including a place. */
async function lastEvent(sql: Sql, partnerId: number, upTo?: FeedPosition) {
  return sql
    .selectFrom('lead_events')
    .select(['lead_id', 'position', raw<number>`current_epoch()`.as('current_epoch'), ...epochAndTxid])
    .where('partner_id', '=', partnerId)
    .where(isSettled)
    .where(upTo === undefined ? raw<boolean>`true` : raw<boolean>`${PLACE} <= ${literal(upTo)}`)
    .orderBy('epoch', 'desc')
    .orderBy(raw`lead_events.txid`, 'desc')
    .orderBy('lead_id', 'desc')
    .orderBy('lead_events.position', 'desc')
    .limit(1)
    .executeTakeFirst()
}
