import { expect, test } from '@jest/globals'
import { judgeCheck } from '../../src/endpoints/certification-checks.ts'

type Check = 'valid' | 'repeated' | 'unknown_type' | 'forged_signature'

function hintOf(
  check: Check,
  status: number,
  { valid = 'passed', hint = null }: { valid?: 'passed' | 'failed'; hint?: string | null } = {},
) {
  const isAccepted = status < 300
  const outcome = {
    ok: isAccepted,
    status,
    errorCode: isAccepted ? null : 'http_error',
    hint,
    durationMs: 5,
  }
  return judgeCheck(check, outcome, { valid }).hint
}

test.each([
  // who answers 4xx has checked a signature; who answers 500 has failed at something
  ['valid', 200, null],
  ['valid', 401, /^Verify the signature with the secret/],
  ['valid', 500, /^Your endpoint had an error of its own: .* such as endpoint\.certification/],
  ['unknown_type', 404, /^Respond with 200 to types/],
  ['unknown_type', 500, /^Your endpoint had an error of its own/],
  ['forged_signature', 400, null],
  ['forged_signature', 200, /^Verify the header webhook-signature/],
  ['forged_signature', 500, /^If your endpoint refused the signature, respond with 400/],
] as const)('the check %s that got %d says what to change', (check, status, hint) => {
  expect(String(hintOf(check, status))).toMatch(hint ?? /^null$/)
})

test('the checks after valid say that it failed only if it did', () => {
  expect(hintOf('repeated', 400, { valid: 'failed' })).toMatch(
    /^The check valid failed too: repair that first\. Webhooks are/,
  )
  expect(hintOf('repeated', 409)).toMatch(/^Webhooks are delivered at least once/)
})

test('a 401 may be that of a login', () => {
  const hint = 'your endpoint answered 401: accept requests without a login'
  expect(hintOf('valid', 401, { hint })).toMatch(
    /^Your endpoint answered 401: .*login\. Verify the signature/,
  )
})
