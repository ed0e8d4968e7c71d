import { defineQuery, defineSignal } from '@temporalio/workflow'
import { type SignalledMilestone, signalledMilestones } from '../src/domain/milestones.ts'
import type { ReferralState } from '../src/domain/referral.ts'

/**
 * Everything that can be sent to a referral. Arguments are `unknown`: whatever somebody types into the
 * Temporal Web UI arrives here, and none of it may hurt a lead.
 */

/** One signal for each milestone, under the event's own name; argument `{id?, event_payload?}`. */
export const milestoneSignals = signalledMilestones.map((name) =>
  defineSignal<[unknown?], SignalledMilestone>(name),
)

/** Try the waiting delivery now: its endpoint works again, or somebody asked for a resend. */
export const wakeSignal = defineSignal('wake')
/** The lead's clock was moved in the record (sandbox): look at it again. */
export const clockAdvancedSignal = defineSignal('clock_advanced')
/** The borrower dropped out; argument `{reason}`. */
export const closeSignal = defineSignal<[unknown?]>('close')

/** Why something changed nothing. `what` is a name, never content. */
export interface Note {
  at: number
  what: string
  why: string
}

export interface ReferralView extends ReferralState {
  waiting: number
  notes: Note[]
}

export const stateQuery = defineQuery<ReferralView>('state')
