import { readRetryAfter } from '../src/retries.ts'
import { signatureOf } from '../src/signatures.ts'

export interface Outcome {
  /** `null` if no answer came. */
  status: number | null
  /** Why it was not accepted; `null` if it was. */
  problem: string | null
  /** In seconds. */
  retryAfter: number | undefined
  durationMs: number
}

/** As the service has it. */
const LIMIT_MS = 15_000

/** Makes one attempt as the service does, but signed with another secret. It never rejects: every error is an outcome. */
export async function send(url: string, id: string, body: string, secret: string): Promise<Outcome> {
  const began = performance.now()
  const timestamp = String(Math.floor(Date.now() / 1000))
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'partner-referral-service-webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': await signatureOf({ id, timestamp, body: Buffer.from(body) }, secret),
  }
  const outcome = (status: number | null, problem: string | null, retryAfter?: number): Outcome => ({
    status,
    problem,
    retryAfter,
    durationMs: Math.round(performance.now() - began),
  })
  try {
    const signal = AbortSignal.timeout(LIMIT_MS)
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    await response.body?.cancel()
    if (response.ok) return outcome(response.status, null)
    const problem = `your endpoint answered ${response.status}`
    return outcome(response.status, problem, readRetryAfter(response.headers.get('retry-after')))
  } catch (error) {
    const { name, message, cause } = error as Error
    if (name === 'TimeoutError') return outcome(null, 'your endpoint did not answer within 15 s')
    return outcome(null, `your endpoint did not answer: ${cause instanceof Error ? cause.message : message}`)
  }
}
