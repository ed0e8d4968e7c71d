import {
  ApplicationFailure,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow'
import type { ReferralState } from '../src/core/leads/decisions/referral.ts'
import { type Coroutine, forever } from './forever.ts'
import { isRecord } from './arguments.ts'
import { isTimeToContinue } from './continuing.ts'
import { deliverNext, hasOpenWebhook } from './deliveries.ts'
import { closeWhenDone, isOver, isToClose } from './ending.ts'
import { receiveSignals } from './inbox.ts'
import { beginJourney, type Carried, carriedOf, close, type Journey, stateOf } from './journey.ts'
import { type ReferralView, stateQuery } from './messages.ts'
import { detailsOf } from './operator-view.ts'
import { enter } from './phases.ts'
import { publish, publishSoon } from './publish.ts'
import { hasNews, recordInbox } from './recording.ts'
import { hasUnscored, isCadenceOn, recordDueScoreUpdate, recordUnscored } from './score-updates.ts'
import { receiveAdvances } from './sandbox/advance-clock.ts'
import { hasScenario, playScenario, receiveScenarios } from './sandbox/scenario.ts'
import { receiveSimulations } from './sandbox/simulating.ts'
import { heedRefusal, takeRecord } from './read-record.ts'
import { receiveUpdates } from './updates.ts'
import { welcome } from './welcome.ts'

/**
 * A borrower's journey, from create-lead until after mortgage_ready: id `lead-<lead_id>`, one for each lead.
 * Handlers append to the inbox; coroutines record it, raise score updates on their dates, deliver webhooks in
 * order and close the lead. All they know is stored in PostgreSQL too.
 */
export async function referral(state: ReferralState, carried?: Partial<Carried>): Promise<string> {
  const journey = setup(state, carried)
  return CancellationScope.nonCancellable(() => run(journey))
}

function setup(state: ReferralState, carried: Partial<Carried> | undefined): Journey {
  requireState(state)
  const journey = beginJourney(state, carried)
  receiveSignals(journey)
  receiveUpdates(journey)
  if (journey.state.isSandbox) {
    receiveSimulations(journey)
    receiveAdvances(journey)
    receiveScenarios(journey)
  }
  setHandler(stateQuery, () => viewOf(journey), {
    description: 'Where the lead stands, and what became of every signal',
  })
  // a cancellation request closes the lead, and interrupts nothing
  CancellationScope.current().cancelRequested.catch(() => {
    close(journey)
    publishSoon(journey)
  })
  return journey
}

/** A workflow that was started by hand with anything else fails at once, instead of at every task. */
function requireState(state: unknown): void {
  if (isRecord(state) && Number.isInteger(state.leadId) && Array.isArray(state.seen)) return
  throw ApplicationFailure.nonRetryable('Not started by the service: use staff workflow rebuild', 'NoState')
}

function viewOf(journey: Journey): ReferralView {
  const { counts, inbox, unscored, phases, isMoving, scenario, notes } = journey
  const waiting = inbox.length + unscored.length
  const moving = isMoving || scenario !== null
  return { ...stateOf(journey), signals: counts, waiting, held: phases.webhooks === 'held', moving, notes }
}

async function run(journey: Journey): Promise<string> {
  if (journey.recordChanged) await readFirst(journey)
  publish(journey)
  const work = new CancellationScope()
  void work.run(async () => begin(journey))
  let over = false
  do {
    await condition(() => isOver(journey) || isTimeToContinue(journey))
    // a coroutine that woke in the same round may have changed that
    over = isOver(journey)
  } while (!over && !isTimeToContinue(journey))
  const handedOver = plain([stateOf(journey), carriedOf(journey)] as const)
  await end(work)
  if (over) {
    enter(journey, 'lead', 'over')
    setCurrentDetails(detailsOf(journey))
    return journey.closeReason ?? 'canceled'
  }
  return makeContinueAsNewFunc<typeof referral>()(...handedOver)
}

async function readFirst(journey: Journey): Promise<void> {
  try {
    await takeRecord(journey)
  } catch (error) {
    if (!heedRefusal(journey, error)) throw error
  }
}

const coroutines: readonly Coroutine[] = [
  { what: 'recording', when: hasNews, step: recordInbox },
  { what: 'score updates', when: isCadenceOn, step: recordDueScoreUpdate },
  { what: 'signalled score updates', when: hasUnscored, step: recordUnscored },
  { what: 'deliveries', when: hasOpenWebhook, step: deliverNext },
  { what: 'scenario', when: hasScenario, step: playScenario },
  { what: 'closing', when: isToClose, step: closeWhenDone },
]

function begin(journey: Journey): void {
  void welcome(journey)
  for (const coroutine of coroutines) void forever(journey, coroutine)
}

/**
 * Ends every coroutine of this run. The server rejects a workflow task in which a command follows the one that ends the
 * run, and the lead would be stuck.
 */
async function end(work: CancellationScope): Promise<void> {
  work.cancel()
  // conditions are checked again once nothing else in this activation can continue
  let looks = 0
  await condition(() => (looks += 1) > 1)
}

/** A copy, which coroutines that end meanwhile don't change. */
function plain<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value
}
