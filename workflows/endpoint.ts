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
import { describeReason } from '../src/endpoints/endpoint-state.ts'
import type { PingOutcome } from '../src/webhooks/send.ts'
import {
  certify,
  notify,
  pingEndpoint,
  probeEndpoint,
  resendWebhook,
  reviewEndpoint,
  wakeLeads,
} from './activities.ts'
import { lookSignal, pingUpdate, probeSignal } from './messages.ts'

type BackgroundWork = 'mails' | 'certification' | 'resends'

/** What the workflow holds in memory; everything else is in the record. */
interface Memory {
  partnerId: number
  /** Handed to the next run. */
  woken: WakeProgress
  /** Rises with what may have changed the record: a signal, or the end of background work. */
  looks: number
  /** Whether a probe was requested, whatever its date. */
  probeNow: boolean
  /** What runs while webhooks go on: a mail server that is down delays none. */
  background: Set<BackgroundWork>
  /** The test request that is under way. */
  ping: Promise<PingOutcome> | undefined
}

/**
 * Probes a partner's endpoint that the service paused, wakes its leads, certifies its candidate, and sends its emails, test
 * requests, resends and replays. Its id is `endpoint-<partner>`; it ends when none of these is left to do. Each round reads
 * from PostgreSQL what to do.
 */
export async function endpoint(
  partnerId: number,
  woken: WakeProgress = { round: 0, leadId: 0 },
): Promise<void> {
  const memory: Memory = {
    partnerId,
    woken,
    looks: 0,
    probeNow: false,
    background: new Set(),
    ping: undefined,
  }
  receive(memory)
  for (;;) {
    const { looks } = memory
    const review = await reviewEndpoint(partnerId)
    setCurrentDetails(detailsOf(partnerId, review))
    // a mail that fails for days is stale; the record shows that it was not sent
    if (review.unsent > 0) void inBackground(memory, 'mails', () => notify(partnerId))
    if (review.isCertifying) void inBackground(memory, 'certification', () => certifyAll(partnerId))
    if (review.resends > 0 && review.state === 'active')
      void inBackground(memory, 'resends', () => resendSome(partnerId))
    const isDone = await act(memory, review, looks)
    if (isDone) return
    if (workflowInfo().continueAsNewSuggested && allHandlersFinished())
      await makeContinueAsNewFunc<typeof endpoint>()(partnerId, memory.woken)
  }
}

/** Does what the record says is next, or waits for it. @returns whether nothing is left to do. */
async function act(memory: Memory, review: EndpointReview, looks: number): Promise<boolean> {
  const hasChanged = () => memory.looks !== looks
  if (review.isWaking) await wakeNext(memory)
  else if (review.nextProbeAt !== null) {
    const waitMs = memory.probeNow ? 0 : review.nextProbeAt - Date.now()
    if (waitMs <= 0 || !(await condition(hasChanged, waitMs, { summary: 'probe' }))) await probe(memory)
  } else if (memory.background.size > 0 || !allHandlersFinished()) await condition(hasChanged)
  else return !hasChanged()
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

async function ping(memory: Memory): Promise<PingOutcome> {
  try {
    return await pingEndpoint(memory.partnerId)
  } finally {
    memory.ping = undefined
    memory.looks += 1
  }
}

/** Does one of a kind at a time while the workflow goes on. After it, the workflow reads the record again. */
async function inBackground(memory: Memory, kind: BackgroundWork, work: () => Promise<unknown>) {
  if (memory.background.has(kind)) return
  memory.background.add(kind)
  await work().catch(() => {})
  memory.background.delete(kind)
  memory.looks += 1
}

async function certifyAll(partnerId: number): Promise<void> {
  while (await certify(partnerId));
}

/** Resends between two reads of the record, which says how many wait. */
const RESENDS_AT_A_TIME = 100

async function resendSome(partnerId: number): Promise<void> {
  for (let sent = 0; sent < RESENDS_AT_A_TIME; sent += 1) if (!(await resendWebhook(partnerId))) return
}

/** Probes with the oldest held webhook. If that fails, the next probe follows anyway. */
async function probe(memory: Memory): Promise<void> {
  memory.probeNow = false
  await probeEndpoint(memory.partnerId).catch(() => {})
}

/** Wakes the next leads, which send their webhooks in order: a few at a time to avoid a thundering herd. */
async function wakeNext(memory: Memory): Promise<void> {
  memory.woken = await wakeLeads(memory.partnerId, memory.woken)
  await sleep('1 second', { summary: 'before the next leads are woken' })
}

/** What an operator reads in the Temporal Web UI. */
function detailsOf(partnerId: number, review: EndpointReview): string {
  const { state, reason, since, nextProbeAt: at, waiting, resends, certified } = review
  return [
    `The endpoint of **partner ${partnerId}** is **${state}** since ${since}: ${describeReason(reason)}.`,
    '',
    `- Webhooks that wait: ${waiting}`,
    ...(resends === 0 ? [] : [`- Settled webhooks that wait to be sent again: ${resends}`]),
    ...(at === null ? [] : [`- Next probe at ${new Date(at).toISOString()}`]),
    ...(certified === null ? [] : [certified]),
  ].join('\n')
}
