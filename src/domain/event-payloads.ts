import { type MilestoneName, milestones } from './milestones.ts'

/** Payload of `score_update`: gains in points, and the time to go as a range of days (`30-60 days`). */
export interface ScoreGains {
  experian_gain: number
  equifax_gain: number
  transunion_gain: number
  estimated_time_remaining: string
}

export type EventPayload = ScoreGains | { partner_lead_id: string } | null

/** No score can move further than the whole scale, 300 to 850. */
export const LARGEST_GAIN = 550
export const TIME_REMAINING = /^\d{1,5}-\d{1,5} days$/

function isGain(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(value as number) <= LARGEST_GAIN
}

/** The four fields of a score update, or `undefined` when `value` is anything but well-formed gains. */
export function parseScoreGains(value: unknown): ScoreGains | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { experian_gain, equifax_gain, transunion_gain, estimated_time_remaining } = value as Record<
    string,
    unknown
  >
  if (!isGain(experian_gain) || !isGain(equifax_gain) || !isGain(transunion_gain)) return undefined
  if (typeof estimated_time_remaining !== 'string' || !TIME_REMAINING.test(estimated_time_remaining))
    return undefined
  return { experian_gain, equifax_gain, transunion_gain, estimated_time_remaining }
}

/** Whether a milestone's sender may send a payload with it. */
export function takesPayload(name: MilestoneName): boolean {
  return milestones[name].payload === 'score_update'
}
