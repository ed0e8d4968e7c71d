import { setCurrentDetails, setDefaultSignalHandler, sleep } from '@temporalio/workflow'
import type { CheckOutcome } from '../activities/certify-endpoint.ts'
import {
  type CertificationCheck,
  certificationChecks,
  type CertificationRequest,
  describeCheck,
} from '../src/endpoints/certification-checks.ts'
import { certify, endCertification } from './activities.ts'

/**
 * Certifies the URL that a partner wants its webhooks at: id `certification-<candidate>-<time>`. One call after the other,
 * each with its report in PostgreSQL; if it passes, the endpoint switches to it.
 */
export async function certification(request: CertificationRequest): Promise<string> {
  setDefaultSignalHandler(() => {})
  const outcomes = new Map<CertificationCheck, CheckOutcome>()
  for (const check of certificationChecks) {
    // a host that refused the first request gets the others slowly
    if ((outcomes.get('valid')?.result ?? 'passed') !== 'passed') await sleep('1 second')
    setCurrentDetails(detailsOf(request, outcomes))
    const summary = `send ${describeCheck(check)}`
    const outcome = await certify.executeWithOptions({ summary }, [request, check])
    if (outcome === null) break
    outcomes.set(check, outcome)
    if (!outcome.isAnswered) break
  }
  const result = await endCertification(request)
  setCurrentDetails(detailsOf(request, outcomes, result))
  return result
}

const marks = { passed: '✓', failed: '✗', not_judged: '?' }

/** What an operator reads in the Temporal Web UI. */
function detailsOf(
  { candidate }: CertificationRequest,
  outcomes: Map<CertificationCheck, CheckOutcome>,
  result = 'running',
): string {
  const lines = certificationChecks.map((check) => {
    const outcome = outcomes.get(check)
    if (outcome === undefined) return `- … ${check}: ${describeCheck(check)}`
    return `- ${marks[outcome.result]} ${check}: ${describeCheck(check)}: ${outcome.received}`
  })
  const lost = 'Canceled or terminated, it goes on when its partner calls certify-endpoint again.'
  return [`Certification of candidate ${candidate}: **${result}**`, lines.join('\n'), lost].join('\n\n')
}
