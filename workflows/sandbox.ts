import { ApplicationFailure, condition, currentUpdateInfo } from '@temporalio/workflow'
import type { DeliveryFailure } from '../src/leads/referral-state.ts'
import {
  type Advance,
  type ClockStep,
  clockStops,
  type ClockTarget,
  type Happened,
  MOST_DAYS,
} from '../src/sandbox/lead-clock.ts'
import { type ScenarioEnd, scenarioNames, scenarios, type Step } from '../src/sandbox/scenarios.ts'
import { DAY_MS } from '../src/values.ts'
import { advanceClock } from './activities.ts'
import { simulate, takeUpdates } from './inbox.ts'
import {
  close,
  dueAt,
  hasUnrecorded,
  isCadenceOn,
  type Journey,
  now,
  type PlayedScenario,
  wake,
} from './journey.ts'
import { advanceClockUpdate, CLOCK_MOVING, isRecord, LEAD_CLOSED, runScenarioUpdate } from './messages.ts'
import { publishSoon } from './operator-view.ts'

/** How long the answer waits for a scenario's end: less than the API does. */
const SCENARIO_PATIENCE = '8 seconds'

/** What a tester asks for: to move the lead's clock, or to play a scenario. One at a time. */
export function receiveTests(journey: Journey): void {
  takeUpdates(journey, advanceClockUpdate, {
    description: 'Sandbox only. Moves the lead’s clock. Argument: {"days": 45}, or {"to": "next_retry"}',
    validate(request) {
      refuseIfMoved(journey)
      if (!isTarget(request)) throw new Error('The argument is {"days": …} or {"to": …}.')
    },
    answer: (to) => moveClock(journey, 'to' in to ? to.to : now(journey) + to.days * DAY_MS, true),
  })
  takeUpdates(journey, runScenarioUpdate, {
    description: 'Sandbox only. Plays a scenario. Argument: {"scenario": "dropped_out"}',
    validate(request) {
      refuseIfMoved(journey)
      if (!isRecord(request) || !scenarioNames.some((name) => name === request.scenario))
        throw new Error(`The argument is {"scenario": …}, with one of ${scenarioNames.join(', ')}.`)
    },
    async answer({ scenario: name }) {
      journey.scenario = { name, key: currentUpdateInfo()?.id ?? '', step: 0 }
      publishSoon(journey)
      const isOver = await condition(() => journey.scenario === null, SCENARIO_PATIENCE)
      return isOver ? journey.scenarioEnd : 'running'
    },
  })
}

/** @throws {ApplicationFailure} if the lead is closed, or its clock is moved already. */
function refuseIfMoved({ phases, isMoving, scenario }: Journey): void {
  if (phases.lead !== 'open') throw ApplicationFailure.nonRetryable('The lead is closed.', LEAD_CLOSED)
  if (isMoving || scenario !== null)
    throw ApplicationFailure.nonRetryable('The clock is moving.', CLOCK_MOVING)
}

function isTarget(request: unknown): request is ClockTarget {
  if (!isRecord(request)) return false
  const { days, to } = request
  if (to !== undefined) return clockStops.some((stop) => stop === to)
  return Number.isSafeInteger(days) && Number(days) >= 1 && Number(days) <= MOST_DAYS
}

/** How long to wait for what is due, before the record is asked, which knows of what began elsewhere. */
const DUE_PATIENCE = '1 second'

/**
 * Moves the lead's clock, and stops at each date on the way until what is due there has happened. A webhook that is held is
 * passed over.
 *
 * @param isTold whether somebody wants to know what happened on the way.
 */
async function moveClock(journey: Journey, target: ClockStep['target'], isTold: boolean): Promise<Advance> {
  const happened: Happened[] = []
  const { state } = journey
  const summary = `move the clock of lead ${state.leadId}`
  let failure: DeliveryFailure | null = null
  let step: ClockStep = { target, failures: null, isTold }
  journey.isMoving = true
  try {
    for (;;) {
      const before = failure
      const hasHappened = () => isQuiet(journey) || state.failure !== before
      // a timer that is not needed costs, too
      if (!hasHappened()) await condition(hasHappened, DUE_PATIENCE)
      failure = state.failure
      const passed = await advanceClock.executeWithOptions({ summary }, [state.leadId, step])
      state.offset = Math.max(state.offset, passed.offset)
      happened.push(...passed.happened)
      if (passed.next === null) return { happened, stopped: passed.stopped ?? null }
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

export const hasScenario = ({ scenario, isMoving }: Journey) => scenario !== null && !isMoving

/** Takes the next step of the scenario: what a tester would do. */
export async function playScenario(journey: Journey): Promise<void> {
  const { scenario } = journey
  if (scenario === null) return
  const step = stepOf(scenario)
  const end = step === undefined ? 'done' : await take(journey, scenario, step)
  if (end === 'next') {
    scenario.step += 1
    delete scenario.target
    return
  }
  journey.scenarioEnd = end
  journey.scenario = null
}

const stepOf = ({ name, step }: PlayedScenario): Step | undefined => scenarios[name].steps[step]

/** Whether the scenario closes the lead. */
export function dropsOut({ scenario, closeReason }: Journey): boolean {
  const step = scenario === null ? undefined : stepOf(scenario)
  return step !== undefined && 'drops_out' in step && step.drops_out === closeReason
}

async function take(journey: Journey, scenario: PlayedScenario, step: Step): Promise<ScenarioEnd | 'next'> {
  if ('drops_out' in step) {
    close(journey, step.drops_out)
    await condition(() => journey.phases.lead === 'closed')
    return 'next'
  }
  if (journey.phases.lead !== 'open') return 'closed'
  if ('days' in step) {
    scenario.target ??= now(journey) + step.days * DAY_MS
    return (await moveClock(journey, scenario.target, false)).stopped === null ? 'next' : 'stopped'
  }
  const { happens: name, times = 1, gains } = step
  const events = Array.from({ length: times }, () => ({ name, ...(gains && { gains }) }))
  const answers = await simulate(journey, { key: `${scenario.key}:${scenario.step}`, events })
  const outcomes = answers.map(({ outcome }) => outcome)
  if (outcomes.includes('closed')) return 'closed'
  return outcomes.includes('full') ? 'stopped' : 'next'
}
