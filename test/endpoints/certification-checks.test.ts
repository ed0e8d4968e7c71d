import { expect, test } from '@jest/globals'
import {
  type CertificationCheck,
  type CheckResult,
  judgeCheck,
} from '../../src/endpoints/certification-checks.ts'

const LOGIN = 'your endpoint answered 401: accept requests without a login'
const RAW = 'your endpoint answered 400: is the body raw?'
const REFUSED = 'your endpoint refused the connection'
const PATH = 'your endpoint answered 404: check the path of the registered URL'

type Row = [
  CertificationCheck,
  { status: number | null; hint?: string; valid?: CheckResult },
  CheckResult,
  RegExp | null,
]

test.each<Row>([
  ['valid', { status: 200 }, 'passed', null],
  ['valid', { status: 401, hint: LOGIN }, 'failed', /^Your endpoint answered 401: .*login\. The secret of/],
  [
    'valid',
    { status: 400, hint: RAW },
    'failed',
    /^Your endpoint answered 400: is the body raw\? The secret of/,
  ],
  ['valid', { status: 404, hint: PATH }, 'failed', /URL\.$/],
  ['valid', { status: null, hint: REFUSED }, 'failed', /^Your endpoint refused the connection\.$/],
  [
    'repeated',
    { status: 400, hint: RAW, valid: 'failed' },
    'failed',
    /^Your endpoint did not accept the valid/,
  ],
  ['repeated', { status: 409 }, 'failed', /^Webhooks are delivered at least once/],
  ['unknown_type', { status: 422 }, 'failed', /^Respond with 200 to types/],
  ['forged_signature', { status: 400 }, 'passed', null],
  ['forged_signature', { status: 200 }, 'failed', /^Verify the header webhook-signature/],
  ['forged_signature', { status: 500 }, 'failed', /^Verify the header webhook-signature/],
  ['forged_signature', { status: 400, valid: 'failed' }, 'not_judged', /did not accept the valid webhook/],
  ['old_timestamp', { status: 301 }, 'not_judged', /^Respond with 400/],
  ['old_timestamp', { status: 404, hint: PATH }, 'not_judged', /^Your endpoint answered 404/],
  ['changed_body', { status: null }, 'not_judged', /^Verify the signature/],
])('the check %s that got %j is %s, and says what to change', (check, got, result, hint) => {
  const { status, hint: diagnosis = null, valid = 'passed' } = got
  const outcome = { ok: status === 200, status, hint: diagnosis, durationMs: 5 }
  const report = judgeCheck(check, outcome, valid)
  expect(report.result).toBe(result)
  expect(String(report.hint)).toMatch(hint ?? /^null$/)
})
