import { CancellationScope, condition, currentUpdateInfo, setHandler } from '@temporalio/workflow'
import { signalledMilestones, type SignalledMilestone } from '../src/leads/milestones.ts'
import { IDEMPOTENCY_KEY } from '../src/values.ts'
import { closeReasonNames } from '../src/leads/reasons.ts'
import { isRecord, readCloseArgument, readMilestoneArgument } from './arguments.ts'
import { receive } from './inbox.ts'
import { close, type Journey, note } from './journey.ts'
import { closeUpdate, type MilestoneAnswer, type MilestoneRequest, milestoneUpdate } from './messages.ts'
import { publishSoon } from './operator-view.ts'
import { takeAnswer } from './standing.ts'

/** How long an answer waits for the score provider; meanwhile the run cannot continue as new. */
const PROVIDER_PATIENCE = '10 seconds'

/** Milestones and the lead's closing as updates: answered once they are recorded. */
export function receiveUpdates(journey: Journey): void {
  // a request to cancel the workflow closes the lead, and interrupts nothing
  const answer = (request: MilestoneRequest) =>
    CancellationScope.nonCancellable(() => record(journey, request.name, request))
  setHandler(milestoneUpdate, answer, {
    validator: (request: unknown) => validate(journey, request),
    description:
      'A milestone, answered with its outcome and event id. Argument: {"name": "contract_signed", "id": "…"}',
  })
  setHandler(
    closeUpdate,
    (argument) => CancellationScope.nonCancellable(() => takeClose(journey, argument)),
    {
      description: `The borrower dropped out: no more milestones. Argument, if any: {"reason": "…"}, one of ${closeReasonNames.join(', ')}`,
    },
  )
}

async function takeClose(journey: Journey, argument: unknown): Promise<void> {
  const { reason, faults } = readCloseArgument(argument)
  for (const fault of faults) note(journey, closeUpdate.name, fault)
  journey.messages += 2
  close(journey, reason)
  publishSoon(journey)
  // gains may be asked for, which takes longer
  await condition(() => journey.phases.lead === 'closed', PROVIDER_PATIENCE)
}

/** @throws {Error} what the sender of a milestone did wrong; nothing of what was sent is repeated. */
function validate({ phases }: Journey, request: unknown): void {
  const name = isRecord(request) ? signalledMilestones.find((known) => known === request.name) : undefined
  if (name === undefined) {
    throw new Error(`The argument is {"name": …}, with one of ${signalledMilestones.join(', ')}.`)
  }
  const { id = currentUpdateInfo()?.id, faults } = readMilestoneArgument(name, request)
  if (faults.length > 0) throw new Error(`${name}: ${faults[0]}. Nothing was recorded.`)
  // it becomes part of a key in the record, where PostgreSQL would refuse some for ever
  if (id !== undefined && !IDEMPOTENCY_KEY.test(id))
    throw new Error(
      'The ID of the update is not 1 to 255 visible ASCII characters: send it without one, or with an id in its argument.',
    )
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
  // the next run records it if the record has to be read first
  const answered = () => awaited.get(item) !== undefined || journey.unread
  if (journey.unscored.includes(item)) await condition(answered, PROVIDER_PATIENCE)
  else await condition(answered)
  return takeAnswer(journey, item)
}
