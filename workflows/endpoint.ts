import {
  condition,
  makeContinueAsNewFunc,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow'
import type { WakeProgress } from '../activities/wake-leads.ts'
import { HOUR_MS } from '../src/values.ts'
import { describeReason } from '../src/endpoints/endpoint-state.ts'
import {
  type EndpointReview,
  notify,
  probeEndpoint,
  reviewEndpoint,
  setNextProbe,
  wakeLeads,
} from './activities.ts'
import { lookSignal, probeSignal } from './messages.ts'

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
  looks: number
  probeNow: boolean
  mailing: boolean
  /** Emails came to be sent while others were. */
  mailAgain: boolean
}

/**
 * Recovers a partner's endpoint and sends its emails: id `endpoint-<id>`, runs while the endpoint is paused, has leads
 * to wake or emails to send. Each round reads from PostgreSQL what to do.
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
    mailAgain: false,
  })
  for (;;) {
    const { looks } = memory
    const review = await reviewEndpoint(endpointId)
    if (review === null) return
    resetProbes(memory, review)
    setCurrentDetails(detailsOf(memory, review))
    // for its partner and staff to read: the email about the pause says it, too
    if (isProbed(review) && review.nextProbeAt !== memory.nextProbeAt)
      await setNextProbe(endpointId, review.since, memory.nextProbeAt)
    if (review.unsent > 0) void mail(memory)
    if (review.state === 'paused') await rest(memory, review, looks)
    else if (review.isWaking) await wakeNext(memory)
    else if (memory.mailing) await condition(() => !memory.mailing || memory.looks !== looks)
    else if (review.owed !== null) await condition(() => memory.looks !== looks, HOUR_MS)
    else return
    if (workflowInfo().continueAsNewSuggested) {
      const { since, probes, nextProbeAt, woken } = memory
      await makeContinueAsNewFunc<typeof endpoint>()(endpointId, pace, { since, probes, nextProbeAt, woken })
    }
  }
}

function setup(memory: Memory): Memory {
  setHandler(lookSignal, () => void (memory.looks += 1), {
    description: 'The record has changed: look at it',
  })
  setHandler(probeSignal, () => void (memory.probeNow = true), {
    description: 'Try a paused endpoint now, with the oldest webhook that waits',
  })
  setDefaultSignalHandler(() => {})
  return memory
}

/** Paused: probes with the oldest held webhook. What staff paused, staff have to resume. */
async function rest(memory: Memory, review: EndpointReview, looks: number): Promise<void> {
  const looked = () => memory.looks !== looks
  // the limit of an hour holds its email back
  const isHeldBack = review.owed !== null && review.unsent === 0
  const mailMs = isHeldBack ? HOUR_MS : Infinity
  if (!isProbed(review)) {
    await (mailMs < Infinity ? condition(looked, mailMs) : condition(looked))
    return
  }
  const probeMs = Math.max(1, memory.nextProbeAt - Date.now())
  const summary = `probe ${memory.probes + 1}`
  const waitMs = Math.min(probeMs, mailMs)
  const news = await condition(() => looked() || memory.probeNow, waitMs, waitMs < probeMs ? {} : { summary })
  if (!memory.probeNow && (news || waitMs < probeMs)) return
  memory.probeNow = false
  if ((await probe(memory)) !== 'nothing') memory.probes += 1
  memory.nextProbeAt = nextProbe(memory)
}

const isProbed = ({ state, pausedBy }: EndpointReview) => state === 'paused' && pausedBy === 'service'

function nextProbe({ pace, probes }: Memory): number {
  return Date.now() + Math.min(pace.firstMs * 2 ** probes, pace.longestMs)
}

async function probe({ endpointId }: Memory): Promise<string> {
  try {
    return await probeEndpoint(endpointId)
  } catch {
    // the next probe follows anyway
    return 'failed'
  }
}

/** Wakes the next leads, which send their webhooks in order: a few at a time to avoid a thundering herd. */
async function wakeNext(memory: Memory): Promise<void> {
  memory.woken = await wakeLeads(memory.endpointId, memory.woken)
  await sleep('1 second', { summary: 'before the next leads are woken' })
}

/** Sends emails concurrently: a mail server that is down delays no webhook. */
async function mail(memory: Memory): Promise<void> {
  if (memory.mailing) {
    memory.mailAgain = true
    return
  }
  Object.assign(memory, { mailing: true, mailAgain: false })
  try {
    await notify(memory.endpointId)
    // another round finds them
    if (memory.mailAgain) memory.looks += 1
  } catch {
    // stale by now; the record shows that it was not sent
  } finally {
    memory.mailing = false
  }
}

/** Another pause has probes of its own. */
function resetProbes(memory: Memory, { state, since }: EndpointReview): void {
  if (state !== 'paused' || since === memory.since) return
  Object.assign(memory, { since, probes: 0 })
  memory.nextProbeAt = nextProbe(memory)
}

/** What an operator reads in the Temporal Web UI. */
function detailsOf(memory: Memory, review: EndpointReview): string {
  const { partnerId, state, reason, pausedBy, since, waiting } = review
  const probing = pausedBy === 'service'
  const lines = [
    `The endpoint of **partner ${partnerId}** is **${state}** since ${since}: ${describeReason(reason)}.`,
    '',
    `- Webhooks that wait: ${waiting}`,
    ...(probing
      ? [`- Probes so far: ${memory.probes}; next at ${new Date(memory.nextProbeAt).toISOString()}`]
      : []),
  ]
  return lines.join('\n')
}
