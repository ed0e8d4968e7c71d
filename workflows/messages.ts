import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow'
import type { Advance, AdvanceRequest } from '../src/sandbox/lead-clock.ts'
import type { ScenarioEnd, ScenarioName } from '../src/sandbox/scenarios.ts'
import type { ScoreGains } from '../src/leads/event-payloads.ts'
import { type SignalledMilestone, signalledMilestones } from '../src/leads/milestones.ts'
import type { RecordingOutcome, ReferralState } from '../src/leads/referral-state.ts'

/**
 * Everything that can be sent to the workflows. A referral's arguments are `unknown`: whatever somebody types into the
 * Temporal Web UI arrives here, and none of it may hurt a lead.
 */

/** One signal for each milestone, under the event's own name; argument `{id?, event_payload?}`. */
export const milestoneSignals = signalledMilestones.map((name) =>
  defineSignal<[unknown?], SignalledMilestone>(name),
)

/** From an operator: try the open webhook now, beside its schedule. */
export const sendNowSignal = defineSignal<[unknown?]>('send_now')
/** From the service: the open webhook may be due by now, because its endpoint works again or a resend was asked for. */
export const wakeSignal = defineSignal<[unknown?]>('wake')
/** Read the record: it was restored, or the lead was changed there. */
export const readRecordSignal = defineSignal<[unknown?]>('read_record')
/** From the delivering activity: its endpoint refuses; argument `DeliveryFailure`. */
export const deliveryFailedSignal = defineSignal<[unknown?]>('delivery_failed')

/** To an endpoint's workflow: its record has changed, for example by a resume. */
export const lookSignal = defineSignal('look')
/** To an endpoint's workflow: probe it now, if it is paused. */
export const probeSignal = defineSignal('probe')

/** A milestone whose sender wants to know what became of it. */
export interface MilestoneRequest {
  name: SignalledMilestone
  /** The same id counts once. */
  id?: string
  event_payload?: unknown
}

export interface MilestoneAnswer {
  /** `accepted`: a score update whose gains are asked for takes longer; it is recorded once they are there. */
  outcome: RecordingOutcome | 'accepted'
  event_id: string | null
}

/** The same as the milestone's signal, with an answer. */
export const milestoneUpdate = defineUpdate<MilestoneAnswer, [MilestoneRequest]>('milestone')

/** What one request simulates, at most `MOST_SIMULATED` milestones: they are recorded in their order. */
export interface SimulateRequest {
  /** The same key counts once for each of its milestones. */
  key: string
  /** Of simulate-event. */
  request_id?: string
  /** A score update without gains gets mock ones. `at` is in milliseconds of the lead's time; now if absent. */
  events: { name: SignalledMilestone; gains?: ScoreGains; at?: number }[]
}

/** Milestones that a partner simulates: sandbox only. */
export const simulateUpdate = defineUpdate<MilestoneAnswer[], [SimulateRequest]>('simulate')

/** Moves the lead's clock: sandbox only. */
export const advanceClockUpdate = defineUpdate<Advance, [AdvanceRequest]>('advance_clock')

/** Plays a scenario with the lead: sandbox only. */
export const runScenarioUpdate = defineUpdate<ScenarioEnd | 'running', [{ scenario: ScenarioName }]>(
  'run_scenario',
)

/**
 * The borrower dropped out; argument `{reason}`, one of `closeReasons`. Answered once all that has arrived is recorded and
 * the lead is closed, or after ten seconds.
 */
export const closeUpdate = defineUpdate<void, [unknown?]>('close')

/** The webhook of a lead with this sequence. */
export interface Webhook {
  leadId: number
  sequence: number
}

/** To a partner's resends: send these, too. Answers which of them are too many. */
export const resendUpdate = defineUpdate<Webhook[], [Webhook[]]>('resend')

/** Types of the failures with which an update is refused: the lead is closed, or its clock is moved already. */
export const LEAD_CLOSED = 'LeadClosed'
export const CLOCK_MOVING = 'ClockMoving'

/** What was ignored, wholly or in part, or went wrong, and why. `what` is a name, never content. */
export interface Note {
  at: number
  what: string
  why: string
}

/** What became of the milestones that were sent, and of signals with other names: those received, or waiting. */
export interface Counts {
  received: number
  recorded: number
  repeated: number
  /** The lead was closed or full, or no gains were to be had. */
  refused: number
  notUnderstood: number
}

export interface ReferralView extends ReferralState {
  signals: Counts
  /** Received and not yet decided about. */
  waiting: number
  held: boolean
  /** Its clock is moved, in a sandbox. */
  moving: boolean
  notes: Note[]
}

export const stateQuery = defineQuery<ReferralView>('state')
