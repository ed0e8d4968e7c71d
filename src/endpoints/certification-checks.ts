import type { AttemptOutcome } from '../webhooks/send.ts'

export const certificationStates = ['running', 'passed', 'failed'] as const

/** The certification of a candidate, as stored in its endpoint's row. Times are ISO 8601. */
export interface Certification {
  /** The candidate's number. Its URL is in the endpoint's row. */
  candidate: number
  state: (typeof certificationStates)[number]
  requestedAt: string
  finishedAt: string | null
  /** The checks that were made so far. */
  checks: CheckReport[]
  /** The URL takes effect whatever the result. */
  acceptFailures: boolean
  /** The key that requested it, as the audit names it. */
  requestedBy: string
}

/** The requests of a certification, in their order: the right response, and what to change otherwise. */
const checks = {
  valid: {
    expects: 'accepted',
    hint: 'The secret of this URL is the one that set-endpoint returned last. If it is right, your endpoint may verify JSON that was parsed and written again, which loses the white space of this body: verify the raw bytes.',
  },
  repeated: {
    expects: 'accepted',
    hint: 'Webhooks are delivered at least once: respond with 200 to a webhook-id that you have already handled, or we send it again and again.',
  },
  unknown_type: {
    expects: 'accepted',
    hint: 'Respond with 200 to types that you do not know, and ignore them: new types may be added.',
  },
  forged_signature: {
    expects: 'refused',
    hint: 'Verify the header webhook-signature, and respond with 400 if no signature in it is valid: anyone can send requests to your URL.',
  },
  old_timestamp: {
    expects: 'refused',
    hint: 'Respond with 400 if webhook-timestamp differs from your clock by more than five minutes: whoever copied a webhook could send it again.',
  },
  changed_body: {
    expects: 'refused',
    hint: 'Verify the signature over the raw bytes of the request body, before you parse it, and respond with 400 if it is not valid.',
  },
} as const

export type CertificationCheck = keyof typeof checks

export const certificationChecks = Object.keys(checks) as CertificationCheck[]

/** `not_judged`: the response says nothing about the check, or none came. */
export const checkResults = ['passed', 'failed', 'not_judged'] as const
export type CheckResult = (typeof checkResults)[number]

/** The report of a check. Its texts are for people. */
export interface CheckReport {
  check: CertificationCheck
  result: CheckResult
  received: string
  duration_ms: number
  /** What to change; `null` if it passed. */
  hint: string | null
}

/** `received` of a check without a response. Its host gets no further checks. */
const NO_RESPONSE = 'no response'

/** The check that follows those that were made; `undefined` if the certification is over. */
export const nextCheck = (made: readonly CheckReport[]): CertificationCheck | undefined =>
  made.some(({ received }) => received === NO_RESPONSE)
    ? undefined
    : certificationChecks.find((check) => !made.some((report) => report.check === check))

/** A certification for operators, without its URL. */
export const describeCertification = ({ candidate, state, checks: made }: Certification): string =>
  [
    `- Certification of candidate ${candidate}: ${state}`,
    ...made.map(({ check, result, received }) => `  - ${check}: ${result} (${received})`),
  ].join('\n')

/** 4xx statuses that a router, proxy or framework sends before a signature is verified. */
const NOT_ABOUT_SIGNATURES = [404, 405, 406, 408, 410, 411, 413, 414, 415, 417, 421, 426, 429, 431]

/** Whether the response may be to the signature. */
const isRefusal = (status: number) => status >= 400 && status < 500 && !NOT_ABOUT_SIGNATURES.includes(status)

/** What a check is judged by. */
type JudgedOutcome = Pick<AttemptOutcome, 'ok' | 'status' | 'hint' | 'durationMs'>

/**
 * Judges the response to a check.
 *
 * | expected | response                            | result                                               |
 * | -------- | ----------------------------------- | ---------------------------------------------------- |
 * | accepted | a complete 2xx                      | passed                                               |
 * | accepted | anything else                       | failed                                               |
 * | refused  | none, a redirect, 404 and the like  | not judged                                           |
 * | refused  | another 4xx                         | passed if `valid` was accepted, otherwise not judged |
 * | refused  | anything else                       | failed                                               |
 *
 * @param valid the result of the check `valid`, unless this is it.
 */
export function judgeCheck(
  check: CertificationCheck,
  outcome: JudgedOutcome,
  valid?: CheckResult,
): CheckReport {
  const { ok, status, durationMs } = outcome
  const result = checks[check].expects === 'refused' ? judgeRefusal(status, valid) : ok ? 'passed' : 'failed'
  return {
    check,
    result,
    received: status === null ? NO_RESPONSE : `status ${status}`,
    duration_ms: durationMs,
    hint: result === 'passed' ? null : hintFor(check, outcome, valid),
  }
}

function judgeRefusal(status: number | null, valid: CheckResult | undefined): CheckResult {
  if (status === null) return 'not_judged'
  if (isRefusal(status)) return valid === 'passed' ? 'passed' : 'not_judged'
  return status >= 300 && status < 500 ? 'not_judged' : 'failed'
}

function hintFor(check: CertificationCheck, { status, hint }: JudgedOutcome, valid?: CheckResult): string {
  if (check !== 'valid' && valid !== 'passed')
    return 'Your endpoint did not accept the valid webhook, so this says nothing about the check. Repair that first, and certify again.'
  const ofCheck = checks[check].hint
  if (hint === null) return ofCheck
  const diagnosis = `${hint.charAt(0).toUpperCase()}${hint.slice(1)}${hint.endsWith('?') ? '' : '.'}`
  // the check's own hint is about code that was not reached
  const isUnreached = status === null || (check === 'valid' && !isRefusal(status))
  return isUnreached ? diagnosis : `${diagnosis} ${ofCheck}`
}
