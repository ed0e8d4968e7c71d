import type { AttemptOutcome } from '../webhooks/send.ts'

export const certificationStates = ['running', 'passed', 'failed'] as const

/** The certification of a candidate, as its endpoint's row has it. Times are ISO 8601. */
export interface Certification {
  /** The candidate's number. */
  candidate: number
  url: string
  state: (typeof certificationStates)[number]
  requestedAt: string
  finishedAt: string | null
  /** Those that were made so far. */
  checks: CheckReport[]
}

/** The input of a certification's workflow. */
export interface CertificationRequest extends Pick<Certification, 'candidate' | 'requestedAt'> {
  partnerId: number
  /** The URL takes effect whatever the result. */
  acceptFailures: boolean
  /** The audit's name of the key that asked. */
  requestedBy: string
}

/** The requests of a certification, in their order: what is sent, the right response, and what to change otherwise. */
const checks = {
  valid: {
    sends: 'a webhook with a valid signature',
    expects: 'accepted',
    hint: 'Verify the signature with the secret that set-endpoint returned, over the raw bytes of the request body, and respond with 200. If it accepts other webhooks, it probably verifies JSON that was parsed and written again: the white space of this body would be lost.',
  },
  repeated: {
    sends: 'the same webhook again, with the same webhook-id',
    expects: 'accepted',
    hint: 'Webhooks are delivered at least once: respond with 200 to a webhook-id that you have already handled, or we send it again and again.',
  },
  unknown_type: {
    sends: 'a webhook of an unknown type',
    expects: 'accepted',
    hint: 'Respond with 200 to types that you do not know, and ignore them: new types may be added.',
  },
  forged_signature: {
    sends: 'a webhook that was signed with another secret',
    expects: 'refused',
    hint: 'Verify the header webhook-signature, and respond with 400 if no signature in it is valid: anyone can send requests to your URL.',
  },
  old_timestamp: {
    sends: 'a webhook with a valid signature that is ten minutes old',
    expects: 'refused',
    hint: 'Respond with 400 if webhook-timestamp differs from your clock by more than five minutes: whoever copied a webhook could send it again.',
  },
  changed_body: {
    sends: 'a webhook whose body was changed by one byte after it was signed',
    expects: 'refused',
    hint: 'Verify the signature over the raw bytes of the request body, before you parse it, and respond with 400 if it is not valid.',
  },
} as const

export type CertificationCheck = keyof typeof checks

export const certificationChecks = Object.keys(checks) as CertificationCheck[]

export const describeCheck = (check: CertificationCheck): string => checks[check].sends

/** `not_judged`: the response says nothing about the check, or none came. */
export const checkResults = ['passed', 'failed', 'not_judged'] as const
export type CheckResult = (typeof checkResults)[number]

/** The report of a check. Its texts are for people. */
export interface CheckReport {
  check: CertificationCheck
  sent: string
  result: CheckResult
  expected: string
  /** The status, or why there was none. */
  received: string
  /** `null` if it was not sent. */
  duration_ms: number | null
  /** What to change; `null` if it passed. */
  hint: string | null
}

const EXPECTED = { accepted: 'a 2xx status', refused: 'a 4xx status' }

/** 4xx statuses of a path, a proxy or a framework, which answers them before a signature is verified. */
const NOT_ABOUT_SIGNATURES = [404, 405, 406, 408, 410, 411, 413, 414, 415, 417, 421, 426, 429, 431]

/** Whether the response came from something before the receiver: a redirect, a missing path, a limit. */
const isFromBefore = (status: number) =>
  (status >= 300 && status < 400) || NOT_ABOUT_SIGNATURES.includes(status)

/** What a check is judged by. */
type JudgedOutcome = Pick<AttemptOutcome, 'ok' | 'status' | 'hint' | 'durationMs'>

interface Seen {
  /** The result of the check `valid`, unless this is it. */
  valid?: CheckResult | undefined
  /** What is wrong with the receiver's clock, in words. */
  clock?: string | undefined
}

/**
 * Judges the response to a check.
 *
 * | expected | response                            | result                                               |
 * | -------- | ----------------------------------- | ---------------------------------------------------- |
 * | accepted | a complete 2xx                      | passed                                               |
 * | accepted | anything else                       | failed                                               |
 * | refused  | a complete 2xx                      | failed                                               |
 * | refused  | none, a redirect, 404 and the like  | not judged                                           |
 * | refused  | another 4xx                         | passed if `valid` was accepted, otherwise not judged |
 * | refused  | anything else                       | failed                                               |
 */
export function judgeCheck(check: CertificationCheck, outcome: JudgedOutcome, seen: Seen = {}): CheckReport {
  const { ok, status, hint, durationMs } = outcome
  const { sends, expects } = checks[check]
  const result = expects === 'accepted' ? (ok ? 'passed' : 'failed') : judgeRefusal(outcome, seen.valid)
  const isComplete = status !== null && (ok || hint === null || status < 200 || status > 299)
  return {
    check,
    sent: sends,
    result,
    expected: EXPECTED[expects],
    received: isComplete ? `status ${status}` : `no complete response: ${hint ?? 'the request failed'}`,
    duration_ms: durationMs,
    hint: result === 'passed' ? null : hintFor(check, outcome, result, seen),
  }
}

function judgeRefusal({ ok, status }: JudgedOutcome, valid: CheckResult | undefined): CheckResult {
  if (ok) return 'failed'
  if (status === null || isFromBefore(status)) return 'not_judged'
  if (status < 400 || status > 499) return 'failed'
  return valid === 'passed' ? 'passed' : 'not_judged'
}

function hintFor(
  check: CertificationCheck,
  { status, hint }: JudgedOutcome,
  result: CheckResult,
  { valid, clock }: Seen,
): string {
  const { expects, hint: ofCheck } = checks[check]
  if (status === null)
    return 'No response came, so the check says nothing yet. See what was received, repair that, and certify again.'
  if (hint !== null && isFromBefore(status)) return sentence(hint)
  if (result === 'not_judged')
    return 'Your endpoint did not accept the valid webhook, so a refusal does not show that it verifies. Repair that first, and certify again.'
  if (status >= 500)
    return expects === 'accepted'
      ? 'Your endpoint had an error of its own: see its log. A certification sends types that you do not handle, such as endpoint.certification: respond with 200 to them.'
      : 'If your endpoint refused the signature, respond with 400 instead: catch the error that your library throws. Otherwise it had an error of its own: see its log.'
  if (expects === 'refused') return ofCheck
  if (clock !== undefined) return sentence(clock)
  if (valid === 'failed') return `The check valid failed too: repair that first. ${ofCheck}`
  // a receiver answers these for a signature, and a proxy before it for a login
  const isLogin = status === 401 || status === 403
  return hint !== null && isLogin ? `${sentence(hint)} ${ofCheck}` : ofCheck
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** The reports of the checks that are not sent, because the one before them got no response. */
export function notSent(after: CertificationCheck): CheckReport[] {
  return certificationChecks.slice(certificationChecks.indexOf(after) + 1).map((check) => ({
    check,
    sent: checks[check].sends,
    result: 'not_judged',
    expected: EXPECTED[checks[check].expects],
    received: `not sent: the check ${after} got no response`,
    duration_ms: null,
    hint: 'Repair the check that got no response, and certify again.',
  }))
}
