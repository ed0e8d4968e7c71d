import {
  ApplicationFailure,
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  setHandler,
} from '@temporalio/workflow'
import { simulatedItems } from '../../src/core/leads/decisions/milestone-keys.ts'
import { scenarioId } from '../../src/capabilities/sandbox/decisions/scenarios.ts'
import { isSimulation } from '../arguments.ts'
import type { SignalHandler } from '../inbox.ts'
import { type Journey, note } from '../journey.ts'
import {
  LEAD_CLOSED,
  type MilestoneAnswer,
  type Played,
  playedSignal,
  playSignal,
  type SimulateRequest,
  simulateUpdate,
} from '../messages.ts'
import { publishSoon } from '../publish.ts'
import { takeAnswer } from '../standing.ts'

/** Milestones that a partner simulates: recorded as others are, answered once all are. */
export function receiveSimulations(journey: Journey): void {
  // a request to cancel the workflow closes the lead, and interrupts nothing
  const answer = (request: SimulateRequest) =>
    CancellationScope.nonCancellable(() => simulate(journey, request))
  setHandler(simulateUpdate, answer, {
    validator: (request: unknown) => validate(journey, request),
    description:
      'Sandbox only. Milestones in their order. Argument: {"key": "…", "events": [{"name": "contract_signed"}]}',
  })
}

/** @throws {Error} what the sender did wrong; of type `LEAD_CLOSED` if the lead takes no more milestones. */
function validate({ phases }: Journey, request: unknown): void {
  if (phases.lead !== 'open') throw ApplicationFailure.nonRetryable('The lead is closed.', LEAD_CLOSED)
  if (!isSimulation(request)) throw new Error('The argument is {"key": "…", "events": [{"name": …}, …]}.')
}

/** The signal of a scenario. */
export const scenarioSignal = (journey: Journey): SignalHandler => ({
  signal: playSignal,
  description: 'From the service itself, in a sandbox: milestones of a scenario',
  act: (argument) => CancellationScope.nonCancellable(() => play(journey, argument)),
})

/** Milestones of a scenario, which is told once all are recorded. What is being recorded already is not taken again. */
async function play(journey: Journey, request: unknown): Promise<void> {
  if (!isSimulation(request)) {
    note(journey, 'play', 'its argument was not understood')
    return
  }
  const { playing, state } = journey
  const { key } = request
  if (playing.has(key)) return
  playing.add(key)
  await tellScenario(state.leadId, { key, end: await endOf(journey, request) })
  playing.delete(key)
}

async function endOf(journey: Journey, request: SimulateRequest): Promise<Played['end']> {
  if (journey.phases.lead !== 'open') return 'closed'
  const answers = await simulate(journey, request)
  const outcomes = answers.map(({ outcome }) => outcome)
  if (outcomes.includes('closed')) return 'closed'
  return outcomes.includes('full') ? 'full' : 'recorded'
}

async function tellScenario(leadId: number, played: Played): Promise<void> {
  const scenario = getExternalWorkflowHandle(scenarioId(leadId))
  // one that is over by now needs no answer
  await scenario.signal(playedSignal, played).catch(() => undefined)
}

async function simulate(journey: Journey, request: SimulateRequest): Promise<MilestoneAnswer[]> {
  const { awaited, inbox } = journey
  const items = simulatedItems(request)
  // the server allows a run 2,000 updates and 10,000 signals
  journey.messages += 2
  journey.counts.received += items.length
  for (const item of items) awaited.set(item, undefined)
  inbox.push(...items)
  publishSoon(journey)
  await condition(() => items.every((item) => awaited.get(item) !== undefined))
  return items.map((item) => takeAnswer(journey, item))
}
