import { setCurrentDetails, setDefaultSignalHandler, sleep } from '@temporalio/workflow'
import type { certificationActivities, pingEndpointActivity } from '../activities/certify-endpoint.ts'
import {
  type CertificationCheck,
  certificationChecks,
  type CertificationRequest,
  describeCheck,
} from '../src/endpoints/certification-checks.ts'
import { interruptible, policies } from './activities.ts'

export type Activities = ReturnType<typeof certificationActivities> & {
  pingEndpoint: ReturnType<typeof pingEndpointActivity>
}

const { certify, pingEndpoint } = interruptible<Activities>(policies.call)

const { endCertification } = interruptible<Activities>(policies.step)

type Outcome = NonNullable<Awaited<ReturnType<Activities['certify']>>>

/**
 * Certifies the URL that a partner wants its webhooks at: id `certification-<candidate>-<time>`. One call after the other,
 * each with its report in PostgreSQL; if it passes, the endpoint switches to it.
 */
export async function certification(request: CertificationRequest): Promise<string> {
  setDefaultSignalHandler(() => {})
  const outcomes = new Map<CertificationCheck, Outcome>()
  for (const check of certificationChecks) {
    // the host may not want our requests
    const valid = outcomes.get('valid')
    if (valid !== undefined && valid.result !== 'passed') await sleep('1 second')
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
  outcomes: Map<CertificationCheck, Outcome>,
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

/** Sends the test request that a partner asked for: id `endpoint-ping-<endpoint_id>`. `null` if there is no URL. */
export async function endpointPing(endpointId: number) {
  setDefaultSignalHandler(() => {})
  return pingEndpoint(endpointId)
}
