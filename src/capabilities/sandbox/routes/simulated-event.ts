import { z } from 'zod'
import {
  faultOfScoreGains,
  gainsFields,
  type ScoreGains,
  takesPayload,
  unknownGains,
} from '../../../core/leads/decisions/event-payloads.ts'
import { type MilestoneName, signalledMilestones } from '../../../core/leads/decisions/milestones.ts'
import { oneOf } from '../../../core/http/fields.ts'
import { refTo } from '../../../core/http/openapi/json-schema.ts'
import { strictly } from '../../../core/http/schemas.ts'
import { notFields } from '../../../core/http/unknown-fields.ts'

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

interface Sent {
  event_name?: MilestoneName | undefined
  event_payload?: unknown
}

/** Only a score update has a payload of its own, which has the fields of gains and no others. */
export function refusePayload({ event_name: name, event_payload: payload }: Sent): string | undefined {
  if (payload === undefined || payload === null || name === undefined) return undefined
  if (!takesPayload(name))
    return `must be absent: of these milestones, only score_update has a payload, not ${name}`
  const unknown = unknownGains(payload)
  const faults = [
    faultOfScoreGains(payload),
    unknown.length > 0 && `must have gains only: ${notFields(unknown, gainsFields)}`,
  ]
  return faults.filter(Boolean).join('; ') || undefined
}

/** For messages about what should be an event, and is none. */
export const EXAMPLE = '{"event_name": "contract_signed"}'

const eventShape = { event_name: eventName, event_payload: eventPayload }

export const simulatedEvent = z
  .strictObject(eventShape, strictly(eventShape, `must be an object, such as ${EXAMPLE}`))
  .superRefine((event, context) => {
    const message = refusePayload(event)
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['event_payload'], message })
  })
  .meta({ id: 'EventToSimulate' })
