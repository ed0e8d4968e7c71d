import { activityInfo } from '@temporalio/activity'
import {
  type Due,
  type LeadClock,
  nextPeriod,
  type Passed,
} from '../../src/capabilities/sandbox/decisions/lead-clock.ts'
import { moveClock } from '../../src/capabilities/sandbox/statements/move-clock.ts'
import { nextDue, readLeadClock } from '../../src/capabilities/sandbox/statements/next-due.ts'
import { endAdvance } from '../../src/capabilities/sandbox/statements/sandbox-runs.ts'
import {
  type KnownRecord,
  type Recording,
  scoreUpdateKey,
  type SettledUpTo,
} from '../../src/core/leads/decisions/referral.ts'
import type { RecordingDependencies } from '../record-milestones.ts'
import { recordScoreUpdateActivity, type ScoreProvider } from '../record-score-update.ts'

/** How long it goes on to the next date: then others have its place. */
const PLACE_MS = 1000
const SECOND_MS = 1000

interface Dependencies extends RecordingDependencies {
  scoreProvider: ScoreProvider
}

/** What moves a lead's clock as long as nothing on the way has to be waited for. */
export function dateActivities(dependencies: Dependencies) {
  const { sql } = dependencies
  const recordScoreUpdate = recordScoreUpdateActivity(dependencies)

  return {
    /**
     * Moves a lead's clock to a moment of its time, in milliseconds, and records the score updates that fall due on the way,
     * each at its own date once the webhook before it was accepted. It stops where anything else is due, or to be waited for.
     *
     * @param settled and `known` as for a recording.
     */
    async passDates(
      leadId: number,
      target: number,
      settled: SettledUpTo,
      known: KnownRecord,
    ): Promise<Passed> {
      const passed: Passed = { updates: [], offset: 0, hasArrived: false }
      // what an attempt before has recorded is in the record, and the lead's workflow has to read that first
      if (activityInfo().attempt > 1) return passed
      const until = performance.now() + PLACE_MS
      let stands: KnownRecord = known
      while (performance.now() < until) {
        const clock = await readLeadClock(sql, leadId)
        const due = clock && nextDue(clock)
        if (clock === undefined || !isClear(clock, due)) return passed
        const isDue = due !== undefined && due.at <= target
        if (isDue && due.what !== 'score_update') return passed
        const offset = await moveClock(sql, leadId, isDue ? due.at : target)
        passed.offset = (offset ?? clock.offsetSeconds) * SECOND_MS
        if (!isDue) {
          await endAdvance(sql, leadId)
          return { ...passed, hasArrived: true }
        }
        const period = nextPeriod(clock)
        const update = {
          period,
          dedupeKey: scoreUpdateKey(period),
          settled: { ...settled, after: stands.last },
          known: stands,
        }
        const recording = await recordScoreUpdate(leadId, update)
        passed.updates.push({ period, recording })
        if (!isSettled(recording, stands)) return passed
        stands = recording
      }
      return passed
    },
  }
}

/** Whether nothing is under way, and the clock stands before all that is due. */
const isClear = ({ open, isClosed, now }: LeadClock, due: Due | undefined) =>
  open === null && !isClosed && (due === undefined || due.at > now)

/** Whether a score update was recorded, in the record that was meant, and its webhook accepted. */
function isSettled(recording: Recording | null, { generation, last }: KnownRecord): recording is Recording {
  if (recording === null || recording.generation !== generation) return false
  return recording.last === last + 1 && recording.delivered === recording.last
}
