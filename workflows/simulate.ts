import { ApplicationFailure, CancellationScope, condition, setHandler } from '@temporalio/workflow'
import { simulatedItems } from '../src/leads/referral-state.ts'
import { isSimulation } from './arguments.ts'
import type { Journey } from './journey.ts'
import { LEAD_CLOSED, type MilestoneAnswer, type SimulateRequest, simulateUpdate } from './messages.ts'
import { publishSoon } from './operator-view.ts'
import { takeAnswer } from './standing.ts'

/** Milestones that a partner simulates: recorded as others are, answered once all are. */
export function receiveSimulations(journey: Journey): void {
  // a request to cancel the workflow closes the lead, and interrupts nothing
  const answer = (request: SimulateRequest) =>
    CancellationScope.nonCancellable(() => answersTo(journey, request))
  setHandler(simulateUpdate, answer, {
    validator: (request: unknown) => validate(journey, request),
    description:
      'Sandbox only. Milestones in their order. Argument: {"key": "…", "events": [{"name": "contract_signed"}]}',
  })
}

async function answersTo(journey: Journey, request: SimulateRequest): Promise<MilestoneAnswer[]> {
  const answers = await simulate(journey, request)
  if (answers.some(({ outcome }) => outcome === 'accepted'))
    throw ApplicationFailure.nonRetryable('Not recorded yet: ask again.', 'NotNow')
  return answers
}

/** @throws {Error} what the sender did wrong; of type `LEAD_CLOSED` if the lead takes no more milestones. */
function validate({ phases }: Journey, request: unknown): void {
  if (phases.lead !== 'open') throw ApplicationFailure.nonRetryable('The lead is closed.', LEAD_CLOSED)
  if (!isSimulation(request)) throw new Error('The argument is {"key": "…", "events": [{"name": …}, …]}.')
}

/** Has milestones recorded, and waits for that. */
export async function simulate(journey: Journey, request: SimulateRequest): Promise<MilestoneAnswer[]> {
  const { awaited, inbox } = journey
  const items = simulatedItems(request)
  // the server allows a run 2,000 updates and 10,000 signals
  journey.messages += 2
  journey.counts.received += items.length
  for (const item of items) awaited.set(item, undefined)
  inbox.push(...items)
  publishSoon(journey)
  const isRecorded = () => items.every((item) => awaited.get(item) !== undefined)
  // the next run records it if the record has to be read first
  await condition(() => isRecorded() || journey.unread)
  return items.map((item) => takeAnswer(journey, item))
}
