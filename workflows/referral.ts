import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  makeContinueAsNewFunc,
  setHandler,
  sleep,
} from '@temporalio/workflow'
import type { ReferralState } from '../src/leads/referral-state.ts'
import { closeLead } from './activities.ts'
import { deliverNext, hasOpenWebhook, isUnwelcomed, welcome } from './deliveries.ts'
import { receiveSignals, receiveUpdates } from './inbox.ts'
import {
  beginJourney,
  type Carried,
  carriedOf,
  close,
  hasUnrecorded,
  isCadenceOn,
  isTimeToContinue,
  type Journey,
  note,
  now,
  stateOf,
} from './journey.ts'
import { isRecord, type ReferralView, stateQuery } from './messages.ts'
import { publish } from './operator-view.ts'
import { heedRefusal, takeRecord } from './read-record.ts'
import { hasNews, recordInbox } from './recording.ts'
import { hasScenario, playScenario, receiveTests } from './sandbox.ts'
import { hasUnscored, recordDueScoreUpdate, recordUnscored } from './score-updates.ts'

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
  if (journey.state.isSandbox) receiveTests(journey)
  setHandler(stateQuery, () => viewOf(journey), {
    description: 'Where the lead stands, and what became of every signal',
  })
  // a cancellation request closes the lead, and interrupts nothing
  CancellationScope.current().cancelRequested.catch(() => {
    close(journey)
    publish(journey)
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
  if (journey.recordChanged)
    await takeRecord(journey).catch((error: unknown) => {
      if (!heedRefusal(journey, error)) throw error
    })
  publish(journey)
  const work = new CancellationScope()
  void work.run(async () => {
    for (const coroutine of coroutines) void forever(journey, coroutine)
  })
  const hasEnded = () => isOver(journey) || isTimeToContinue(journey)
  // a coroutine that woke in the same round may have changed that
  do await condition(hasEnded)
  while (!hasEnded())
  const over = isOver(journey)
  await end(work)
  if (!over) return makeContinueAsNewFunc<typeof referral>()(stateOf(journey), carriedOf(journey))
  journey.phases.lead = 'over'
  publish(journey)
  return journey.closeReason ?? 'canceled'
}

/** Over: closed, all recorded, no scenario left, and nothing to send, or only what waits for a paused endpoint. */
function isOver(journey: Journey): boolean {
  const { phases, state } = journey
  const isBusy =
    hasUnrecorded(journey) || journey.recordChanged || hasScenario(journey) || !allHandlersFinished()
  if (phases.lead !== 'closed' || isBusy) return false
  return state.next > state.last || phases.webhooks === 'held'
}

/** A loop of a lead's workflow. All of them run concurrently. */
interface Coroutine {
  what: string
  when: (journey: Journey) => boolean
  step: (journey: Journey) => Promise<void>
}

const coroutines: readonly Coroutine[] = [
  { what: 'welcome', when: isUnwelcomed, step: welcome },
  { what: 'recording', when: hasNews, step: recordInbox },
  { what: 'score updates', when: isCadenceOn, step: recordDueScoreUpdate },
  { what: 'signalled score updates', when: hasUnscored, step: recordUnscored },
  { what: 'deliveries', when: hasOpenWebhook, step: deliverNext },
  { what: 'scenario', when: hasScenario, step: playScenario },
  { what: 'closing', when: isToClose, step: closeWhenDone },
]

/**
 * Repeats a step whenever its condition holds, until the run ends and cancels the scope. After each step, operators see what
 * changed. An error is noted and the step repeated in a minute: it ends neither the coroutine nor the workflow.
 */
async function forever(journey: Journey, { what, when, step }: Coroutine): Promise<void> {
  const scope = CancellationScope.current()
  while (!scope.consideredCancelled) {
    try {
      await condition(() => when(journey))
      // another coroutine that woke in the same round may have changed that
      if (!when(journey)) continue
      await step(journey)
      // a command after the run's last one would be refused
      if (!scope.consideredCancelled) publish(journey)
    } catch (error) {
      if (isCancellation(error) || heedRefusal(journey, error)) continue
      note(journey, what, 'failed: it is tried again in a minute')
      publish(journey)
      await sleep('1 minute', { summary: `${what}: try again` }).catch(() => {})
    }
  }
}

/** Whether the lead closes now, or on a known date. */
function isToClose({ state, phases }: Journey): boolean {
  return phases.lead === 'closing' || (phases.lead === 'open' && state.endsAt !== null)
}

/** Closes the lead in the record: when staff or an operator ask, or 30 days after mortgage_ready. */
async function closeWhenDone(journey: Journey): Promise<void> {
  const { state } = journey
  if (journey.phases.lead === 'open') {
    const { offset } = state
    const waitMs = (state.endsAt ?? 0) - now(journey)
    const changed = () => state.offset !== offset || journey.phases.lead !== 'open'
    if (waitMs > 0 && (await condition(changed, waitMs, { summary: 'late milestones are taken until then' })))
      return
    close(journey, 'mortgage_ready')
    publish(journey)
  }
  await condition(() => !hasUnrecorded(journey))
  const reason = journey.closeReason ?? 'canceled'
  const summary = `close the lead: ${reason}`
  const args = [state.leadId, reason, journey.scenario !== null] as const
  // the lead's clock may have been moved without this workflow
  state.offset = await closeLead.executeWithOptions({ summary }, [...args])
  journey.phases.lead = 'closed'
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
