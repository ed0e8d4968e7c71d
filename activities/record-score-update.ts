import { request } from 'undici'
import { mockGains, parseScoreGains, type ScoreGains } from '../src/leads/event-payloads.ts'
import { isClosedOrErased } from '../src/leads/lead.ts'
import type { Recording, SettledUpTo } from '../src/leads/referral-state.ts'
import { type RecordingDependencies, recordMilestonesActivity } from './record-milestones.ts'

/** Asks for a lead's gains in a period. Rejects when there are none: they are never invented. */
export type ScoreProvider = (request: { leadId: number; period: number }) => Promise<ScoreGains>

interface ScoreUpdate {
  period: number
  dedupeKey: string
  settled?: SettledUpTo
}

interface Dependencies extends RecordingDependencies {
  scoreProvider: ScoreProvider
}

/** Records a score update with the provider's gains, which stay in PostgreSQL. */
export function recordScoreUpdateActivity({ scoreProvider, ...recording }: Dependencies) {
  const { sql } = recording
  const record = recordMilestonesActivity(recording)
  return async (leadId: number, { period, dedupeKey, settled }: ScoreUpdate): Promise<Recording> => {
    const lead = sql.selectFrom('leads').select(isClosedOrErased.as('isClosed')).where('id', '=', leadId)
    // the provider is not asked about a borrower who has left
    const isClosed = (await lead.executeTakeFirst())?.isClosed
    const gains = isClosed ? undefined : await scoreProvider({ leadId, period })
    return record(leadId, [{ name: 'score_update', dedupeKey, ...(gains && { gains }) }], settled)
  }
}

const TIMEOUT_MS = 15_000

/** Sandbox: plausible gains, always the same for a lead and period. */
export const mockScoreProvider: ScoreProvider = async ({ leadId, period }) => mockGains(leadId, period)

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
