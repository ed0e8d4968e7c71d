/** Also the most of a small deployment, where a twentieth would be none. */
const ALWAYS = 10
const MOST_SHARE = 1 / 20

/**
 * How many leads retention may erase within 24 hours before staff confirm: `most`, and at most a twentieth of all `leads`.
 * In two years with the same number of leads every day, it erases a seven hundredth of them a day.
 */
export function retentionCeiling(most: number, leads: number): number {
  return Math.min(most, Math.max(ALWAYS, Math.floor(leads * MOST_SHARE)))
}
