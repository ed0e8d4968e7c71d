import type { ScoreGains } from '../src/core/leads/decisions/event-payloads.ts'
import type { Recording, SettledUpTo } from '../src/core/leads/decisions/referral.ts'
import { isClosed } from '../src/core/leads/statements/closing.ts'
import { type RecordingDependencies, recordMilestonesActivity } from './record-milestones.ts'

/** Asks for a lead's gains in a period. Rejects when there are none: they are never invented. */
export type ScoreProvider = (request: {
  leadId: number
  period: number
  dedupeKey: string
}) => Promise<ScoreGains>

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
  const record = recordMilestonesActivity(recording)
  return async (leadId: number, { period, dedupeKey, settled }: ScoreUpdate): Promise<Recording> => {
    // one that waits for its webhooks takes no more: nobody is to be asked about it
    const isOver = await isClosed(recording.sql, leadId)
    const gains = isOver ? undefined : await scoreProvider({ leadId, period, dedupeKey })
    return record(leadId, [{ name: 'score_update', dedupeKey, ...(gains && { gains }) }], settled)
  }
}
