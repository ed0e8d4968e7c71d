import {
  allHandlersFinished,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import type { ReferralState } from '../src/domain/referral.ts'
import { forever, sendOnboardingEmail } from './activities.ts'
import { deliverNext } from './deliveries.ts'
import { closeWhenDone, isOver } from './ending.ts'
import { receiveSignals } from './inbox.ts'
import { beginJourney, type Carried, carriedOf, type Journey, note } from './journey.ts'
import { stateQuery } from './messages.ts'
import { showToOperators } from './operator-view.ts'
import { recordInbox } from './recording.ts'
import { recordDueScoreUpdate, recordUnscored } from './score-updates.ts'

const SIGNALS_PER_RUN = 2000
const INBOX_CARRIED = 64

/**
 * A borrower's journey, from create-lead until after mortgage_ready: id `lead-<lead_id>`, one for each lead.
 * Handlers append to the inbox; coroutines record it, raise score updates on their dates, deliver webhooks in
 * order and close the lead. All they know stands in PostgreSQL too.
 */
export async function referral(state: ReferralState, carried?: Partial<Carried>): Promise<string> {
  const journey = setup(state, carried)
  return CancellationScope.nonCancellable(() => run(journey))
}

function setup(state: ReferralState, carried: Partial<Carried> | undefined): Journey {
  const journey = beginJourney(state, carried)
  receiveSignals(journey)
  setHandler(stateQuery, () => ({ ...state, waiting: journey.inbox.length, notes: journey.notes }), {
    description: 'Where the lead stands',
  })
  // a request to cancel must not cut off what is under way: it closes the lead
  CancellationScope.current().cancelRequested.catch(() => {
    journey.state.closing = true
  })
  return journey
}

async function run(journey: Journey): Promise<string> {
  void forever(journey, 'recording', () => recordInbox(journey))
  void forever(journey, 'score updates', () => recordDueScoreUpdate(journey))
  void forever(journey, 'signalled score updates', () => recordUnscored(journey))
  void forever(journey, 'deliveries', () => deliverNext(journey))
  void forever(journey, 'closing', () => closeWhenDone(journey))
  void welcome(journey)
  for (;;) {
    showToOperators(journey)
    const before = fingerprint(journey)
    await condition(() => isOver(journey) || isTimeToContinue(journey) || fingerprint(journey) !== before)
    if (isOver(journey)) return journey.closeReason ?? 'canceled'
    if (isTimeToContinue(journey)) {
      const continueReferral = makeContinueAsNewFunc<typeof referral>()
      await continueReferral(journey.state, carriedOf(journey))
    }
  }
}

/** Everything that operators are shown, so that they are shown each change once. */
function fingerprint({ state, notes, parked, closed }: Journey): string {
  return JSON.stringify([state, notes.at(-1), parked, closed])
}

/** A run's history is bounded. Nothing is cancelled or lost: waits begin anew, the record knows the rest. */
function isTimeToContinue({ signals, recording, inbox }: Journey): boolean {
  if (signals < SIGNALS_PER_RUN && !workflowInfo().continueAsNewSuggested) return false
  return !recording && inbox.length <= INBOX_CARRIED && allHandlersFinished()
}

async function welcome(journey: Journey): Promise<void> {
  if (journey.mailed) return
  try {
    await sendOnboardingEmail(journey.state.leadId)
  } catch {
    note(journey, 'onboarding e-mail', 'could not be sent for 7 days: it was given up')
  }
  journey.mailed = true
}
