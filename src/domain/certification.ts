import type { AttemptOutcome } from './attempt-outcome.ts'

/** `superseded`: the candidate was replaced or canceled meanwhile. */
export const certificationResults = ['passed', 'failed', 'superseded'] as const
export type CertificationResult = (typeof certificationResults)[number]

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
    hint: 'Verify the signature with the secret that set-endpoint returned, over the raw bytes of the request body, and respond with 200.',
  },
  repeated: {
    sends: 'the same webhook again, with the same webhook-id',
    expects: 'accepted',
    hint: 'If the check valid failed too, repair that first. Webhooks are delivered at least once: respond with 200 to a webhook-id that you have already handled, or we send it again and again.',
  },
  unknown_type: {
    sends: 'a webhook of an unknown type',
    expects: 'accepted',
    hint: 'If the check valid failed too, repair that first. Respond with 200 to types that you do not know, and ignore them: new types may be added.',
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

/** What came of a check. */
export interface CheckReport {
  check: CertificationCheck
  /** For people. */
  sent: string
  passed: boolean
  /** For people. */
  expected: string
  /** For people: the status, or why there was none. */
  received: string
  duration_ms: number
  /** What to change; `null` if it passed. */
  hint: string | null
}

const NO_ANSWER =
  'No response came, so the check says nothing yet. See what was received, repair that, and certify again.'

/** For a status from 500 on. */
const ERRORS = {
  accepted:
    'Your endpoint had an error of its own: see its log. A certification sends types that you do not handle, such as endpoint.certification: respond with 200 to them.',
  refused:
    'If your endpoint refused the signature, respond with 400 instead: catch the error that your library throws. Otherwise it had an error of its own: see its log.',
}

const EXPECTED = { accepted: 'a 2xx status', refused: 'a 4xx status' }

export function judgeCheck(check: CertificationCheck, outcome: AttemptOutcome): CheckReport {
  const { sends, expects } = checks[check]
  const { ok, status, hint, durationMs } = outcome
  const isRefusal = status !== null && status >= 400 && status <= 499
  const passed = expects === 'accepted' ? ok : isRefusal
  const isComplete = status !== null && (ok || hint === null || status < 200 || status > 299)
  return {
    check,
    sent: sends,
    passed,
    expected: EXPECTED[expects],
    received: isComplete ? `status ${status}` : `no complete response: ${hint ?? 'the request failed'}`,
    duration_ms: durationMs,
    hint: passed ? null : hintFor(check, status),
  }
}

function hintFor(check: CertificationCheck, status: number | null): string {
  const { expects, hint } = checks[check]
  if (status === null) return NO_ANSWER
  return status < 500 ? hint : ERRORS[expects]
}
