import { condition } from '@temporalio/workflow'
import { duePeriod, SCORE_PERIOD_MS, scoreDate } from '../src/domain/score-dates.ts'
import type { MilestoneItem } from '../src/domain/referral.ts'
import { recordScoreUpdate } from './activities.ts'
import { applyRecording, type Journey, note, now } from './journey.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** Whether the timer raises score updates: from escrow_funded to mortgage_ready. */
export function isCadenceOn({ state }: Journey): boolean {
  return state.anchor !== null && state.endsAt === null && !state.closing
}

/** When the next score update is due, on our clock; the lead's may run ahead of it. */
function dueAt({ state }: Journey): number {
  return scoreDate(state.anchor ?? 0, state.period) - state.offset
}

/** Waits for the next absolute date and records its score update; late, it records the latest one only. */
export async function recordDueScoreUpdate(journey: Journey): Promise<void> {
  await condition(() => isCadenceOn(journey))
  const { state } = journey
  const due = dueAt(journey)
  const moved = () => dueAt(journey) !== due || !isCadenceOn(journey)
  const waitMs = due - Date.now()
  if (waitMs > 0 && (await condition(moved, waitMs, { summary: `score update ${state.period}` }))) return
  const anchor = state.anchor ?? 0
  const period = duePeriod(anchor, state.period, now(journey))
  const item: MilestoneItem = { name: 'score_update', dedupeKey: `score_update#${period}` }
  await score(journey, item, period, scoreDate(anchor, period + 1) - now(journey))
  state.period = period + 1
}

/** Asks for the gains of the score updates that were signalled without them, beside everything else. */
export async function recordUnscored(journey: Journey): Promise<void> {
  await condition(() => journey.unscored.length > 0)
  const [item] = journey.unscored
  if (item === undefined) return
  await score(journey, item, journey.state.period, DAY_MS)
  journey.unscored.shift()
}

async function score(journey: Journey, item: MilestoneItem, period: number, limitMs: number): Promise<void> {
  const { leadId } = journey.state
  const options = {
    scheduleToCloseTimeout: Math.min(limitMs, SCORE_PERIOD_MS),
    summary: `score update ${period}`,
  }
  try {
    const { dedupeKey } = item
    applyRecording(
      journey,
      await recordScoreUpdate.executeWithOptions(options, [leadId, { period, dedupeKey }]),
      [item],
    )
  } catch {
    note(journey, 'score_update', `no scores for update ${period}: the provider did not answer in time`)
  }
}
