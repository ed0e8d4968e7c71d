import type { Attempt } from './forward.ts'

/** The longest name of a webhook that there is. */
const NAME_WIDTH = 22

/** For people. */
export function attemptLine({ webhook, outcome, retryMs }: Attempt, at: Date): string {
  const { event_name: name, lead_id: lead, sequence } = webhook
  const facts = [
    at.toISOString().slice(0, 19).replace('T', ' '),
    name.padEnd(NAME_WIDTH),
    `lead ${lead}`,
    `#${sequence}`,
    outcome.status ?? '–',
    `${outcome.durationMs} ms`,
  ]
  if (retryMs === undefined) return facts.join('  ')
  return `${facts.join('  ')}  ${outcome.problem}. Trying again in ${(retryMs / 1000).toFixed(1)} s`
}

/** For programs: one object a line. */
export function attemptObject({ webhook, number, outcome, retryMs }: Attempt, at: Date): object {
  const { event_id, event_name: type, lead_id, sequence } = webhook
  const { status, durationMs, problem } = outcome
  return {
    at: at.toISOString(),
    event_id,
    type,
    lead_id,
    sequence,
    attempt: number,
    status,
    duration_ms: durationMs,
    problem,
    retry_in_ms: retryMs ?? null,
  }
}
