import { setCurrentDetails, setDefaultSignalHandler, sleep } from '@temporalio/workflow'
import { PACE_MS } from '../../src/core/deliveries/decisions/delivery.ts'
import {
  type CertificationCheck,
  certificationChecks,
  describeCheck,
} from '../../src/capabilities/self-service/decisions/certification.ts'
import { type Activities, certify, endCertification } from './activities.ts'

type Outcome = NonNullable<Awaited<ReturnType<Activities['certify']>>>

/**
 * Certifies the URL that a partner wants its webhooks at: id `certification-<certification_id>`. One call after the other,
 * each with its report in PostgreSQL; in a sandbox, a URL that passes then takes effect.
 */
export async function certification(certificationId: number): Promise<string> {
  setDefaultSignalHandler(() => {})
  const outcomes = new Map<CertificationCheck, Outcome>()
  for (const check of certificationChecks) {
    // the host may not want our requests
    const valid = outcomes.get('valid')
    if (valid !== undefined && valid.result !== 'passed') await sleep(PACE_MS)
    setCurrentDetails(detailsOf(certificationId, outcomes))
    const summary = `send ${describeCheck(check)}`
    const outcome = await certify.executeWithOptions({ summary }, [certificationId, check])
    if (outcome === null) break
    outcomes.set(check, outcome)
    if (!outcome.isAnswered) break
  }
  const result = await endCertification(certificationId)
  setCurrentDetails(detailsOf(certificationId, outcomes, result))
  return result
}

const marks = { passed: '✓', failed: '✗', not_judged: '?' }

/** What an operator reads in the Temporal Web UI. */
function detailsOf(
  certificationId: number,
  outcomes: Map<CertificationCheck, Outcome>,
  result = 'running',
): string {
  const lines = certificationChecks.map((check) => {
    const outcome = outcomes.get(check)
    if (outcome === undefined) return `- … ${check}: ${describeCheck(check)}`
    return `- ${marks[outcome.result]} ${check}: ${describeCheck(check)}: ${outcome.received}`
  })
  return [
    `Certification ${certificationId}: **${result}**`,
    lines.join('\n'),
    'It is in PostgreSQL: canceled or terminated, this workflow is started again until the certification has a result.',
  ].join('\n\n')
}
