import { FIRST_MADE_UP_LEAD } from '../../../core/leads/decisions/made-up-leads.ts'
import type { CertificationResult, CheckReport, CheckResult, JudgedOutcome } from './certification.ts'
import {
  nameOf,
  type RehearsalCheck,
  rehearsalChecks,
  type RehearsedRequest,
  type Sending,
  type Signing,
  UNKNOWN_TYPE,
} from './rehearsal.ts'

const MADE_UP_LEADS = 147_000_000

/** A request that was sent, and what came of it. */
export interface SentRequest extends JudgedOutcome {
  /** Its `webhook-id`. */
  id: string
  errorCode: string | null
}

/** What came of a check: of the requests so far, and once it is over, the verdict. */
export type RehearsalReport = Partial<CheckReport<RehearsalCheck>> & { requests?: SentRequest[] }

/** The made-up lead of a check, by the place of its rehearsal. */
export const madeUpLead = (rehearsalId: number, check: RehearsalCheck): number =>
  FIRST_MADE_UP_LEAD +
  ((rehearsalId * rehearsalChecks.length + rehearsalChecks.indexOf(check)) % MADE_UP_LEADS)

/** The verdict over all checks, for people; `null` while they are made. */
export function verdictOf(
  result: CertificationResult | null,
  reports: readonly { check: RehearsalCheck; result: CheckResult | null }[],
): string | null {
  if (result === null) return null
  if (result === 'superseded')
    return 'Your endpoint got another URL before the rehearsal ended: rehearse it again.'
  const others = reports.filter((report) => report.result !== 'passed').map(({ check }) => check)
  const all = `${reports.length} ${reports.length === 1 ? 'check' : 'checks'}`
  if (others.length === 0)
    return `Your endpoint passed ${all}. Whether it handled each event once, its own records show.`
  return `${others.length} of ${all} did not pass: ${others.join(', ')}.`
}

/** A request as its report shows it; `sent`: what was not as usual, for people. */
export function describeRequest(request: RehearsedRequest): {
  type: string
  sequence: number
  sent: string | null
} {
  const { sequence, hasUnknownType } = request
  const unusual = unusualIn(request)
  return {
    type: hasUnknownType ? UNKNOWN_TYPE : (nameOf(request) ?? ''),
    sequence,
    sent: unusual.length === 0 ? null : unusual.join(', '),
  }
}

const SENDINGS: Record<Sending, string[]> = {
  whole: [],
  slow: ['the body in pieces'],
  interrupted: ['cut off in the middle of the body'],
  unanswered: ['closed before your answer'],
}
const SIGNINGS: Record<Signing, string[]> = {
  own: [],
  other_then_own: ['two signatures, the second by your secret'],
  own_then_other: ['two signatures, the first by your secret'],
}

const unusualIn = ({
  sending,
  signing,
  afterMs,
  isReplay,
  hasUnknownType,
  hasUnknownFields,
}: RehearsedRequest) => [
  ...SENDINGS[sending],
  ...SIGNINGS[signing],
  ...(afterMs > 0 ? ['five seconds later'] : []),
  ...(isReplay ? ['with webhook-replay'] : []),
  ...(hasUnknownType ? ['an unknown type'] : []),
  ...(hasUnknownFields ? ['unknown fields'] : []),
]
