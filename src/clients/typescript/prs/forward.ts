import { waitOf } from '../src/retries.ts'
import { pause } from '../src/transport.ts'
import type { Slots } from './lanes.ts'
import { type Outcome, send } from './send.ts'

export interface Forwarded {
  event_id: string
  event_name: string
  lead_id: number
  sequence: number | null
  webhook_body: string
}

/** One attempt, as it is shown. */
export interface Attempt {
  webhook: Forwarded
  number: number
  outcome: Outcome
  /** In milliseconds; `undefined` if it was accepted. */
  retryMs: number | undefined
}

interface Receiver {
  url: string
  secret: string
  slots: Slots
  onAttempt: (attempt: Attempt) => void
  signal: AbortSignal
}

/** What a receiver can ask for with Retry-After, in seconds. */
const LONGEST_WAIT_S = 60

/** Sends a webhook until it is accepted. @returns whether it was, before it was asked to end. */
export async function forward(
  webhook: Forwarded,
  { url, secret, slots, onAttempt, signal }: Receiver,
): Promise<boolean> {
  for (let number = 1; !signal.aborted; number += 1) {
    const outcome = await slots.within(async () => {
      if (signal.aborted) return undefined
      return send(url, webhook.event_id, webhook.webhook_body, secret)
    })
    if (outcome === undefined) return false
    const retryMs = outcome.problem === null ? undefined : waitAfter(outcome, number)
    onAttempt({ webhook, number, outcome, retryMs })
    if (retryMs === undefined) return true
    await pause(retryMs, signal).catch(() => undefined)
  }
  return false
}

function waitAfter({ status, retryAfter: asked }: Outcome, attempt: number): number {
  const answer =
    asked === undefined
      ? undefined
      : { status: status ?? 0, retryAfter: Math.max(1, Math.min(asked, LONGEST_WAIT_S)) }
  return Math.round(waitOf(attempt, answer, Math.random()))
}
