import { z } from 'zod'
import { nextDue } from './lead-time.ts'
import type { Advance, Happened, LeadClock } from './lead-clock.ts'
import { formatTimestamp } from '../values.ts'
import { ApiError } from '../http/errors.ts'
import { refTo } from '../http/json-schema.ts'
import { eventName } from '../leads/event-schema.ts'
import { timestamp } from '../http/fields.ts'
import {
  attemptNumber,
  errorCode,
  httpStatus,
  ofEvent,
  webhookSequence,
  webhookSequenceOrNone,
} from '../http/schemas.ts'

export const leadClosed = () => new ApiError('LEAD_CLOSED')

/** A moment of a lead's time, as it is shown. */
export const leadTime = (ms: number) => formatTimestamp(new Date(ms))

export const dueView = z
  .object({
    what: z
      .enum(['score_update', 'retry', 'end'])
      .describe('`retry`: of the first open webhook. `end`: the lead is closed.'),
    at: timestamp,
  })
  .meta({ id: 'Due' })
  .nullable()
  .describe('What is due next on the lead’s clock; `null` for nothing.')

export function dueOf(clock: LeadClock): z.output<typeof dueView> {
  const due = nextDue(clock)
  return due === undefined ? null : { what: due.what, at: leadTime(due.at) }
}

const event = { event_id: ofEvent, event_name: eventName }
const webhook = { event_id: ofEvent, event_name: eventName }

export const happenedView = z
  .discriminatedUnion('what', [
    z
      .object({ at: timestamp, what: z.literal('event'), ...event, sequence: webhookSequenceOrNone })
      .meta({ id: 'HappenedEvent', description: 'An event was recorded.' }),
    z
      .object({
        at: timestamp,
        what: z.literal('webhook'),
        ...webhook,
        sequence: webhookSequence,
        attempt: attemptNumber,
        status: httpStatus,
        error_code: errorCode,
      })
      .meta({ id: 'HappenedWebhook', description: 'Your endpoint was called.' }),
    z
      .object({ at: timestamp, what: z.literal('end') })
      .meta({ id: 'HappenedEnd', description: 'The lead was closed.' }),
  ])
  .meta({
    id: 'Happened',
    discriminator: {
      propertyName: 'what',
      mapping: {
        event: refTo('HappenedEvent'),
        webhook: refTo('HappenedWebhook'),
        end: refTo('HappenedEnd'),
      },
    },
  })

export const stoppedView = z
  .literal('endpoint_would_pause')
  .optional()
  .describe(
    'The clock stopped early: in production, your endpoint would be paused now. Repair it, or advance again to go on.',
  )

export function advanceOf({ happened, stopped }: Advance) {
  return { happened: happened.map(happenedOf), ...(stopped && { stopped }) }
}

function happenedOf(happened: Happened): z.output<typeof happenedView> {
  const at = leadTime(happened.at)
  if (happened.what === 'end') return { at, what: 'end' }
  const { eventId: event_id } = happened
  if (happened.what === 'event')
    return { at, what: 'event', event_id, event_name: happened.eventName, sequence: happened.sequence }
  const { eventName: event_name, sequence, attempt, status, errorCode: error_code } = happened
  return { at, what: 'webhook', event_id, event_name, sequence, attempt, status, error_code }
}
