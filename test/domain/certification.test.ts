import { expect, test } from '@jest/globals'
import { judgeCheck } from '../../src/capabilities/self-service/decisions/certification.ts'

const hintOf = (check: 'valid' | 'unknown_type' | 'forged_signature', status: number) => {
  const isAccepted = status < 300
  const outcome = {
    ok: isAccepted,
    status,
    errorCode: isAccepted ? null : 'http_error',
    hint: null,
    durationMs: 5,
  }
  return judgeCheck(check, outcome as Parameters<typeof judgeCheck>[1], { valid: 'passed' }).hint
}

test.each([
  // who answers 4xx has checked a signature; who answers 500 has failed at something
  ['valid', 200, null],
  ['valid', 401, /^Verify the signature with the secret/],
  ['valid', 500, /^Your endpoint had an error of its own: .* such as endpoint\.certification/],
  ['unknown_type', 404, /^If the check valid failed too/],
  ['unknown_type', 500, /^Your endpoint had an error of its own/],
  ['forged_signature', 400, null],
  ['forged_signature', 200, /^Verify the header webhook-signature/],
  ['forged_signature', 500, /^If your endpoint refused the signature, respond with 400/],
] as const)('the check %s that got %d says what to change', (check, status, hint) => {
  expect(String(hintOf(check, status))).toMatch(hint ?? /^null$/)
})
