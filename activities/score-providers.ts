import { request } from 'undici'
import { parseScoreGains } from '../src/core/leads/decisions/event-payloads.ts'
import { mockGains } from '../src/core/leads/decisions/mock-gains.ts'
import type { WorkerObserver } from '../src/metrics/worker.ts'
import type { ScoreProvider } from './record-score-update.ts'

const TIMEOUT_MS = 15_000

/** Sandbox: plausible gains that are the same for the same lead and update, however often they are asked for. */
export const mockScoreProvider: ScoreProvider = async ({ leadId, period, dedupeKey }) =>
  mockGains(leadId, dedupeKey, period)

/** Tells whether each request had an answer. */
export function countedProvider(
  provider: ScoreProvider,
  observe: Pick<WorkerObserver, 'scored'>,
): ScoreProvider {
  return async (asked) => {
    const gains = await provider(asked).catch((error: unknown) => {
      observe.scored('failed')
      throw error
    })
    observe.scored('received')
    return gains
  }
}

/** `POST url {lead_id, period}` with a bearer token; answers the four fields of a score update's payload. */
export function httpScoreProvider(url: string, token: string | undefined): ScoreProvider {
  return async ({ leadId, period }) => {
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ lead_id: leadId, period }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (statusCode !== 200) {
      await body.dump()
      throw new Error(`the score provider answered ${statusCode}`)
    }
    const gains = parseScoreGains(await body.json())
    if (gains === undefined) throw new Error('the score provider’s answer is not a score update')
    return gains
  }
}
