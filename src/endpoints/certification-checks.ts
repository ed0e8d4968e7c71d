import type { AttemptOutcome } from '../webhooks/send.ts'

export const certificationStates = ['running', 'passed', 'failed'] as const

/** What came of certifying a candidate, as its endpoint's row has it. Times are ISO 8601. */
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

/** What of an outcome a check is judged by. */
type JudgedOutcome = Pick<AttemptOutcome, 'ok' | 'status' | 'hint' | 'durationMs'>

/** What a check is, in words. */
interface Check {
  /** What we send. */
  readonly sends: string
  /** Whether the endpoint must accept or refuse it. */
  readonly expects: 'accepted' | 'refused'
  /** What to change where it does not. */
  readonly hint: string
}

/** The calls of a certification, in their order. */
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
} as const satisfies Record<string, Check>

export type CertificationCheck = keyof typeof checks

export const certificationChecks = Object.keys(checks) as CertificationCheck[]

export const describeCheck = (check: CertificationCheck): string => checks[check].sends

/** `not_judged`: the response says nothing about the check, or there was none. */
export const checkResults = ['passed', 'failed', 'not_judged'] as const
export type CheckResult = (typeof checkResults)[number]

/** What came of a check. */
export interface CheckReport {
  check: CertificationCheck
  /** For people. */
  sent: string
  result: CheckResult
  /** For people. */
  expected: string
  /** For people: the status, or why there was none. */
  received: string
  /** `null` if it was not sent. */
  duration_ms: number | null
  /** What to change; `null` if it passed. */
  hint: string | null
}

const NO_ANSWER =
  'No response came, so the check says nothing yet. See what was received, repair that, and certify again.'

const NOT_SENT = 'Repair the check that got no response, and certify again.'

const REPAIR_VALID = 'The check valid failed too: repair that first. '

const REFUSES_ALL =
  'Your endpoint did not accept the valid webhook, so a refusal does not show that it verifies. Repair that first, and certify again.'

/** 4xx statuses of a path, a proxy or a framework, which answers them before a signature is verified. */
const NOT_ABOUT_SIGNATURES = [404, 405, 406, 408, 410, 411, 413, 414, 415, 417, 421, 426, 429, 431]

/** For a status from 500 on. */
const ERRORS = {
  accepted:
    'Your endpoint had an error of its own: see its log. A certification sends types that you do not handle, such as endpoint.certification: respond with 200 to them.',
  refused:
    'If your endpoint refused the signature, respond with 400 instead: catch the error that your library throws. Otherwise it had an error of its own: see its log.',
}

const EXPECTED = { accepted: 'a 2xx status', refused: 'a 4xx status' }

/** Whether the response came from something before the receiver: a redirect, a missing path, a limit. */
const isAnotherMatter = (status: number) =>
  (status >= 300 && status < 400) || NOT_ABOUT_SIGNATURES.includes(status)

interface Seen {
  valid?: CheckResult | undefined
  clock?: string | undefined
}

/**
 * Judges the response to a check.
 *
 * | expected | response                        | result                                              |
 * | -------- | ------------------------------- | --------------------------------------------------- |
 * | accepted | a complete 2xx                  | passed                                              |
 * | accepted | anything else                   | failed                                              |
 * | refused  | a complete 2xx                  | failed                                              |
 * | refused  | none, a redirect, 404 and alike | not judged                                          |
 * | refused  | another 4xx                     | passed if `valid` was accepted, otherwise not judged |
 * | refused  | anything else                   | failed                                              |
 *
 * @param seen what else is known: what came of the check `valid`, unless this is it, and what is wrong with the
 *   receiver's clock, in words.
 */
export function judgeCheck(
  check: CertificationCheck,
  outcome: JudgedOutcome,
  { valid, clock }: Seen = {},
): CheckReport {
  const { sends, expects, hint: ofCheck } = checks[check]
  const { ok, status, hint, durationMs } = outcome
  const isComplete = status !== null && (ok || hint === null || status < 200 || status > 299)
  const result = expects === 'accepted' ? judgeAcceptance(outcome) : judgeRefusal(outcome, valid)
  return {
    check,
    sent: sends,
    result,
    expected: EXPECTED[expects],
    received: isComplete ? `status ${status}` : `no complete response: ${hint ?? 'the request failed'}`,
    duration_ms: durationMs,
    hint: result === 'passed' ? null : hintFor({ expects, hint: ofCheck }, outcome, { result, valid, clock }),
  }
}

/** The reports of the checks that are not sent, because the one before them got no response. */
export function notSent(after: CertificationCheck): CheckReport[] {
  return certificationChecks.slice(certificationChecks.indexOf(after) + 1).map((check) => ({
    check,
    sent: checks[check].sends,
    result: 'not_judged',
    expected: EXPECTED[checks[check].expects],
    received: `not sent: the check ${after} got no response`,
    duration_ms: null,
    hint: NOT_SENT,
  }))
}

const judgeAcceptance = ({ ok }: JudgedOutcome): CheckResult => (ok ? 'passed' : 'failed')

function judgeRefusal({ ok, status }: JudgedOutcome, valid: CheckResult | undefined): CheckResult {
  if (ok) return 'failed'
  if (status === null || isAnotherMatter(status)) return 'not_judged'
  if (status < 400 || status > 499) return 'failed'
  return valid === 'passed' ? 'passed' : 'not_judged'
}

function hintFor(
  { expects, hint: ofCheck }: Pick<Check, 'expects' | 'hint'>,
  { status, hint }: JudgedOutcome,
  { result, valid, clock }: Seen & { result: CheckResult },
): string {
  if (status === null) return NO_ANSWER
  if (hint !== null && isAnotherMatter(status)) return sentence(hint)
  if (result === 'not_judged') return REFUSES_ALL
  if (status >= 500) return ERRORS[expects]
  if (expects === 'refused') return ofCheck
  if (clock !== undefined) return sentence(clock)
  if (valid === 'failed') return REPAIR_VALID + ofCheck
  return hint !== null && isLogin(status) ? `${sentence(hint)} ${ofCheck}` : ofCheck
}

/** A receiver answers these for a signature, and a proxy before it for a login. */
const isLogin = (status: number) => status === 401 || status === 403

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
