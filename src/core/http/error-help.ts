import type { ErrorCode } from './errors.ts'

/** What each error means and what its receiver does, with `code` in backticks: for the page and `docs/integrate.md`. */
export const errorHelp: Record<ErrorCode, { meaning: string; remedy: string }> = {
  INVALID_PAYLOAD: {
    meaning: 'the message and `error.fields` name each field that is wrong',
    remedy: 'correct the request',
  },
  AUTH_FAILED: {
    meaning: 'no key, an unknown or revoked one, or the other environment',
    remedy: 'check header and key',
  },
  HTTPS_REQUIRED: {
    meaning: 'the request was sent over plain HTTP',
    remedy: 'use HTTPS, and ask for a new key',
  },
  SELF_SERVICE_OFF: { meaning: 'self-service is off for your account', remedy: 'contact us' },
  NOT_FOUND: {
    meaning: 'no such lead or event of yours, or no such path',
    remedy: 'check `lead_id` and path',
  },
  METHOD_NOT_ALLOWED: { meaning: 'not the method of this path', remedy: 'use a method that `Allow` names' },
  NO_ENDPOINT: { meaning: 'you have set no URL yet', remedy: 'call set-endpoint' },
  NO_CANDIDATE: { meaning: 'there is no URL that is to be certified', remedy: 'call set-endpoint' },
  PAUSED_BY_STAFF: { meaning: 'our staff paused your endpoint', remedy: 'contact us' },
  ENDPOINT_PAUSED: {
    meaning: 'sandbox only: your endpoint is paused, and its webhooks are held',
    remedy: 'call resume-endpoint',
  },
  LEAD_CLOSED: {
    meaning: 'the lead is closed, which is final',
    remedy: 'to continue with the borrower, create another lead',
  },
  LEAD_HELD: { meaning: 'the law requires that the lead’s data is kept', remedy: 'the message says why' },
  LEAD_FULL: { meaning: 'sandbox only: the lead has as many events as it can', remedy: 'use another lead' },
  CLOCK_MOVING: {
    meaning: 'sandbox only: the lead’s clock is moving already',
    remedy: 'wait until get-clock says that it has stopped',
  },
  SECRET_REPLACED: {
    meaning: 'the secret of the first response was replaced since',
    remedy: 'send the request with a new `Idempotency-Key`',
  },
  PAYLOAD_TOO_LARGE: { meaning: 'the body or the headers are too large', remedy: 'send less' },
  UNSUPPORTED_MEDIA_TYPE: { meaning: 'the body is not declared as JSON', remedy: 'set `Content-Type`' },
  IDEMPOTENCY_CONFLICT: {
    meaning: 'the key was used with another body',
    remedy: 'use a new key for a new request',
  },
  RATE_LIMITED: { meaning: 'you have reached a limit', remedy: 'wait for the seconds in `Retry-After`' },
  INTERNAL_ERROR: {
    meaning: 'a fault of ours',
    remedy: 'send it again with the same `Idempotency-Key`, then contact us',
  },
  SERVICE_UNAVAILABLE: {
    meaning: 'the service is briefly unavailable',
    remedy: 'send it again after `Retry-After`, with the same `Idempotency-Key`',
  },
}

export const ERRORS_PATH = '/docs/errors'

/** Where an error is explained: relative, because the service has other names behind a proxy. */
const helpOf = (code: ErrorCode) => `${ERRORS_PATH}#${code}`

/** The header of every error response. Source: RFC 8288; `help` is a relation of HTML. */
export const helpLink = (code: ErrorCode) => `<${helpOf(code)}>; rel="help"`
