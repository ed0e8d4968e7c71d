import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import {
  isRecord,
  isSimulation,
  readCloseArgument,
  readMilestoneArgument,
} from '../../../../workflows/arguments.ts'
import { closeUpdate, milestoneUpdate, simulateUpdate } from '../../../../workflows/messages.ts'
import { milestoneKey, numberedKey, simulatedItems } from '../decisions/milestone-keys.ts'
import { signalledMilestones, type SignalledMilestone } from '../decisions/milestones.ts'
import { type AnyCloseReason, closeReasonOf } from '../decisions/reasons.ts'
import type { MilestoneItem } from '../decisions/referral.ts'
import { decode, recordingsIn, refusedScoresIn } from './recordings.ts'
import { referralId } from '../../temporal/names.ts'
import type { HistoryEvent } from '../../temporal/history.ts'

/** What a run of a lead’s workflow had received and not decided about when it was ended from outside. */
export interface Unrecorded {
  runId: string
  /** Who ended it, as the client that did it called itself. */
  endedBy: string
  inbox: MilestoneItem[]
  /** Score updates that wait for their gains. */
  unscored: MilestoneItem[]
  /** Why the lead was to be closed; `null` if it was not. */
  closeReason: AnyCloseReason | null
}

/** A run that completes or continues as new has nothing left. */
const CUT_OFF = ['TERMINATED', 'FAILED', 'TIMED_OUT', 'CANCELLED']

/**
 * What the latest run of a lead’s workflow left behind; `undefined` if it runs, or ended by itself. Some of it may be
 * recorded: the answer to a recording may never have reached the workflow.
 */
export async function unrecordedBefore(client: Client, leadId: number): Promise<Unrecorded | undefined> {
  const workflowId = referralId(leadId)
  try {
    const { runId, status } = await client.workflow.getHandle(workflowId).describe()
    if (!CUT_OFF.includes(status.name)) return undefined
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory()
    return unrecordedIn(runId, events ?? [])
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined
    throw error
  }
}

/** Reads a run’s messages as its handlers did: the milestones’ keys must be the same. */
function unrecordedIn(runId: string, events: readonly HistoryEvent[]): Unrecorded {
  const inbox = createInbox(runId, events[0])
  for (const event of events) {
    const signal = event.workflowExecutionSignaledEventAttributes
    const request =
      event.workflowExecutionUpdateAdmittedEventAttributes?.request ??
      event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest
    if (signal) inbox.takeSignal(signal.signalName, decode(signal.input?.payloads)[0])
    else if (request)
      inbox.takeUpdate(request.input?.name, decode(request.input?.args?.payloads)[0], request.meta?.updateId)
    else if (event.workflowExecutionCancelRequestedEventAttributes) inbox.close('canceled')
  }
  const decided = new Set([
    ...recordingsIn(events).flatMap(({ items, recording }) =>
      items.slice(0, recording.outcomes.length).map(({ dedupeKey }) => dedupeKey),
    ),
    ...refusedScoresIn(events),
  ])
  const endedBy = events.at(-1)?.workflowExecutionTerminatedEventAttributes?.identity ?? ''
  return { runId, endedBy, ...inbox.without(decided) }
}

/** What a run begins with, if it was started by the service: its second argument. */
interface Carried {
  counter?: number
  inbox?: unknown
  unscored?: unknown
  closeReason?: string | null
}

function createInbox(runId: string, first: HistoryEvent | undefined) {
  const started = first?.workflowExecutionStartedEventAttributes
  const [state, handed] = decode(started?.input?.payloads)
  const carried: Carried = isRecord(handed) ? handed : {}
  const firstRunId = started?.firstExecutionRunId ?? runId
  const inbox = itemsOf(carried.inbox)
  const unscored = itemsOf(carried.unscored)
  let counter = carried.counter ?? 0
  const wasClosing = isRecord(state) && state.closing === true
  let closeReason: AnyCloseReason | null = wasClosing ? 'canceled' : null
  if (carried.closeReason) closeReason = closeReasonOf(carried.closeReason)
  const close = (reason: AnyCloseReason) => void (closeReason ??= reason)

  function receive(name: SignalledMilestone, argument: unknown, updateId?: string | null): void {
    const { id = updateId ?? undefined, gains } = readMilestoneArgument(name, argument)
    const dedupeKey = milestoneKey(name, id, () => numberedKey(name, firstRunId, (counter += 1)))
    const item: MilestoneItem = { name, dedupeKey, ...(gains && { gains }) }
    if (name === 'score_update' && gains === undefined) unscored.push(item)
    else inbox.push(item)
  }

  function simulate(request: unknown): void {
    if (!isSimulation(request)) return
    inbox.push(...simulatedItems(request))
  }

  return {
    close,
    takeSignal(signal: unknown, argument: unknown): void {
      const name = milestoneNamed(signal)
      if (name !== undefined) receive(name, argument)
    },
    takeUpdate(update: unknown, request: unknown, updateId: string | null | undefined): void {
      const name = isRecord(request) ? milestoneNamed(request.name) : undefined
      if (update === milestoneUpdate.name && name !== undefined) receive(name, request, updateId)
      if (update === simulateUpdate.name) simulate(request)
      if (update === closeUpdate.name) close(readCloseArgument(request).reason)
    },
    /** What is left, each once. */
    without(decided: ReadonlySet<string>) {
      const left = (items: MilestoneItem[]) => {
        const byKey = new Map(items.toReversed().map((item) => [item.dedupeKey, item]))
        return [...byKey.values()].toReversed().filter(({ dedupeKey }) => !decided.has(dedupeKey))
      }
      return { inbox: left(inbox), unscored: left(unscored), closeReason }
    },
  }
}

function itemsOf(carried: unknown): MilestoneItem[] {
  return Array.isArray(carried) ? carried.filter(isItem) : []
}

function isItem(item: unknown): item is MilestoneItem {
  return isRecord(item) && typeof item.dedupeKey === 'string' && milestoneNamed(item.name) !== undefined
}

function milestoneNamed(name: unknown): SignalledMilestone | undefined {
  return signalledMilestones.find((known) => known === name)
}
