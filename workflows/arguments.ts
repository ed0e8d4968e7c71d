import { parseScoreGains, type ScoreGains, takesPayload, unknownGains } from '../src/leads/event-payloads.ts'
import { IDEMPOTENCY_KEY, REQUEST_ID } from '../src/values.ts'
import { type DeliveryFailure, MOST_SIMULATED } from '../src/leads/referral-state.ts'
import { type MilestoneName, signalledMilestones } from '../src/leads/milestones.ts'
import { listOf } from '../src/leads/operator-text.ts'
import { type CloseReason, closeReasonNames } from '../src/leads/reasons.ts'
import type { SimulateRequest } from './messages.ts'
import { UNDECODABLE } from './payload-converter.ts'

/** What a delivery suffers from is shown: words only, and short. */
const FAILURE = /^[\w .,:()-]{1,120}$/

export interface MilestoneArgument {
  id?: string
  gains?: ScoreGains
  /** What was wrong with the rest, in words for operators. */
  faults: string[]
}

/** Reads a milestone's argument, whatever it is: what is not understood is left out and named. */
export function readMilestoneArgument(name: MilestoneName, argument: unknown): MilestoneArgument {
  if (argument === undefined || argument === null) return { faults: [] }
  if (!isRecord(argument)) {
    return { faults: ['its argument was not understood: the milestone counts without it'] }
  }
  const { id, event_payload: payload, ...others } = argument
  const faults: string[] = []
  // an update's argument names its milestone
  if (Object.keys(others).some((key) => key !== 'name')) {
    const known = takesPayload(name)
      ? 'id and event_payload count: gains belong into event_payload'
      : 'id counts'
    faults.push(`of its argument, only ${known}`)
  }
  const usable = typeof id === 'string' && IDEMPOTENCY_KEY.test(id)
  if (id !== undefined && id !== null && !usable) {
    faults.push('its id is not 1 to 255 visible ASCII characters: it counts without one')
  }
  const gains = takesPayload(name) ? parseScoreGains(payload) : undefined
  if (payload !== undefined && payload !== null && gains === undefined) {
    faults.push(
      takesPayload(name)
        ? 'its payload is not well-formed: the score provider is asked'
        : 'takes no payload: it was dropped',
    )
  }
  const unknown = gains === undefined ? [] : unknownGains(payload)
  if (unknown.length > 0) faults.push(`its payload has fields that gains do not have: ${listOf(unknown)}`)
  return { ...(usable && { id }), ...(gains && { gains }), faults }
}

/** The end of the year 9999, the last that timestamps have. */
const LATEST_DATE_MS = Date.UTC(10_000, 0) - 1

export interface CloseArgument {
  reason: CloseReason
  /** What was wrong with the rest, in words for operators. */
  faults: string[]
}

/** Reads the reason to close a lead from anything: one that is not on the list is `other`, and its text is dropped. */
export function readCloseArgument(argument: unknown): CloseArgument {
  if (argument === undefined || argument === null) return { reason: 'other', faults: [] }
  if (!isRecord(argument)) {
    return { reason: 'other', faults: ['its argument was not understood: its reason counts as other'] }
  }
  const { reason: given, ...others } = argument
  const reason = closeReasonNames.find((known) => known === given)
  const faults: string[] = []
  if (reason === undefined && given !== undefined && given !== null)
    faults.push(`its reason is not one of ${closeReasonNames.join(', ')}: it counts as other`)
  if (Object.keys(others).length > 0) faults.push('of its argument, only reason counts')
  return { reason: reason ?? 'other', faults }
}

export function readFailure(argument: unknown): DeliveryFailure | undefined {
  if (!isRecord(argument)) return undefined
  const { sequence, failures, reason } = argument
  if (!isCount(sequence) || !isCount(failures)) return undefined
  const isShowable = typeof reason === 'string' && FAILURE.test(reason)
  return { sequence, failures, reason: isShowable ? reason : 'a reason that cannot be shown' }
}

/** Whether an argument is what a simulation asks for, in every part. */
export function isSimulation(request: unknown): request is SimulateRequest {
  if (!isRecord(request) || !Array.isArray(request.events)) return false
  const { key, request_id: requestId, events } = request
  // it becomes part of keys in the record
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)) return false
  if (requestId !== undefined && !(typeof requestId === 'string' && REQUEST_ID.test(requestId))) return false
  return events.length > 0 && events.length <= MOST_SIMULATED && events.every(isMilestone)
}

function isMilestone(event: unknown): boolean {
  if (!isRecord(event)) return false
  const { name, gains, at, ...others } = event
  if (!signalledMilestones.some((known) => known === name) || Object.keys(others).length > 0) return false
  if (at !== undefined && !(isCount(at) && at <= LATEST_DATE_MS)) return false
  return gains === undefined || (parseScoreGains(gains) !== undefined && unknownGains(gains).length === 0)
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || value === UNDECODABLE) return false
  return !Array.isArray(value) && !ArrayBuffer.isView(value)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}
