import {
  allHandlersFinished,
  condition,
  makeContinueAsNewFunc,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow'
import type { WakeProgress } from '../activities/wake-leads.ts'
import type { EndpointReview } from '../src/endpoints/endpoint-review.ts'
import { describeReason, nextProbeAt, type PingOutcome } from '../src/endpoints/endpoint-state.ts'
import { notify, pingEndpoint, probeEndpoint, reviewEndpoint, setNextProbe, wakeLeads } from './activities.ts'
import { lookSignal, pingUpdate, probeSignal } from './messages.ts'

/** What the workflow holds in memory: all else is in the record. */
interface Memory {
  endpointId: number
  /** Handed to the next run. */
  woken: WakeProgress
  /** Counts what may have changed the record: signals, and the ends of emails and of test requests. */
  looks: number
  /** A probe was asked for, whatever its date. */
  probeNow: boolean
  mailing: boolean
  /** The test request that is under way. */
  ping: Promise<PingOutcome | null> | undefined
}

/**
 * Recovers a partner's endpoint, sends its emails and test requests: id `endpoint-<id>`, runs while the endpoint is paused,
 * has leads to wake or something to send. Each round reads from PostgreSQL what to do.
 */
export async function endpoint(
  endpointId: number,
  woken: WakeProgress = { round: 0, leadId: 0 },
): Promise<void> {
  const memory: Memory = { endpointId, woken, looks: 0, probeNow: false, mailing: false, ping: undefined }
  receive(memory)
  for (;;) {
    const { looks } = memory
    const review = await reviewEndpoint(endpointId)
    if (review === null) {
      // an update that meets the end of its workflow has no answer
      await condition(allHandlersFinished)
      return
    }
    setCurrentDetails(detailsOf(review))
    if (review.unsent > 0) void mail(memory)
    const isDone = await act(memory, review, looks)
    if (isDone) return
    if (workflowInfo().continueAsNewSuggested && allHandlersFinished())
      await makeContinueAsNewFunc<typeof endpoint>()(endpointId, memory.woken)
  }
}

/** Does what the record says is next, or waits for it. @returns whether nothing is left to do. */
async function act(memory: Memory, review: EndpointReview, looks: number): Promise<boolean> {
  const hasChanged = () => memory.looks !== looks
  if (review.state === 'active') {
    if (review.isWaking) await wakeNext(memory)
    else if (memory.mailing || !allHandlersFinished()) await condition(hasChanged)
    else return !hasChanged()
  } else if (review.pausedBy !== 'service') {
    // what people paused, people have to resume
    memory.probeNow = false
    await condition(hasChanged)
  } else if (memory.probeNow) await probe(memory, review)
  else if (review.nextProbeAt === null) await planProbe(memory, review)
  else {
    const waitMs = review.nextProbeAt - Date.now()
    if (waitMs <= 0 || !(await condition(hasChanged, waitMs, { summary: 'probe' })))
      await probe(memory, review)
  }
  return false
}

function receive(memory: Memory): void {
  setHandler(lookSignal, () => void (memory.looks += 1), {
    description: 'The record has changed: look at it',
  })
  const probeSoon = () => {
    memory.probeNow = true
    memory.looks += 1
  }
  setHandler(probeSignal, probeSoon, {
    description: 'Try a paused endpoint now, with the oldest webhook that waits',
  })
  setHandler(pingUpdate, async () => (memory.ping ??= ping(memory)), {
    description: 'Send a test request, which is no event',
  })
  setDefaultSignalHandler(() => {})
}

async function ping(memory: Memory): Promise<PingOutcome | null> {
  try {
    return await pingEndpoint(memory.endpointId)
  } finally {
    memory.ping = undefined
    memory.looks += 1
  }
}

/** Probes with the oldest held webhook. If that fails, the next probe follows anyway. */
async function probe(memory: Memory, review: EndpointReview): Promise<void> {
  memory.probeNow = false
  await probeEndpoint(memory.endpointId).catch(() => {})
  await planProbe(memory, review)
}

const planProbe = ({ endpointId }: Memory, { since }: EndpointReview) =>
  setNextProbe(endpointId, since, nextProbeAt(Date.parse(since), Date.now()))

/** Wakes the next leads, which send their webhooks in order: a few at a time to avoid a thundering herd. */
async function wakeNext(memory: Memory): Promise<void> {
  memory.woken = await wakeLeads(memory.endpointId, memory.woken)
  await sleep('1 second', { summary: 'before the next leads are woken' })
}

/** Sends emails concurrently: a mail server that is down delays no webhook. Those that are owed meanwhile follow. */
async function mail(memory: Memory): Promise<void> {
  if (memory.mailing) return
  memory.mailing = true
  // what fails for days is stale by then; the record shows that it was not sent
  await notify(memory.endpointId).catch(() => {})
  memory.mailing = false
  memory.looks += 1
}

/** What an operator reads in the Temporal Web UI. */
function detailsOf({ partnerId, state, reason, since, nextProbeAt: at, waiting }: EndpointReview): string {
  const probed = at === null ? [] : [`- Next probe at ${new Date(at).toISOString()}`]
  return [
    `The endpoint of **partner ${partnerId}** is **${state}** since ${since}: ${describeReason(reason)}.`,
    '',
    `- Webhooks that wait: ${waiting}`,
    ...probed,
  ].join('\n')
}
