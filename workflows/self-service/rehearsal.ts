import { setCurrentDetails, setDefaultSignalHandler, sleep } from '@temporalio/workflow'
import {
  describeRehearsal,
  type RehearsalCheck,
  requestsOf,
} from '../../src/capabilities/self-service/decisions/rehearsal.ts'
import { PACE_MS } from '../../src/core/deliveries/decisions/delivery.ts'
import { type Activities, endRehearsal, plannedChecks, rehearse } from './activities.ts'

type Outcome = Exclude<Awaited<ReturnType<Activities['rehearse']>>, 'goes on' | null>

/**
 * Sends a partner's endpoint in a sandbox the webhooks of made-up leads, as they come on bad days: id
 * `rehearsal-<certification_id>`. One check after the other, each with its report in PostgreSQL.
 */
export async function rehearsal(rehearsalId: number): Promise<string> {
  setDefaultSignalHandler(() => {})
  const checks = await plannedChecks(rehearsalId)
  const outcomes = new Map<RehearsalCheck, Outcome>()
  const tell = (result?: string) => setCurrentDetails(detailsOf(rehearsalId, checks, outcomes, result))
  for (const check of checks) {
    tell()
    const outcome = await carryOut(rehearsalId, check)
    if (outcome === null) break
    outcomes.set(check, outcome)
    // nobody is there
    if (outcomes.size === 1 && !outcome.isAnswered) break
    // the host may not want our requests
    if (outcome.result !== 'passed') await sleep(PACE_MS)
  }
  const result = await endRehearsal(rehearsalId)
  tell(result)
  return result
}

/** @returns `null` if the endpoint was changed meanwhile. */
async function carryOut(rehearsalId: number, check: RehearsalCheck): Promise<Outcome | null> {
  const summary = `send ${describeRehearsal(check)}`
  for (const [index, { afterMs }] of requestsOf(check).entries()) {
    if (afterMs > 0) await sleep(afterMs)
    const step = await rehearse.executeWithOptions({ summary }, [rehearsalId, check, index])
    if (step !== 'goes on') return step
  }
  return null
}

const marks = { passed: '✓', failed: '✗', not_judged: '?' }

/** What an operator reads in the Temporal Web UI. */
function detailsOf(
  rehearsalId: number,
  checks: readonly RehearsalCheck[],
  outcomes: ReadonlyMap<RehearsalCheck, Outcome>,
  result = 'running',
): string {
  const lines = checks.map((check) => {
    const outcome = outcomes.get(check)
    if (outcome === undefined) return `- … ${check}: ${describeRehearsal(check)}`
    return `- ${marks[outcome.result]} ${check}: ${describeRehearsal(check)}: ${outcome.received}`
  })
  return [
    `Rehearsal ${rehearsalId}: **${result}**`,
    lines.join('\n'),
    'It is in PostgreSQL: canceled or terminated, this workflow is started again until the rehearsal has a result.',
  ].join('\n\n')
}
