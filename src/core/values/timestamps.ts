/**
 * A moment in the format of the API and of webhook bodies: `YYYY-MM-DD HH:MM:SS`, UTC, cut (not
 * rounded) to the second, so that a timestamp never lies in the future.
 *
 * Source: interface specification, section 2.
 */
export function formatTimestamp(date: Date): string {
  return date.toISOString().slice(0, 19).replace('T', ' ')
}
