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

function isTimeRemaining(value: unknown): boolean {
  if (typeof value !== 'string' || !TIME_REMAINING.test(value)) return false
  const [least = Infinity, most = 0] = value.split(/[- ]/, 2).map(Number)
  return least <= most
}

const gain = {
  form: `an integer from -${LARGEST_GAIN} to ${LARGEST_GAIN}`,
  fits: (value: unknown) => Number.isInteger(value) && Math.abs(value as number) <= LARGEST_GAIN,
}

/** What each field must be. */
const gainRules: Record<keyof ScoreGains, typeof gain> = {
  experian_gain: gain,
  equifax_gain: gain,
  transunion_gain: gain,
  estimated_time_remaining: { form: 'such as "30-60 days", the lower number first', fits: isTimeRemaining },
}

/**
 * The four fields of a score update, without any other fields of `value`; `undefined` unless they are well-formed. Only this
 * result is recorded or sent.
 */
export function parseScoreGains(value: unknown): ScoreGains | undefined {
  if (typeof value !== 'object' || value === null || faultyGains(value).length > 0) return undefined
  const { experian_gain, equifax_gain, transunion_gain, estimated_time_remaining } = value as ScoreGains
  return { experian_gain, equifax_gain, transunion_gain, estimated_time_remaining }
}

/** The fields of gains that are absent or malformed in `value`, each with its form. */
export function faultyGains(value: object): { field: string; form: string }[] {
  const fields = value as Record<string, unknown>
  return Object.entries(gainRules).flatMap(([field, { form, fits }]) =>
    fits(fields[field]) ? [] : { field, form },
  )
}

/** Fields that gains do not have. A sender that waits for an answer is refused; for others they are left out. */
export function unknownGains(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value).filter((name) => !Object.hasOwn(gainRules, name))
}

const SHOWABLE = /^[A-Za-z0-9_.-]{1,64}$/
const MOST_SHOWN = 5

/** Whether a name that a sender chose may be shown and stored: its form makes personal data in it unlikely. */
export function isShowable(name: string): boolean {
  return SHOWABLE.test(name)
}

/** Names that a sender chose, as text: those that may be shown, and the number of others. */
export function listOf(names: readonly string[]): string {
  const shown = names.filter(isShowable).slice(0, MOST_SHOWN)
  const others = names.length - shown.length
  if (others === 0) return shown.join(', ')
  return shown.length === 0 ? `${others} with unusual names` : `${shown.join(', ')} and ${others} more`
}

/** Whether a milestone's sender may send a payload with it. */
export function takesPayload(name: MilestoneName): boolean {
  return milestones[name].payload === 'score_update'
}

/** Mock gains for a sandbox: deterministic for the lead's `number`th update, with less time to go in each. */
export function mockGains(leadId: number, number: number): ScoreGains {
  const points = (bureau: number) => (leadId * 7 + number * 11 + bureau * 5) % 25
  const monthsLeft = Math.max(1, 8 - number)
  return {
    experian_gain: points(0),
    equifax_gain: points(1),
    transunion_gain: points(2),
    estimated_time_remaining: `${monthsLeft * 30}-${monthsLeft * 30 + 30} days`,
  }
}

/** The entry of list-events for a closed lead. It is no milestone: no history has it, and no webhook is sent for it. */
export const LEAD_CLOSED_EVENT = 'lead.closed' as const

/** The names of the entries of list-events. */
export type FeedEventName = MilestoneName | typeof LEAD_CLOSED_EVENT

/** The type of a row of `lead_events` that is in the history. */
export interface InHistory {
  event_name: MilestoneName
  event_payload: EventPayload
}
