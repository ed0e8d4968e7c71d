import { ApplicationFailure, condition, currentUpdateInfo } from '@temporalio/workflow'
import { simulatedItems, type Simulation } from '../src/leads/referral-state.ts'
import {
  type Advance,
  type ClockStop,
  clockStops,
  type ClockTarget,
  MOST_DAYS,
} from '../src/sandbox/lead-clock.ts'
import { type ScenarioEnd, scenarioNames, scenarios, type Step } from '../src/sandbox/scenarios.ts'
import { DAY_MS } from '../src/values.ts'
import { advanceClock } from './activities.ts'
import { awaitOutcomes, handleUpdate } from './inbox.ts'
import { close, hasUnrecorded, type Journey, now, type PlayedScenario, wake } from './journey.ts'
import {
  advanceClockUpdate,
  CLOCK_MOVING,
  isRecord,
  isSimulation,
  LEAD_CLOSED,
  runScenarioUpdate,
  simulateUpdate,
} from './messages.ts'
import { publish } from './operator-view.ts'

/** How long the answer waits for a scenario's end: less than the API does. */
const SCENARIO_PATIENCE = '8 seconds'

/** Handles a tester's updates: simulated milestones, moves of the lead's clock and scenarios, the last two one at a time. */
export function receiveTests(journey: Journey): void {
  handleUpdate(journey, simulateUpdate, {
    description:
      'Sandbox only. Milestones in their order. Argument: {"key": "…", "events": [{"name": "contract_signed"}]}',
    validate(request) {
      requireOpen(journey)
      if (!isSimulation(request)) throw new Error('The argument is {"key": "…", "events": [{"name": …}, …]}.')
    },
    async answer(request) {
      const answers = await simulate(journey, request)
      if (answers.some(({ outcome }) => outcome === 'accepted')) throw interrupted()
      return answers
    },
  })
  handleUpdate(journey, advanceClockUpdate, {
    description: 'Sandbox only. Moves the lead’s clock. Argument: {"days": 45}, or {"to": "next_retry"}',
    validate(request) {
      requireStill(journey)
      if (!isTarget(request)) throw new Error('The argument is {"days": …} or {"to": …}.')
    },
    answer: (to) => moveClock(journey, 'to' in to ? to.to : now(journey) + to.days * DAY_MS),
  })
  handleUpdate(journey, runScenarioUpdate, {
    description: 'Sandbox only. Plays a scenario. Argument: {"scenario": "dropped_out"}',
    validate(request) {
      requireStill(journey)
      if (!isRecord(request) || !scenarioNames.some((name) => name === request.scenario))
        throw new Error(`The argument is {"scenario": …}, with one of ${scenarioNames.join(', ')}.`)
    },
    async answer({ scenario: name }) {
      journey.scenario = { name, key: currentUpdateInfo()?.id ?? '', step: 0 }
      publish(journey)
      const isOver = await condition(() => journey.scenario === null, SCENARIO_PATIENCE)
      return isOver ? journey.scenarioEnd : 'running'
    },
  })
}

const interrupted = () =>
  ApplicationFailure.nonRetryable('Interrupted before its end: send it again.', 'NotNow')

function requireOpen({ phases }: Journey): void {
  if (phases.lead !== 'open') throw ApplicationFailure.nonRetryable('The lead is closed.', LEAD_CLOSED)
}

/** Refuses a second move of the clock at a time. */
function requireStill(journey: Journey): void {
  requireOpen(journey)
  if (journey.isMoving || journey.scenario !== null)
    throw ApplicationFailure.nonRetryable('The clock is moving.', CLOCK_MOVING)
}

function isTarget(request: unknown): request is ClockTarget {
  if (!isRecord(request)) return false
  const { days, to } = request
  if (to !== undefined) return clockStops.some((stop) => stop === to)
  return Number.isSafeInteger(days) && Number(days) >= 1 && Number(days) <= MOST_DAYS
}

/** Records simulated milestones, and waits for their outcomes. */
function simulate(journey: Journey, simulation: Simulation) {
  const items = simulatedItems(simulation)
  journey.counts.received += items.length
  journey.inbox.push(...items)
  return awaitOutcomes(journey, items)
}

/** How long the clock waits for what was sent before it is moved. */
const RECORDING_PATIENCE = '1 second'
/** How many tries in a row may find something due: a minute. */
const MOST_WAITS = 10

/**
 * Moves the lead's clock, and stops at each date on the way until what is due there has happened. A webhook that is held is
 * passed over.
 *
 * @throws {ApplicationFailure} if that takes too long, or another run is to read the record: this one sends nothing more.
 */
async function moveClock(journey: Journey, target: number | ClockStop): Promise<Advance> {
  const { state } = journey
  const summary = `move the clock of lead ${state.leadId}`
  const stands: Advance['stands'] = []
  let to: number | ClockStop = target
  let waits = 0
  journey.isMoving = true
  try {
    // a timer that is not needed would add to the history
    if (hasUnrecorded(journey)) await condition(() => !hasUnrecorded(journey), RECORDING_PATIENCE)
    while (waits < MOST_WAITS && !journey.recordChanged) {
      const args = [state.leadId, to, stands.length === 0] as const
      const step = await advanceClock.executeWithOptions({ summary }, [...args])
      state.offset = Math.max(state.offset, step.offset)
      if (step.from !== null) stands.push(step.from)
      if (step.next === null) return { stands, stopped: step.stopped }
      to = step.next
      waits = step.from === null ? waits + 1 : 0
      // the open webhook's date has moved, too
      if (waits === 0 && journey.phases.webhooks === 'sending') wake(journey)
    }
    throw interrupted()
  } finally {
    journey.isMoving = false
  }
}

export const hasScenario = ({ scenario, isMoving }: Journey) => scenario !== null && !isMoving

/** Takes the next step of the scenario: what a tester would do. */
export async function playScenario(journey: Journey): Promise<void> {
  const { scenario } = journey
  if (scenario === null) return
  const step: Step | undefined = scenarios[scenario.name].steps[scenario.step]
  const end = step === undefined ? 'done' : await take(journey, scenario, step)
  if (end === 'next') scenario.step += 1
  else Object.assign(journey, { scenario: null, scenarioEnd: end })
}

async function take(journey: Journey, scenario: PlayedScenario, step: Step): Promise<ScenarioEnd | 'next'> {
  if ('drops_out' in step) {
    close(journey, step.drops_out)
    await condition(() => journey.phases.lead === 'closed')
    return 'next'
  }
  if (journey.phases.lead !== 'open') return 'closed'
  if ('days' in step) {
    const { stopped } = await moveClock(journey, now(journey) + step.days * DAY_MS)
    return stopped === null ? 'next' : 'stopped'
  }
  const { happens: name, times = 1, gains } = step
  const events = Array.from({ length: times }, () => ({ name, ...(gains && { event_payload: gains }) }))
  const answers = await simulate(journey, { key: `${scenario.key}:${scenario.step}`, events })
  const outcomes = answers.map(({ outcome }) => outcome)
  if (outcomes.includes('closed')) return 'closed'
  return outcomes.includes('full') ? 'stopped' : 'next'
}
