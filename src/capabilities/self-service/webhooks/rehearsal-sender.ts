import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { AttemptOutcome } from '../../../core/deliveries/decisions/attempt-outcome.ts'
import type { Sender } from '../../../core/deliveries/webhooks/send.ts'
import type { Sending } from '../decisions/rehearsal.ts'
import { partsOf } from './rehearsal-call.ts'

interface Rehearsed {
  url: string
  headers: Record<string, string>
  body: string
  sending: Sending
}

export type RehearsalSender = ReturnType<typeof createRehearsalSender>

/** Sends the requests of rehearsals: by the sender of webhooks, with its guard and its limits, but as on bad days. */
export function createRehearsalSender(send: Sender['send']) {
  return async ({ sending, body, ...request }: Rehearsed): Promise<AttemptOutcome> => {
    if (sending === 'whole') return send({ ...request, body })
    const { parts, closes } = partsOf(body, sending)
    const closing = new AbortController()
    async function* inParts() {
      for (const { bytes, restMs } of parts) {
        yield bytes
        await delay(restMs)
      }
      if (closes) closing.abort()
    }
    const headers = { ...request.headers, 'content-length': String(Buffer.byteLength(body)) }
    const outcome = await send({ ...request, headers, body: Readable.from(inParts()) }, closing.signal)
    // an answer may come while the last bytes leave
    const isUnread = closing.signal.aborted || (sending === 'unanswered' && outcome.status !== null)
    return isUnread ? { ...outcome, ...UNREAD } : outcome
  }
}

/** Also if something was answered before we closed: the receiver is to be told nothing of it. */
const UNREAD = {
  ok: false,
  status: null,
  errorCode: 'canceled',
  hint: 'we closed the connection before an answer',
}
