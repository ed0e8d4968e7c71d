import type { ErrorCode } from './api.ts'

/** All errors of this package. */
export class ReferralsError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** No answer came: the network failed, or the call’s deadline passed. `cause` is the last failure. */
export class NoAnswerError extends ReferralsError {}

/** A field that was wrong. */
export interface WrongField {
  /** For example `event_payload.experian_gain`; or the name of a header. */
  field: string
  problem: string
}

/** What the API answered. */
interface Failure {
  status: number
  code: ErrorCode
  /** Quote it when you contact us. */
  requestId: string | undefined
  /** In seconds. */
  retryAfter: number | undefined
  /** For `INVALID_PAYLOAD`: which fields were wrong. */
  fields: readonly WrongField[]
  /** An earlier attempt of this call got no clear answer, and may have been carried out. */
  maybeDone: boolean
}

// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the constructor copies the failure
export interface ApiError extends Readonly<Failure> {}

/** The API refused the call or failed. Subclasses are for what callers usually handle separately; all have `code`. */
export class ApiError extends ReferralsError {
  constructor(message: string, failure: Failure) {
    super(message)
    Object.assign(this, failure)
  }
}

export class InvalidPayloadError extends ApiError {}
export class AuthFailedError extends ApiError {}
export class NotFoundError extends ApiError {}
export class LeadClosedError extends ApiError {}
export class IdempotencyConflictError extends ApiError {}
export class RateLimitedError extends ApiError {}

/** The database of the service no longer has the event of your cursor: it was restored, or a sandbox was started anew. */
export class CursorLostError extends InvalidPayloadError {
  /** Continue after it; some events may come again. */
  readonly cursor: string

  constructor(message: string, failure: Failure, cursor: string) {
    super(message, failure)
    this.cursor = cursor
  }
}

/** By the API’s code; all others are an `ApiError`. */
export const errorClasses: Readonly<Partial<Record<ErrorCode, typeof ApiError>>> = {
  INVALID_PAYLOAD: InvalidPayloadError,
  AUTH_FAILED: AuthFailedError,
  NOT_FOUND: NotFoundError,
  LEAD_CLOSED: LeadClosedError,
  IDEMPOTENCY_CONFLICT: IdempotencyConflictError,
  RATE_LIMITED: RateLimitedError,
}
