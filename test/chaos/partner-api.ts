import type { Call } from './evidence.ts'
import { pauseAfter } from './patience.ts'

/** A partner's system gives a try this long: above the two seconds within which the API answers. */
const LIMIT_MS = 4000

export interface Asking {
  partnerId: number
  apiKey: string
  path: string
  body: object
  /** Sent as Idempotency-Key. */
  idempotencyKey?: string
}

export interface PartnerApi {
  /** One try; `null` when no answer came. */
  once: (asking: Asking) => Promise<Call>
  /** Tries one API after the other until one of them answers with another status than 503; `undefined`: given up. */
  until: (asking: Asking) => Promise<Call | undefined>
}

/**
 * The API as partners call it, by a load balancer that knows nothing of its two processes.
 *
 * @param journal gets every try with its answer.
 * @param signal ends all that is still being tried.
 */
export function partnerApi(ports: readonly number[], journal: Call[], signal: AbortSignal): PartnerApi {
  let turn = 0
  let requests = 0

  async function attempt(asking: Asking, request: string, number: number): Promise<Call> {
    const { partnerId, apiKey, path, body, idempotencyKey } = asking
    const at = performance.now()
    turn += 1
    const headers = {
      authorization: `Service-Key ${apiKey}`,
      'content-type': 'application/json',
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    }
    const answer = await fetch(`http://127.0.0.1:${ports[turn % ports.length]}/v1/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(LIMIT_MS),
    })
      .then(async (response) => ({
        status: response.status,
        type: response.headers.get('content-type'),
        body: await response.text(),
      }))
      .catch(() => ({ status: null, type: null, body: '' }))
    const call = { path, partnerId, request, try: number, at, tookMs: performance.now() - at, ...answer }
    journal.push(call)
    return call
  }

  const nameOf = ({ idempotencyKey }: Asking) => idempotencyKey ?? `request ${(requests += 1)}`

  return {
    once: (asking) => attempt(asking, nameOf(asking), 1),
    async until(asking) {
      const request = nameOf(asking)
      for (let number = 1; !signal.aborted; number += 1) {
        const call = await attempt(asking, request, number)
        if (call.status !== null && call.status !== 503) return call
        await pauseAfter(number)
      }
      return undefined
    },
  }
}
