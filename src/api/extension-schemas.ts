import { z } from 'zod'
import { deliveryStatuses } from '../domain/delivery.ts'
import { milestoneNames } from '../domain/milestones.ts'
import { leadId, timestamp } from './fields.ts'
import { eventPayload } from './schemas.ts'

/** The wire of what the service offers beyond the interface specification: deliveries, endpoint, event feed. */

const EVENT_ID = /^evt_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const FEED_CURSOR = /^\d{1,19}-\d{1,10}-\d{1,10}$/
const success = z.literal(true)

const limit = z
  .int('must be an integer')
  .min(1, 'must be at least 1')
  .max(100, 'must be at most 100')
  .optional()
  .meta({ description: 'At most so many, 50 if absent.' })

export const getDeliveriesBody = z
  .object(
    {
      lead_id: leadId.optional().meta({ description: 'Only this lead’s; all of yours if absent.' }),
      states: z
        .array(z.enum(deliveryStatuses, `must be of ${deliveryStatuses.join(', ')}`), 'must be a list')
        .min(1, 'must not be empty')
        .max(deliveryStatuses.length, 'is too long')
        .optional()
        .meta({ description: '`pending` are all open ones; `held` those that wait for a paused endpoint.' }),
      cursor: z
        .string('must be a string')
        .regex(EVENT_ID, 'must be the next_cursor of an answer')
        .optional()
        .meta({ description: 'The `next_cursor` of the page before.' }),
      limit,
    },
    'must be a JSON object',
  )
  .meta({ description: 'All fields are optional.' })

const attempt = z.object({
  number: z.int(),
  trigger: z.string().meta({ description: '`scheduled`, `resend`, `replay` or `probe`.' }),
  started_at: timestamp,
  duration_ms: z.int().nullable().meta({ description: '`null` while it is under way.' }),
  status: z.int().nullable().meta({ description: 'Your endpoint’s answer; `null` when there was none.' }),
  error_code: z.string().nullable(),
  hint: z.string().nullable().meta({ description: 'What to do about the failure.' }),
})

export const getDeliveriesAnswer = z.object({
  success,
  data: z
    .array(
      z.object({
        event_id: z.string(),
        event_name: z.enum(milestoneNames),
        lead_id: z.int(),
        sequence: z.int(),
        state: z.enum(deliveryStatuses),
        created_at: timestamp,
        next_attempt_at: timestamp.nullable().meta({ description: '`null` when it is settled or held.' }),
        settled_at: timestamp.nullable(),
        resend_requested_at: timestamp
          .nullable()
          .meta({ description: 'Since when it waits to be sent once more; `null` when it does not.' }),
        attempts: z.array(attempt).meta({ description: 'The latest 20, oldest first.' }),
      }),
    )
    .meta({ description: 'The newest first.' }),
  next_cursor: z.string().nullable().meta({ description: 'For the next page; `null` on the last.' }),
})

export const resendWebhookBody = z.object(
  {
    event_id: z.string({ error: ({ input }) => (input === undefined ? 'is required' : 'must be a string') }),
  },
  'must be a JSON object with event_id, which is required',
)

export const getEndpointBody = z.object({}, 'must be a JSON object').meta({ description: 'Empty.' })

export const getEndpointAnswer = z.object({
  success,
  data: z.object({
    url: z.string().nullable().meta({ description: '`null` while none is registered.' }),
    health: z.enum(['active', 'failing', 'paused', 'draining']).meta({
      description:
        '`failing`: it is called and takes nothing. `paused`: webhooks are held. `draining`: those that were held go out.',
    }),
    reason: z.string().meta({ description: 'In words.' }),
    since: timestamp,
    open_deliveries: z.int(),
  }),
})

export const listEventsBody = z
  .object(
    {
      after: z
        .string('must be a string')
        .regex(FEED_CURSOR, 'must be the next of an answer')
        .optional()
        .meta({ description: 'The `next` of the answer before; from the beginning if absent.' }),
      limit,
    },
    'must be a JSON object',
  )
  .meta({ description: 'All fields are optional.' })

export const listEventsAnswer = z.object({
  success,
  data: z
    .array(
      z.object({
        event_id: z.string(),
        event_name: z.enum(milestoneNames),
        event_payload: eventPayload,
        created_at: timestamp,
        lead_id: z.int(),
        partner_lead_id: z.string().nullable(),
        position: z.int().meta({ description: 'Its place in the lead’s history, from 1, without gaps.' }),
      }),
    )
    .meta({ description: 'In the order in which they were committed; each lead’s in their own.' }),
  next: z
    .string()
    .meta({ description: 'Send it as `after` the next time: nothing is left out or repeated.' }),
  has_more: z.boolean(),
})
