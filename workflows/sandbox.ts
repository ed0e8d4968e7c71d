import { ApplicationFailure, condition, currentUpdateInfo } from '@temporalio/workflow'
import { type DeliveryFailure, simulatedItems, type Simulation } from '../src/leads/referral-state.ts'
import {
  type Advance,
  type ClockStep,
  clockStops,
  type ClockTarget,
  MOST_DAYS,
} from '../src/sandbox/lead-clock.ts'
import { type ScenarioEnd, scenarioNames, scenarios, type Step } from '../src/sandbox/scenarios.ts'
import { DAY_MS } from '../src/values.ts'
import { advanceClock } from './activities.ts'
import { recorded, takeUpdates } from './inbox.ts'
import { close, hasUnrecorded, isScoreDue, type Journey, now, type PlayedScenario, wake } from './journey.ts'
import {
  advanceClockUpdate,
  CLOCK_MOVING,
  isRecord,
  isSimulation,
  LEAD_CLOSED,
  runScenarioUpdate,
  simulateUpdate,
} from './messages.ts'
import { publishSoon } from './operator-view.ts'

/** How long the answer waits for a scenario's end: less than the API does. */
const SCENARIO_PATIENCE = '8 seconds'

/** What a tester asks for: milestones, to move the lead's clock, or to play a scenario. The last two one at a time. */
export function receiveTests(journey: Journey): void {
  takeUpdates(journey, simulateUpdate, {
    description:
      'Sandbox only. Milestones in their order. Argument: {"key": "…", "events": [{"name": "contract_signed"}]}',
    validate(request) {
      refuse(journey, { moving: false })
      if (!isSimulation(request)) throw new Error('The argument is {"key": "…", "events": [{"name": …}, …]}.')
    },
    async answer(request) {
      const answers = await simulate(journey, request)
      if (answers.some(({ outcome }) => outcome === 'accepted'))
        throw ApplicationFailure.nonRetryable('Not recorded yet: ask again.', 'NotNow')
      return answers
    },
  })
  takeUpdates(journey, advanceClockUpdate, {
    description: 'Sandbox only. Moves the lead’s clock. Argument: {"days": 45}, or {"to": "next_retry"}',
    validate(request) {
      refuse(journey, { moving: true })
      if (!isTarget(request)) throw new Error('The argument is {"days": …} or {"to": …}.')
    },
    answer: (to) => moveClock(journey, 'to' in to ? to.to : now(journey) + to.days * DAY_MS),
  })
  takeUpdates(journey, runScenarioUpdate, {
    description: 'Sandbox only. Plays a scenario. Argument: {"scenario": "dropped_out"}',
    validate(request) {
      refuse(journey, { moving: true })
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

/** @throws {ApplicationFailure} if the lead is closed, or its clock must stand still and moves. */
function refuse({ phases, isMoving, scenario }: Journey, { moving }: { moving: boolean }): void {
  if (phases.lead !== 'open') throw ApplicationFailure.nonRetryable('The lead is closed.', LEAD_CLOSED)
  if (moving && (isMoving || scenario !== null))
    throw ApplicationFailure.nonRetryable('The clock is moving.', CLOCK_MOVING)
}

function isTarget(request: unknown): request is ClockTarget {
  if (!isRecord(request)) return false
  const { days, to } = request
  if (to !== undefined) return clockStops.some((stop) => stop === to)
  return Number.isSafeInteger(days) && Number(days) >= 1 && Number(days) <= MOST_DAYS
}

/** Has simulated milestones recorded, and waits for that. */
function simulate(journey: Journey, simulation: Simulation) {
  const items = simulatedItems(simulation)
  journey.counts.received += items.length
  journey.inbox.push(...items)
  return recorded(journey, items)
}

/** How long to wait for what is due, before the record is asked, which knows of what began elsewhere. */
const DUE_PATIENCE = '1 second'

/**
 * Moves the lead's clock, and stops at each date on the way until what is due there has happened. A webhook that is held is
 * passed over.
 */
async function moveClock(journey: Journey, target: ClockStep['target']): Promise<Advance> {
  const { state } = journey
  const happened: Advance['happened'] = []
  const summary = `move the clock of lead ${state.leadId}`
  let failure: DeliveryFailure | null = null
  let step: ClockStep = { target }
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
      if (passed.next === null) return { happened, stopped: passed.stopped }
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
  if (hasUnrecorded(journey) || isScoreDue(journey) || phases.lead === 'closing') return false
  if (state.next <= state.last && phases.webhooks !== 'held') return false
  return phases.lead !== 'open' || (state.endsAt ?? Infinity) > now(journey)
}

export const hasScenario = ({ scenario, isMoving }: Journey) => scenario !== null && !isMoving

/** Takes the next step of the scenario: what a tester would do. */
export async function playScenario(journey: Journey): Promise<void> {
  const { scenario } = journey
  if (scenario === null) return
  const step: Step | undefined = scenarios[scenario.name].steps[scenario.step]
  const end = step === undefined ? 'done' : await take(journey, scenario, step)
  if (end === 'next') {
    scenario.step += 1
    delete scenario.target
    return
  }
  journey.scenarioEnd = end
  journey.scenario = null
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
    return (await moveClock(journey, scenario.target)).stopped === null ? 'next' : 'stopped'
  }
  const { happens: name, times = 1, gains } = step
  const events = Array.from({ length: times }, () => ({ name, ...(gains && { gains }) }))
  const answers = await simulate(journey, { key: `${scenario.key}:${scenario.step}`, events })
  const outcomes = answers.map(({ outcome }) => outcome)
  if (outcomes.includes('closed')) return 'closed'
  return outcomes.includes('full') ? 'stopped' : 'next'
}
