import { CancellationScope, condition, currentUpdateInfo, setHandler } from '@temporalio/workflow'
import {
  type ScenarioEnd,
  type ScenarioName,
  scenarioNames,
  scenarios,
  type Step,
} from '../src/sandbox/scenarios.ts'
import { MOST_AHEAD_MS } from '../src/sandbox/lead-clock.ts'
import { DAY_MS } from '../src/values.ts'
import { isRecord } from './arguments.ts'
import { close, type Journey, now } from './journey.ts'
import { runScenarioUpdate } from './messages.ts'
import { publishSoon } from './operator-view.ts'
import { moveClock, refuseIfMoved } from './advance-clock.ts'
import { simulate } from './simulate.ts'

/** How long an answer waits for the end: less than the API does. */
const PATIENCE = '8 seconds'

/** The key of a scenario that the lead's address names: these take turns. */
export const OF_ADDRESS = 'address'

/** A scenario that is played: all that a run hands to the next. */
export interface PlayedScenario {
  name: ScenarioName
  /** With the number of a step, the key of its milestones: one that is played once more makes its own chats. */
  key: string
  step: number
  /** To where the step moves the clock. */
  target?: number
}

/** Scenarios of a partner: what a tester would do, simulated milestones and advances of the lead's clock. */
export function receiveScenarios(journey: Journey): void {
  const play = async ({ scenario }: { scenario: ScenarioName }) => {
    journey.messages += 2
    beginScenario(journey, scenario, currentUpdateInfo()?.id ?? '')
    publishSoon(journey)
    const isOver = await CancellationScope.nonCancellable(() =>
      condition(() => journey.scenario === null, PATIENCE),
    )
    return isOver ? journey.scenarioEnd : 'running'
  }
  setHandler(runScenarioUpdate, play, {
    validator: (request: unknown) => {
      refuseIfMoved(journey)
      if (!isRecord(request) || !scenarioNames.some((name) => name === request.scenario))
        throw new Error(`The argument is {"scenario": …}, with one of ${scenarioNames.join(', ')}.`)
    },
    description: 'Sandbox only. Plays a scenario. Argument: {"scenario": "dropped_out"}',
  })
}

export function beginScenario(journey: Journey, name: ScenarioName, key: string): void {
  journey.scenario = { name, key, step: 0 }
}

export const hasScenario = ({ scenario, isMoving }: Journey) => scenario !== null && !isMoving

/** Takes the next step of the scenario. */
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
    const { target } = scenario
    if (target - Date.now() > MOST_AHEAD_MS) return 'stopped'
    const { partnerId } = journey.state
    const turnOf = scenario.key === OF_ADDRESS ? partnerId : undefined
    const { stopped } = await moveClock(journey, { target, since: null }, turnOf)
    return stopped === undefined ? 'next' : 'stopped'
  }
  const { happens: name, times = 1, gains } = step
  const events = Array.from({ length: times }, () => ({ name, ...(gains && { gains }) }))
  const answers = await simulate(journey, { key: `${scenario.key}:${scenario.step}`, events })
  const outcomes = answers.map(({ outcome }) => outcome)
  if (outcomes.includes('closed')) return 'closed'
  return outcomes.includes('full') ? 'stopped' : 'next'
}
