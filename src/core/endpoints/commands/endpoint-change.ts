import type { openChanges } from '../statements/changes.ts'
import { formatTimestamp } from '../../values/timestamps.ts'

/** A change that the partner asked for and that has not taken effect. */
export function describeChange(change: Awaited<ReturnType<typeof openChanges>>[number]): string {
  const { kind, url, state, takes_effect_at: at } = change
  const what = kind === 'url' ? `the URL ${url}` : 'a new secret'
  if (state === 'candidate') return `${what}, not certified`
  return `${what}, which takes effect ${at === null ? '24 hours after the emails about it' : `on ${formatTimestamp(at)} UTC`}`
}
