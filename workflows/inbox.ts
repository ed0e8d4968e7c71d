import { setDefaultSignalHandler, setHandler, type SignalDefinition } from '@temporalio/workflow'
import { takesPayload } from '../src/leads/event-payloads.ts'
import { type MilestoneItem, milestoneKey } from '../src/leads/referral-state.ts'
import { milestones, type MilestoneName, type SignalledMilestone } from '../src/leads/milestones.ts'
import { isShowable } from '../src/leads/operator-text.ts'
import { readFailure, readMilestoneArgument } from './arguments.ts'
import { type Journey, nextKey, note, sendNow, wake } from './journey.ts'
import {
  readRecordSignal,
  deliveryFailedSignal,
  milestoneSignals,
  sendNowSignal,
  wakeSignal,
} from './messages.ts'
import { publishSoon } from './operator-view.ts'

/** The limit of score updates that wait for their gains: they are part of a run's input. */
const MOST_UNSCORED = 1000

interface SignalHandler {
  signal: SignalDefinition<[unknown?]>
  /** Shown in the Web UI's list of signals. */
  description: string
  act: (argument: unknown) => void
}

/** Handlers append and return: they decide nothing and never throw. */
export function receiveSignals(journey: Journey): void {
  const handlers = handlersOf(journey)
  const byName = new Map(handlers.map(({ signal, act }) => [signal.name, act]))
  const take = (name: string, argument: unknown) => {
    journey.messages += 1
    const act = byName.get(name)
    if (act === undefined) notUnderstood(journey, name)
    else act(argument)
    publishSoon(journey)
  }
  // First, so that signals that wait for this run's first workflow task come in the order in which the server has
  // them: without a default handler the SDK hands them out by name, as soon as each name has its handler.
  setDefaultSignalHandler(take)
  for (const { signal, description } of handlers)
    setHandler(signal, (argument) => take(signal.name, argument), { description })
}

function handlersOf(journey: Journey): SignalHandler[] {
  return [
    ...milestoneSignals.map((signal) => ({
      signal,
      description: describeMilestone(signal.name),
      act: (argument: unknown) => void receive(journey, signal.name, argument),
    })),
    {
      signal: sendNowSignal,
      description: 'Try the open webhook now, beside its schedule. No argument',
      act: () => sendNow(journey),
    },
    {
      signal: wakeSignal,
      description: 'From the service itself: the open webhook may be due by now',
      act: () => wake(journey),
    },
    {
      signal: readRecordSignal,
      description: 'Begin another run with what the record has: it was restored, or changed. No argument',
      act: () => void (journey.recordChanged = true),
    },
    {
      signal: deliveryFailedSignal,
      description: 'From the service itself: the endpoint refuses a webhook',
      act: (argument) => takeFailure(journey, argument),
    },
  ]
}

function describeMilestone(name: MilestoneName): string {
  const { meaning, once } = milestones[name]
  const argument = takesPayload(name) ? '{"id": "…", "event_payload": {…}}' : '{"id": "…"}'
  const sentence = `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}`
  return `${sentence}. ${once ? 'Counts once; needs no argument' : `Argument, if any: ${argument}; the same id counts once`}`
}

/** Receives a milestone. An update without an id of its own counts once by `updateId`. */
export function receive(
  journey: Journey,
  name: SignalledMilestone,
  argument: unknown,
  updateId?: string,
): MilestoneItem | undefined {
  journey.counts.received += 1
  const { id = updateId, gains, faults } = readMilestoneArgument(name, argument)
  for (const fault of faults) note(journey, name, fault)
  const item: MilestoneItem = {
    name,
    dedupeKey: milestoneKey(name, id, () => nextKey(journey, name)),
    ...(gains && { gains }),
  }
  if (name !== 'score_update' || gains !== undefined) {
    journey.inbox.push(item)
    return item
  }
  if (journey.unscored.length < MOST_UNSCORED) {
    journey.unscored.push(item)
    return item
  }
  journey.counts.refused += 1
  note(journey, name, `not recorded: ${MOST_UNSCORED} wait for the score provider already`)
  return undefined
}

function notUnderstood(journey: Journey, name: string): void {
  journey.counts.received += 1
  journey.counts.notUnderstood += 1
  const why = name === 'lead_received' ? 'only create-lead records it' : 'there is no such milestone'
  note(journey, isShowable(name) ? name : 'a signal with an unusual name', why)
}

/** Late news of a webhook that is settled by now is no news. */
function takeFailure(journey: Journey, argument: unknown): void {
  const failure = readFailure(argument)
  if (failure?.sequence === journey.state.next) journey.state.failure = failure
}
