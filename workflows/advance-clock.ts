import { ApplicationFailure, CancellationScope, condition, setHandler } from '@temporalio/workflow'
import type { clockActivities } from '../activities/advance-clock.ts'
import {
  type Advance,
  type AdvanceRequest,
  type ClockStep,
  describeAdvance,
  type Happened,
} from '../src/sandbox/lead-clock.ts'
import type { DeliveryFailure } from '../src/leads/referral-state.ts'
import { isRecord } from './arguments.ts'
import { hasUnrecorded, type Journey, now, wake } from './journey.ts'
import { advanceClockUpdate, CLOCK_MOVING, LEAD_CLOSED } from './messages.ts'
import { lasting, policies } from './activities.ts'
import { publishSoon } from './operator-view.ts'
import { heedRefusal } from './read-record.ts'
import { dueAt, isCadenceOn } from './score-updates.ts'

/** "Not yet" while what is due has not happened. */
const { advanceClock } = lasting<ReturnType<typeof clockActivities>>(policies.record)

/** How long it waits for what it began, before it asks the record, which knows of what began elsewhere. */
const PATIENCE = '1 second'

/** Advances of the lead's clock: one at a time, and none while a scenario is played. */
export function receiveAdvances(journey: Journey): void {
  const advance = async (request: AdvanceRequest) => {
    // the server allows a run 2,000 updates and 10,000 signals
    journey.messages += 2
    try {
      return await CancellationScope.nonCancellable(() => moveClock(journey, request))
    } catch (error) {
      heedRefusal(journey, error)
      throw error
    } finally {
      publishSoon(journey)
    }
  }
  setHandler(advanceClockUpdate, advance, {
    validator: (request: unknown) => {
      refuseIfMoved(journey)
      if (!isAdvance(request)) throw new Error('The argument is {"target": …, "since": {…}}.')
    },
    description: 'From the service itself, in a sandbox: moves the lead’s clock',
  })
}

/** @throws {ApplicationFailure} if the lead is closed, or its clock is moved already. */
export function refuseIfMoved({ phases, isMoving, scenario }: Journey): void {
  if (phases.lead !== 'open') throw ApplicationFailure.nonRetryable('The lead is closed.', LEAD_CLOSED)
  if (isMoving || scenario !== null)
    throw ApplicationFailure.nonRetryable('The clock is moving.', CLOCK_MOVING)
}

/**
 * Moves the lead's clock, and stops at each date on the way until what is due there has happened. A webhook that is held is
 * passed over.
 *
 * @param turnOf the partner whose leads take turns; none for what somebody waits for.
 */
export async function moveClock(
  journey: Journey,
  { target, since }: AdvanceRequest,
  turnOf?: number,
): Promise<Advance> {
  const { state } = journey
  const happened: Happened[] = []
  let failure: DeliveryFailure | null = null
  let step: ClockStep = {
    target,
    since,
    failures: null,
    isClosed: false,
    ...(turnOf !== undefined && { turnOf }),
  }
  journey.isMoving = true
  try {
    for (;;) {
      const before = failure
      const hasHappened = () => isQuiet(journey) || state.failure !== before
      // a timer that is not needed costs, too
      if (!hasHappened()) await condition(hasHappened, PATIENCE)
      failure = state.failure
      const summary = describeAdvance(state.leadId, target)
      const passed = await advanceClock.executeWithOptions({ summary }, [state.leadId, step])
      happened.push(...passed.happened)
      state.offset = Math.max(state.offset, passed.offset)
      if (passed.next === null) return { happened, ...(passed.stopped && { stopped: passed.stopped }) }
      // its date has moved, too
      if (journey.phases.webhooks === 'sending') wake(journey)
      step = passed.next
    }
  } finally {
    journey.isMoving = false
  }
}

/** Whether nothing is open, under way or due. */
function isQuiet(journey: Journey): boolean {
  const { state, phases } = journey
  if (phases.inbox !== 'idle' || phases.cadence === 'asking' || hasUnrecorded(journey)) return false
  if (state.next <= state.last && phases.webhooks !== 'held') return false
  if (phases.lead !== 'open') return phases.lead !== 'closing'
  return (state.endsAt ?? Infinity) > now(journey) && (!isCadenceOn(journey) || dueAt(journey) > Date.now())
}

function isAdvance(request: unknown): request is AdvanceRequest {
  if (!isRecord(request) || !isRecord(request.since)) return false
  const { target, since } = request
  if (target !== 'next_retry' && !Number.isSafeInteger(target)) return false
  return Number.isSafeInteger(since.position) && typeof since.at === 'string'
}
