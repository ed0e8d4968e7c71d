import { ActivityFailure, condition, isCancellation } from '@temporalio/workflow'
import { DAY_MS } from '../src/values.ts'
import { duePeriod, SCORE_PERIOD_MS, scoreDate } from '../src/leads/score-dates.ts'
import { type MilestoneItem, scoreUpdateKey } from '../src/leads/referral-state.ts'
import { recordScoreUpdate } from './activities.ts'
import { type Journey, note, now } from './journey.ts'
import { enter } from './phases.ts'
import { refusalOf } from './read-record.ts'
import { applyRecording, settledUpTo } from './standing.ts'

/** Whether the timer raises score updates: from escrow_funded to mortgage_ready. */
export function isCadenceOn({ state, phases }: Journey): boolean {
  return phases.lead === 'open' && state.anchor !== null && state.endsAt === null
}

export const hasUnscored = ({ unscored }: Journey) => unscored.length > 0

/** When the next score update is due, on our clock; the lead's may run ahead of it. */
export function dueAt({ state }: Journey): number {
  return scoreDate(state.anchor ?? 0, state.period) - state.offset
}

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
  enter(journey, 'cadence', 'asking')
  try {
    const end = await score(journey, item, period, scoreDate(anchor, period + 1) - now(journey))
    if (end === 'unanswered')
      note(journey, `score update ${period}`, 'left out: the provider had no scores before the next')
    state.period = period + 1
    enter(journey, 'cadence', 'recorded')
  } finally {
    if (journey.phases.cadence === 'asking') enter(journey, 'cadence', 'waiting')
  }
}

/** Gets the gains of score updates that were signalled without them. */
export async function recordUnscored(journey: Journey): Promise<void> {
  const [item] = journey.unscored
  if (item === undefined) return
  const end = await score(journey, item, journey.state.period, DAY_MS)
  if (end === 'unanswered') {
    journey.counts.refused += 1
    note(journey, 'score_update', 'not recorded: the provider had no scores for it within a day')
  }
  journey.unscored.shift()
}

/** `unanswered`: the provider did not answer in time. Gains are never invented. */
async function score(
  journey: Journey,
  item: MilestoneItem,
  period: number,
  limitMs: number,
): Promise<'recorded' | 'unanswered'> {
  const { leadId, last } = journey.state
  const options = {
    scheduleToCloseTimeout: Math.min(limitMs, SCORE_PERIOD_MS),
    summary: `ask for the scores of update ${period} and record it`,
  }
  try {
    const { dedupeKey } = item
    const recording = await recordScoreUpdate.executeWithOptions(options, [
      leadId,
      { period, dedupeKey, settled: settledUpTo(journey) },
    ])
    applyRecording(journey, recording, [item], last)
    return 'recorded'
  } catch (error) {
    // the run ends: the next one asks again
    if (isCancellation(error) || refusalOf(error) || !(error instanceof ActivityFailure)) throw error
    return 'unanswered'
  }
}
