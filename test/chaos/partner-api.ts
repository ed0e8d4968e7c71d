import type { Call } from './evidence.ts'
import { pauseAfter } from './senders.ts'

/** A partner's system gives a try this long: above the two seconds within which the API answers. */
const LIMIT_MS = 4000

interface Partner {
  id: number
  key: string
}
type Ask<Answer> = (partner: Partner, path: string, body: object, idempotencyKey?: string) => Promise<Answer>

export interface PartnerApi {
  /** One try; `null` when no answer came. */
  once: Ask<Call>
  /** Tries one API after the other until one of them answers with another status than 503; `undefined`: given up. */
  until: Ask<Call | undefined>
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
  const nextName = () => `request ${(requests += 1)}`

  const attempt = async (
    request: string,
    number: number,
    ...[partner, path, body, key]: Parameters<Ask<Call>>
  ) => {
    const at = performance.now()
    turn += 1
    const headers = {
      authorization: `Service-Key ${partner.key}`,
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
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
    const tookMs = performance.now() - at
    const call: Call = { path, partnerId: partner.id, request, try: number, at, tookMs, ...answer }
    journal.push(call)
    return call
  }

  return {
    once: (...asking) => attempt(asking[3] ?? nextName(), 1, ...asking),
    async until(...asking) {
      const request = asking[3] ?? nextName()
      for (let number = 1; !signal.aborted; number += 1) {
        const call = await attempt(request, number, ...asking)
        if (call.status !== null && call.status !== 503) return call
        await pauseAfter(number)
      }
      return undefined
    },
  }
}
