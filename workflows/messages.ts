import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow'
import type { PingOutcome } from '../src/webhooks/send.ts'
import {
  listOf,
  parseScoreGains,
  type ScoreGains,
  takesPayload,
  unknownGains,
} from '../src/leads/event-payloads.ts'
import { type MilestoneName, type SignalledMilestone, signalledMilestones } from '../src/leads/milestones.ts'
import { type CloseReason, closeReasonNames } from '../src/leads/reasons.ts'
import {
  type DeliveryFailure,
  MOST_SIMULATED,
  type RecordingOutcome,
  type ReferralState,
  type Simulation,
} from '../src/leads/referral-state.ts'
import type { Advance, ClockTarget } from '../src/sandbox/lead-clock.ts'
import type { ScenarioEnd, ScenarioName } from '../src/sandbox/scenarios.ts'
import { IDEMPOTENCY_KEY, REQUEST_ID } from '../src/values.ts'
import type { Carried, Note } from './journey.ts'

// All signals, updates and queries of the workflows, except the milestones' signals: those have the event's name and the
// argument `{id?, event_payload?}`. A referral's arguments are `unknown`: people type them into the Web UI, and no input may
// harm a lead.

/** From the service: the open webhook may be due by now, because its endpoint works again or a resend was asked for. */
export const wakeSignal = defineSignal<[unknown?]>('wake')
/** Tells a referral to read the record: it was restored, or the lead was changed there. */
export const readRecordSignal = defineSignal<[unknown?]>('read_record')
/** From the delivering activity: the endpoint refuses the webhook; argument `DeliveryFailure`. */
export const deliveryFailedSignal = defineSignal<[unknown?]>('delivery_failed')

/** A milestone whose sender wants to know what became of it. */
export interface MilestoneRequest {
  name: SignalledMilestone
  /** The same id counts once. */
  id?: string
  event_payload?: unknown
}

export interface MilestoneAnswer {
  /** `accepted`: a score update that is recorded once the provider has given its gains. */
  outcome: RecordingOutcome | 'accepted'
  event_id: string | null
}

/** The same as the milestone's signal, with an answer. */
export const milestoneUpdate = defineUpdate<MilestoneAnswer, [MilestoneRequest]>('milestone')
/** Milestones that a partner simulates: sandbox only. */
export const simulateUpdate = defineUpdate<MilestoneAnswer[], [Simulation]>('simulate')
/** Moves the lead's clock: sandbox only. */
export const advanceClockUpdate = defineUpdate<Advance, [ClockTarget]>('advance_clock')
/** Plays a scenario with the lead: sandbox only. */
export const runScenarioUpdate = defineUpdate<ScenarioEnd | 'running', [{ scenario: ScenarioName }]>(
  'run_scenario',
)
/**
 * The borrower dropped out; argument `{reason}`, one of `closeReasons`. Answered once all that has arrived is recorded and
 * the lead is closed, or after ten seconds.
 */
export const closeUpdate = defineUpdate<void, [unknown]>('close')

/** Types of the failures with which an update is refused: the lead is closed, or its clock is moved already. */
export const LEAD_CLOSED = 'LeadClosed'
export const CLOCK_MOVING = 'ClockMoving'

export interface ReferralView extends ReferralState {
  /** How many milestones, and signals with other names, were received, and their outcomes. */
  signals: Carried['counts']
  /** Received and not yet decided about. */
  waiting: number
  held: boolean
  /** Whether its clock is being moved, in a sandbox. */
  moving: boolean
  notes: Note[]
}

export const stateQuery = defineQuery<ReferralView>('state')

/** To an endpoint's workflow: the record has changed, for example by a resume. */
export const lookSignal = defineSignal('look')
/** To an endpoint's workflow: probe it now, if it is paused. */
export const probeSignal = defineSignal('probe')
/** To an endpoint's workflow: send a test request; joins one that is under way. */
export const pingUpdate = defineUpdate<PingOutcome>('ping')

interface MilestoneArgument {
  id?: string
  gains?: ScoreGains
  /** What was wrong with the rest, in words for operators. */
  faults: string[]
}

/** Reads a milestone's argument, of any shape. Parts that are not understood are left out and named in `faults`. */
export function readMilestoneArgument(name: MilestoneName, argument: unknown): MilestoneArgument {
  if (isAbsent(argument)) return { faults: [] }
  if (!isRecord(argument))
    return { faults: ['its argument was not understood: the milestone counts without it'] }
  const { id, event_payload: payload, ...others } = argument
  const faults: string[] = []
  // an update's argument names its milestone
  if (Object.keys(others).some((key) => key !== 'name'))
    faults.push('of its argument, only id and event_payload count')
  const usable = matches(id, IDEMPOTENCY_KEY)
  if (!isAbsent(id) && !usable)
    faults.push('its id is not 1 to 255 visible ASCII characters: it counts without one')
  if (!takesPayload(name)) {
    if (!isAbsent(payload)) faults.push('takes no payload: it was dropped')
    return { ...(usable && { id }), faults }
  }
  const gains = parseScoreGains(payload)
  const unknown = gains === undefined ? [] : unknownGains(payload)
  if (unknown.length > 0) faults.push(`its payload has fields that gains do not have: ${listOf(unknown)}`)
  if (gains === undefined && !isAbsent(payload))
    faults.push('its payload is not well-formed: the score provider is asked')
  return { ...(usable && { id }), ...(gains && { gains }), faults }
}

/** The reason of `{reason}` to close a lead: anything that is not in the list counts as `other`. */
export function readCloseReason(argument: unknown): CloseReason {
  const reason = isRecord(argument) ? closeReasonNames.find((known) => known === argument.reason) : undefined
  return reason ?? 'other'
}

/** The reason of a delivery's failure, for operators: words only, and short. */
const REASON = /^[\w .,:()-]{1,120}$/

export function readFailure(argument: unknown): DeliveryFailure | undefined {
  if (!isRecord(argument)) return undefined
  const { sequence, failures, reason } = argument
  return isCount(sequence) && isCount(failures) && matches(reason, REASON)
    ? { sequence, failures, reason }
    : undefined
}

/** Whether an argument is a valid simulation in every part: it becomes part of the record. */
export function isSimulation(request: unknown): request is Simulation {
  if (!isRecord(request) || !Array.isArray(request.events)) return false
  const { key, request_id: requestId, events } = request
  if (!matches(key, IDEMPOTENCY_KEY) || !(requestId === undefined || matches(requestId, REQUEST_ID)))
    return false
  return events.length > 0 && events.length <= MOST_SIMULATED && events.every(isFaultless)
}

function isFaultless(event: unknown): boolean {
  const name = milestoneOf(event)
  return name !== undefined && readMilestoneArgument(name, event).faults.length === 0
}

/** The milestone that a `MilestoneRequest` names. */
export const milestoneOf = (request: unknown): SignalledMilestone | undefined =>
  isRecord(request) ? signalledMilestones.find((known) => known === request.name) : undefined

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value)
}

const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0

const matches = (value: unknown, form: RegExp): value is string =>
  typeof value === 'string' && form.test(value)
