import { z } from 'zod'
import {
  faultOfScoreGains,
  gainsFields,
  neededGains,
  type ScoreGains,
  takesPayload,
  unknownGains,
} from '../../../core/leads/decisions/event-payloads.ts'
import { type MilestoneName, signalledMilestones } from '../../../core/leads/decisions/milestones.ts'
import { lineOf } from '../../../core/http/errors.ts'
import { integer, oneOf } from '../../../core/http/fields.ts'
import { refTo } from '../../../core/http/openapi/json-schema.ts'
import { aboutFields, strictly } from '../../../core/http/schemas.ts'
import { notAmong, unknownFaults } from '../../../core/http/unknown-fields.ts'

export const eventName = z
  .enum(signalledMilestones, { error: oneOf(signalledMilestones) })
  .meta({ id: 'SimulatedEventName' })

/** Anything at first: what it must be depends on the milestone. */
export const eventPayload = z
  .custom<ScoreGains | null>()
  .optional()
  .meta({
    anyOf: [{ $ref: refTo('ScoreGains'), unevaluatedProperties: false }, { type: 'null' }],
    description: 'For `score_update` only. Without it, the sandbox makes up gains.',
  })

/** The longest that a milestone is known late. */
const MOST_DAYS_AGO = 730

export const daysAgo = integer(0, MOST_DAYS_AGO)
  .optional()
  .describe(
    'Backdates the milestone: how many days ago it happened, on the lead’s clock. Dates of a lead never go back: a milestone that would be older than the lead’s last event gets the date of that.',
  )

interface Sent {
  event_name?: MilestoneName | undefined
  event_payload?: unknown
}

/** Only a score update has a payload of its own, which has the fields of gains and no others. */
export function refusePayload(sent: Sent, context: z.RefinementCtx): void {
  const { event_name: name, event_payload: payload } = sent
  if (payload === undefined || payload === null || name === undefined) return
  const refuse = (message: string, about: object = {}) =>
    context.addIssue({ code: 'custom', path: ['event_payload'], message, ...about })
  if (!takesPayload(name))
    return refuse(`must be absent: of these milestones, only score_update has a payload, not ${name}`)
  const unknown = unknownFaults(unknownGains(payload), notAmong(gainsFields))
  const messages = [
    faultOfScoreGains(payload),
    unknown.length > 0 && `must have gains only: ${unknown.map(lineOf).join('; ')}`,
  ]
  const message = messages.filter(Boolean).join('; ')
  if (message === '') return
  const needed = typeof payload === 'object' ? neededGains(payload) : []
  const faults = needed.map(({ field, form }) => ({ field, problem: `must be ${form}` }))
  refuse(message, aboutFields(...faults, ...unknown))
}

/** For messages about what should be an event, and is none. */
export const EXAMPLE = '{"event_name": "contract_signed"}'

const eventShape = { event_name: eventName, event_payload: eventPayload, days_ago: daysAgo }

export const simulatedEvent = z
  .strictObject(eventShape, strictly(eventShape, `must be an object, such as ${EXAMPLE}`))
  .superRefine(refusePayload)
  .meta({ id: 'EventToSimulate' })
