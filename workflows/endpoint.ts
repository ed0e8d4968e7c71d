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
import { describeReason, type PingOutcome } from '../src/endpoints/endpoint-state.ts'
import { HOUR_MS } from '../src/values.ts'
import {
  type EndpointReview,
  notify,
  pingEndpoint,
  probeEndpoint,
  reviewEndpoint,
  setNextProbe,
  wakeLeads,
} from './activities.ts'
import { lookSignal, pingUpdate, probeSignal } from './messages.ts'

/** The waits before the probes of a paused endpoint: the first, doubled each time up to the longest. */
export interface ProbePace {
  firstMs: number
  longestMs: number
}

/** What a run hands to the next. */
interface Carried {
  /** The current pause, and how many probes it has had. */
  since: string
  probes: number
  /** When the next probe is due. */
  nextProbeAt: number
  woken: WakeProgress
}

/** What the workflow holds in memory. */
interface Memory extends Carried {
  endpointId: number
  pace: ProbePace
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
  pace: ProbePace = { firstMs: HOUR_MS, longestMs: 24 * HOUR_MS },
  carried: Carried = { since: '', probes: 0, nextProbeAt: 0, woken: { round: 0, leadId: 0 } },
): Promise<void> {
  const memory = setup({
    ...carried,
    endpointId,
    pace,
    looks: 0,
    probeNow: false,
    mailing: false,
    ping: undefined,
  })
  for (;;) {
    const { looks } = memory
    const review = await reviewEndpoint(endpointId)
    if (review === null) {
      // an update that meets the end of its workflow has no answer
      await condition(allHandlersFinished)
      return
    }
    const isPaused = review.state === 'paused'
    // what people paused, people have to resume
    const isProbed = isPaused && review.pausedBy === 'service'
    if (isPaused && review.since !== memory.since) resetProbes(memory, review)
    setCurrentDetails(detailsOf(memory, review))
    const probeMs = !isProbed ? Infinity : memory.probeNow ? 0 : memory.nextProbeAt - Date.now()
    // for its partner and staff to read: the email about the pause says it, too
    if (isProbed && probeMs > 0 && review.nextProbeAt !== memory.nextProbeAt)
      await setNextProbe(endpointId, review.since, memory.nextProbeAt)
    if (review.unsent > 0) void mail(memory)
    if (probeMs <= 0) await probe(memory)
    else if (!isPaused && review.isWaking) await wakeNext(memory)
    else {
      const isBusy = memory.mailing || !allHandlersFinished()
      if (!isPaused && !isBusy && memory.looks === looks) return
      const looked = () => memory.looks !== looks
      if (isProbed) await condition(looked, probeMs, { summary: `probe ${memory.probes + 1}` })
      else await condition(looked)
    }
    if (workflowInfo().continueAsNewSuggested && allHandlersFinished()) {
      const { since, probes, nextProbeAt, woken } = memory
      await makeContinueAsNewFunc<typeof endpoint>()(endpointId, pace, { since, probes, nextProbeAt, woken })
    }
  }
}

function setup(memory: Memory): Memory {
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
  return memory
}

async function ping(memory: Memory): Promise<PingOutcome | null> {
  try {
    return await pingEndpoint(memory.endpointId)
  } finally {
    memory.ping = undefined
    memory.looks += 1
  }
}

/** Each pause has probes of its own. */
function resetProbes(memory: Memory, { since }: EndpointReview): void {
  Object.assign(memory, { since, probes: 0 })
  memory.nextProbeAt = nextProbe(memory)
}

function nextProbe({ pace, probes }: Memory): number {
  return Date.now() + Math.min(pace.firstMs * 2 ** probes, pace.longestMs)
}

/** Probes with the oldest held webhook. If that fails, the next probe follows anyway. */
async function probe(memory: Memory): Promise<void> {
  memory.probeNow = false
  const outcome = await probeEndpoint(memory.endpointId).catch(() => 'failed')
  if (outcome !== 'nothing') memory.probes += 1
  memory.nextProbeAt = nextProbe(memory)
}

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
function detailsOf({ probes, nextProbeAt }: Memory, review: EndpointReview): string {
  const { partnerId, state, reason, pausedBy, since, waiting } = review
  const lines = [
    `The endpoint of **partner ${partnerId}** is **${state}** since ${since}: ${describeReason(reason)}.`,
    '',
    `- Webhooks that wait: ${waiting}`,
  ]
  if (pausedBy === 'service')
    lines.push(`- Probes so far: ${probes}; next at ${new Date(nextProbeAt).toISOString()}`)
  return lines.join('\n')
}
