import { condition, currentUpdateInfo, setHandler } from '@temporalio/workflow'
import { signalledMilestones, type SignalledMilestone } from '../src/core/leads/decisions/milestones.ts'
import { isRecord, readMilestoneArgument } from './arguments.ts'
import { receive } from './inbox.ts'
import type { Journey } from './journey.ts'
import { type MilestoneAnswer, milestoneUpdate } from './messages.ts'
import { publishSoon } from './publish.ts'
import { takeAnswer } from './standing.ts'

/** How long an answer waits for the score provider; meanwhile the run cannot continue as new. */
const PROVIDER_PATIENCE = '10 seconds'

/** Milestones as updates: refused with a reason before they count, answered once they are recorded. */
export function receiveUpdates(journey: Journey): void {
  setHandler(milestoneUpdate, (request) => record(journey, request.name, request), {
    validator: (request: unknown) => validate(journey, request),
    description:
      'A milestone, answered with its outcome and event id. Argument: {"name": "contract_signed", "id": "…"}',
  })
}

/** @throws {Error} what the sender did wrong; nothing of what was sent is repeated. */
function validate({ phases }: Journey, request: unknown): void {
  const name = isRecord(request) ? signalledMilestones.find((known) => known === request.name) : undefined
  if (name === undefined) {
    throw new Error(`The argument is {"name": …}, with one of ${signalledMilestones.join(', ')}.`)
  }
  const [fault] = readMilestoneArgument(name, request).faults
  if (fault !== undefined) throw new Error(`${name}: ${fault}. Nothing was recorded.`)
  if (phases.lead !== 'open') throw new Error('The lead is closed: it takes no more milestones.')
}

async function record(
  journey: Journey,
  name: SignalledMilestone,
  request: unknown,
): Promise<MilestoneAnswer> {
  // the server allows a run 2,000 updates and 10,000 signals
  journey.messages += 2
  const item = receive(journey, name, request, currentUpdateInfo()?.id)
  publishSoon(journey)
  if (item === undefined) return { outcome: 'accepted', event_id: null }
  const { awaited } = journey
  awaited.set(item, undefined)
  const answered = () => awaited.get(item) !== undefined
  if (journey.unscored.includes(item)) await condition(answered, PROVIDER_PATIENCE)
  else await condition(answered)
  return takeAnswer(journey, item)
}
