import { setTimeout as delay } from 'node:timers/promises'
import type { Call } from './evidence.ts'

/** A partner's system gives a try this long: above the two seconds within which the API answers. */
const LIMIT_MS = 4000
const FIRST_PAUSE_MS = 300
const LONGEST_PAUSE_MS = 5000

/**
 * Tries one API after the other until one of them answers with another status than 503. `undefined`: given up.
 *
 * @param key the Idempotency-Key.
 */
export type Ask = (
  partner: { id: number; key: string },
  path: string,
  body: object,
  key?: string,
) => Promise<Call | undefined>

/** The pause of a well-behaved client after its `number`th try: twice as long each time, up to five seconds. */
export async function pauseAfter(number: number): Promise<void> {
  await delay(Math.min(FIRST_PAUSE_MS * 2 ** (number - 1), LONGEST_PAUSE_MS))
}

/**
 * The API as partners call it, by a load balancer that knows nothing of its two processes.
 *
 * @param journal gets every try with its answer.
 * @param signal ends all that is still being tried.
 */
export function partnerApi(ports: readonly number[], journal: Call[], signal: AbortSignal): Ask {
  let turn = 0
  let requests = 0
  return async (partner, path, body, key) => {
    const request = key ?? `request ${(requests += 1)}`
    for (let number = 1; !signal.aborted; number += 1) {
      const at = performance.now()
      turn += 1
      const answer = await fetch(`http://127.0.0.1:${ports[turn % ports.length]}/v1/${path}`, {
        method: 'POST',
        headers: {
          authorization: `Service-Key ${partner.key}`,
          'content-type': 'application/json',
          ...(key !== undefined && { 'idempotency-key': key }),
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(LIMIT_MS),
      })
        .then(async (response) => ({
          status: response.status,
          type: response.headers.get('content-type'),
          body: await response.text(),
        }))
        .catch(() => ({ status: null, type: null, body: '' }))
      const tookMs = performance.now() - at
      const call: Call = { path, partnerId: partner.id, request, try: number, at, tookMs, ...answer }
      journal.push(call)
      if (call.status !== null && call.status !== 503) return call
      await pauseAfter(number)
    }
    return undefined
  }
}
