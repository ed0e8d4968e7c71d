import {
  CancellationScope,
  condition,
  currentUpdateInfo,
  defineSignal,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import type { UpdateDefinition } from '@temporalio/common'
import { isShowable, takesPayload } from '../src/leads/event-payloads.ts'
import {
  milestones,
  type MilestoneName,
  type SignalledMilestone,
  signalledMilestones,
} from '../src/leads/milestones.ts'
import { closeReasonNames } from '../src/leads/reasons.ts'
import type { MilestoneItem } from '../src/leads/referral-state.ts'
import { IDEMPOTENCY_KEY } from '../src/values.ts'
import { close, type Journey, note, wake } from './journey.ts'
import {
  closeUpdate,
  deliveryFailedSignal,
  type MilestoneAnswer,
  milestoneOf,
  milestoneUpdate,
  readCloseReason,
  readFailure,
  readMilestoneArgument,
  readRecordSignal,
  wakeSignal,
} from './messages.ts'
import { publish } from './operator-view.ts'
import { heedRefusal } from './read-record.ts'

/** Handlers append and return: they decide nothing and never throw. */
export function receiveSignals(journey: Journey): void {
  const handlers = handlersOf(journey)
  const take = (name: string, argument: unknown) => {
    const [, act] = handlers.get(name) ?? []
    if (act === undefined) notUnderstood(journey, name)
    else act(argument)
    publish(journey)
  }
  // First, so that signals that wait for this run's first workflow task come in the order in which the server has
  // them: without a default handler the SDK hands them out by name, as soon as each name has its handler.
  setDefaultSignalHandler(take)
  for (const [name, [description]] of handlers)
    setHandler(defineSignal<[unknown?]>(name), (argument) => take(name, argument), { description })
}

/** For each signal's name, its description in the Web UI and its action. */
type SignalHandlers = Map<string, [description: string, act: (argument: unknown) => void]>

function handlersOf(journey: Journey): SignalHandlers {
  const handlers: SignalHandlers = new Map()
  for (const name of signalledMilestones)
    handlers.set(name, [describeMilestone(name), (argument) => void receive(journey, name, argument)])
  const showFailure = (argument: unknown) => {
    const failure = readFailure(argument)
    // the webhook may be settled by now
    if (failure?.sequence === journey.state.next) journey.state.failure = failure
  }
  const toRead = 'Begin another run with what the record has: it was restored, or changed. No argument'
  return handlers
    .set(wakeSignal.name, [fromService('the open webhook may be due by now'), () => wake(journey)])
    .set(readRecordSignal.name, [toRead, () => void (journey.recordChanged = true)])
    .set(deliveryFailedSignal.name, [fromService('the endpoint refuses a webhook'), showFailure])
}

const fromService = (what: string) => `From the service itself: ${what}`

function describeMilestone(name: MilestoneName): string {
  const { meaning, once } = milestones[name]
  const argument = takesPayload(name) ? '{"id": "…", "event_payload": {…}}' : '{"id": "…"}'
  const sentence = `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}`
  return `${sentence}. ${once ? 'Counts once; needs no argument' : `Argument, if any: ${argument}; the same id counts once`}`
}

function notUnderstood(journey: Journey, name: string): void {
  journey.counts.received += 1
  journey.counts.notUnderstood += 1
  const why = name === 'lead_received' ? 'only create-lead records it' : 'there is no such milestone'
  note(journey, isShowable(name) ? name : 'a signal with an unusual name', why)
}

/** The limit of score updates that wait for their gains: they are part of a run's input. */
const MOST_UNSCORED = 1000

/** Receives a milestone. An update without an id of its own counts once by `updateId`. */
function receive(
  journey: Journey,
  name: SignalledMilestone,
  argument: unknown,
  updateId?: string,
): MilestoneItem | undefined {
  journey.counts.received += 1
  const { id = updateId, gains, faults } = readMilestoneArgument(name, argument)
  for (const fault of faults) note(journey, name, fault)
  const item: MilestoneItem = { name, dedupeKey: keyOf(journey, name, id), ...(gains && { gains }) }
  if (name !== 'score_update' || gains !== undefined) journey.inbox.push(item)
  else if (journey.unscored.length < MOST_UNSCORED) journey.unscored.push(item)
  else {
    journey.counts.refused += 1
    note(journey, name, `not recorded: ${MOST_UNSCORED} wait for the score provider already`)
    return undefined
  }
  return item
}

/** The dedupe key. Without an id, a reset keeps it; a workflow that is started again gets another. */
function keyOf(journey: Journey, name: SignalledMilestone, id: string | undefined): string {
  if (milestones[name].once) return name
  if (id !== undefined) return `${name}:${id}`
  journey.counter += 1
  return `${name}@${workflowInfo().firstExecutionRunId}:${journey.counter}`
}

interface UpdateHandler<Argument, Answer> {
  description: string
  /** @throws {Error} what its sender did wrong. A rejected update leaves nothing in the history. */
  validate?: (argument: unknown) => void
  answer: (argument: Argument) => Promise<Answer>
}

/** Sets the handler of an update. A cancellation request closes the lead, and interrupts no answer. */
export function handleUpdate<Answer, Argument>(
  journey: Journey,
  update: UpdateDefinition<Answer, [Argument]>,
  { description, validate, answer }: UpdateHandler<Argument, Answer>,
): void {
  const handle = async (argument: Argument) => {
    try {
      return await CancellationScope.nonCancellable(() => answer(argument))
    } catch (error) {
      heedRefusal(journey, error)
      throw error
    } finally {
      publish(journey)
    }
  }
  setHandler(update, handle, { description, ...(validate && { validator: validate }) })
}

/** How long an answer waits for the score provider; meanwhile the run cannot continue as new. */
const PROVIDER_PATIENCE = '10 seconds'

/** Milestones and the lead's closing as updates: answered once they are recorded. */
export function receiveUpdates(journey: Journey): void {
  handleUpdate(journey, milestoneUpdate, {
    description:
      'A milestone, answered with its outcome and event id. Argument: {"name": "contract_signed", "id": "…"}',
    validate: (request) => validateMilestone(journey, request),
    async answer(request) {
      const item = receive(journey, request.name, request, currentUpdateInfo()?.id)
      const [answer] = await awaitOutcomes(journey, item === undefined ? [] : [item])
      return answer ?? { outcome: 'accepted', event_id: null }
    },
  })
  handleUpdate(journey, closeUpdate, {
    description: `The borrower dropped out: no more milestones. Argument, if any: {"reason": "…"}, one of ${closeReasonNames.join(', ')}`,
    async answer(argument) {
      close(journey, readCloseReason(argument))
      publish(journey)
      // the score provider may take longer
      await condition(() => journey.phases.lead === 'closed', PROVIDER_PATIENCE)
    },
  })
}

function validateMilestone({ phases }: Journey, request: unknown): void {
  const name = milestoneOf(request)
  if (name === undefined)
    throw new Error(`The argument is {"name": …}, with one of ${signalledMilestones.join(', ')}.`)
  const { id = currentUpdateInfo()?.id, faults } = readMilestoneArgument(name, request)
  if (faults.length > 0) throw new Error(`${name}: ${faults[0]}. Nothing was recorded.`)
  // it becomes part of a key in the record, and PostgreSQL would refuse some characters for ever
  if (id !== undefined && !IDEMPOTENCY_KEY.test(id))
    throw new Error('The ID of the update is not 1 to 255 visible ASCII characters. Nothing was recorded.')
  if (phases.lead !== 'open') throw new Error('The lead is closed: it takes no more milestones.')
}

/** The outcomes of milestones, once they are recorded. `accepted`: the score provider, or the next run, comes first. */
export async function awaitOutcomes(journey: Journey, items: MilestoneItem[]): Promise<MilestoneAnswer[]> {
  const { awaited, unscored } = journey
  for (const item of items) awaited.set(item, undefined)
  publish(journey)
  const isAnswered = () => journey.recordChanged || items.every((item) => awaited.get(item) !== undefined)
  if (items.some((item) => unscored.includes(item))) await condition(isAnswered, PROVIDER_PATIENCE)
  else await condition(isAnswered)
  return items.map((item) => {
    const result = awaited.get(item)
    awaited.delete(item)
    return { outcome: result?.outcome ?? 'accepted', event_id: result?.eventId ?? null }
  })
}
