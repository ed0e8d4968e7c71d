import type { AttemptOutcome } from '../../../core/deliveries/decisions/attempt-outcome.ts'
import { readRetryAfter, waitOf } from '../src/retries.ts'
import { pause } from '../src/transport.ts'
import type { Slots } from './lanes.ts'
import { send, signedHeaders } from './send.ts'

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
  outcome: AttemptOutcome
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
      const { event_id: id, webhook_body: body } = webhook
      const headers = await signedHeaders({ id, body, at: new Date(), secrets: [secret] })
      return send({ url, headers, body })
    })
    if (outcome === undefined) return false
    const retryMs = outcome.ok ? undefined : waitAfter(outcome, number)
    onAttempt({ webhook, number, outcome, retryMs })
    if (retryMs === undefined) return true
    await pause(retryMs, signal).catch(() => undefined)
  }
  return false
}

function waitAfter({ status, retryAfter }: AttemptOutcome, attempt: number): number {
  const asked = readRetryAfter(retryAfter ?? null)
  const answer =
    asked === undefined
      ? undefined
      : { status: status ?? 0, retryAfter: Math.max(1, Math.min(asked, LONGEST_WAIT_S)) }
  return Math.round(waitOf(attempt, answer, Math.random()))
}
