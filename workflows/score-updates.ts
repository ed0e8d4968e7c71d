import { condition } from '@temporalio/workflow'
import { type MilestoneItem, scoreUpdateKey } from '../src/leads/referral-state.ts'
import { duePeriod, SCORE_PERIOD_MS, scoreDate } from '../src/leads/score-dates.ts'
import { DAY_MS } from '../src/values.ts'
import { gaveUp, recordScoreUpdate } from './activities.ts'
import { dueAt, isCadenceOn, type Journey, note, now } from './journey.ts'
import { applyRecording, settledUpTo } from './recording.ts'

/** Waits for the next date and records its score update; if several are overdue, only the latest. */
export async function recordDueScoreUpdate(journey: Journey): Promise<void> {
  const { state } = journey
  const due = dueAt(journey)
  const moved = () => dueAt(journey) !== due || !isCadenceOn(journey)
  const waitMs = due - Date.now()
  const summary = `score update ${state.period} is due`
  if (waitMs > 0 && (await condition(moved, waitMs, { summary }))) return
  const anchor = state.anchor ?? 0
  const period = duePeriod(anchor, state.period, now(journey))
  const item: MilestoneItem = { name: 'score_update', dedupeKey: scoreUpdateKey(period) }
  if (!(await score(journey, item, period, scoreDate(anchor, period + 1) - now(journey))))
    note(journey, `score update ${period}`, 'left out: the provider had no scores before the next')
  state.period = period + 1
}

export const hasUnscored = ({ unscored }: Journey) => unscored.length > 0

/** Gets the gains of a score update that was signalled without them. */
export async function recordUnscored(journey: Journey): Promise<void> {
  const [item] = journey.unscored
  if (item === undefined) return
  if (!(await score(journey, item, journey.state.period, DAY_MS))) {
    journey.counts.refused += 1
    note(journey, 'score_update', 'not recorded: the provider had no scores for it within a day')
  }
  journey.unscored.shift()
}

/** @returns false if the provider did not answer in time. Gains are never invented. */
async function score(
  journey: Journey,
  item: MilestoneItem,
  period: number,
  limitMs: number,
): Promise<boolean> {
  const { leadId } = journey.state
  const options = {
    scheduleToCloseTimeout: Math.min(limitMs, SCORE_PERIOD_MS),
    summary: `ask for the scores of update ${period} and record it`,
  }
  const update = { period, dedupeKey: item.dedupeKey, settled: settledUpTo(journey) }
  try {
    const recording = await recordScoreUpdate.executeWithOptions(options, [leadId, update])
    applyRecording(journey, recording, [item])
    return true
  } catch (error) {
    if (!gaveUp(error)) throw error
    return false
  }
}
