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
  /** By the names that you gave it, for example `eventPayload.experianGain`; or the name of a header. */
  field: string
  /** As the API names it, for example `event_payload.experian_gain`. */
  wireField: string
  problem: string
}

/** What the API answered. */
export interface ApiFailure {
  status: number
  code: ErrorCode
  message: string
  /** Quote it when you contact us. */
  requestId: string | undefined
  /** In seconds. */
  retryAfter: number | undefined
  fields: readonly WrongField[]
  /** Where list-events goes on if its cursor was lost. */
  next: string | undefined
  /** Whether an attempt before may have been carried out: it got no answer, or one that leaves it open. */
  maybeDone: boolean
}

/** The API refused the call or failed. Each known `code` has a class of its own; one that was added later has this one. */
export class ApiError extends ReferralsError {
  readonly status: number
  readonly code: ErrorCode
  readonly requestId: string | undefined
  readonly retryAfter: number | undefined
  /** For `INVALID_PAYLOAD`: which fields were wrong. */
  readonly fields: readonly WrongField[]
  /** An earlier attempt of this call got no clear answer, and may have been carried out. */
  readonly maybeDone: boolean

  constructor(failure: ApiFailure) {
    super(failure.message)
    this.status = failure.status
    this.code = failure.code
    this.requestId = failure.requestId
    this.retryAfter = failure.retryAfter
    this.fields = failure.fields
    this.maybeDone = failure.maybeDone
  }
}

export class InvalidPayloadError extends ApiError {}
export class AuthFailedError extends ApiError {}
export class HttpsRequiredError extends ApiError {}
export class SelfServiceOffError extends ApiError {}
export class NotFoundError extends ApiError {}
export class MethodNotAllowedError extends ApiError {}
export class NoEndpointError extends ApiError {}
export class NoCandidateError extends ApiError {}
export class PausedByStaffError extends ApiError {}
export class EndpointPausedError extends ApiError {}
export class LeadClosedError extends ApiError {}
export class LeadHeldError extends ApiError {}
export class LeadFullError extends ApiError {}
export class ClockMovingError extends ApiError {}
export class SecretReplacedError extends ApiError {}
export class PayloadTooLargeError extends ApiError {}
export class UnsupportedMediaTypeError extends ApiError {}
export class IdempotencyConflictError extends ApiError {}
export class RateLimitedError extends ApiError {}
export class InternalError extends ApiError {}
export class ServiceUnavailableError extends ApiError {}

/** The database of the service no longer has the event of your cursor: it was restored, or a sandbox was started anew. */
export class CursorLostError extends InvalidPayloadError {
  /** Go on from here: you may get events again that you have. */
  readonly place: string

  constructor(failure: ApiFailure & { next: string }) {
    super(failure)
    this.place = failure.next
  }
}

/** By code: a test compares it with the API’s list. */
export const errorClasses: Readonly<Record<string, typeof ApiError>> = {
  INVALID_PAYLOAD: InvalidPayloadError,
  AUTH_FAILED: AuthFailedError,
  HTTPS_REQUIRED: HttpsRequiredError,
  SELF_SERVICE_OFF: SelfServiceOffError,
  NOT_FOUND: NotFoundError,
  METHOD_NOT_ALLOWED: MethodNotAllowedError,
  NO_ENDPOINT: NoEndpointError,
  NO_CANDIDATE: NoCandidateError,
  PAUSED_BY_STAFF: PausedByStaffError,
  ENDPOINT_PAUSED: EndpointPausedError,
  LEAD_CLOSED: LeadClosedError,
  LEAD_HELD: LeadHeldError,
  LEAD_FULL: LeadFullError,
  CLOCK_MOVING: ClockMovingError,
  SECRET_REPLACED: SecretReplacedError,
  PAYLOAD_TOO_LARGE: PayloadTooLargeError,
  UNSUPPORTED_MEDIA_TYPE: UnsupportedMediaTypeError,
  IDEMPOTENCY_CONFLICT: IdempotencyConflictError,
  RATE_LIMITED: RateLimitedError,
  INTERNAL_ERROR: InternalError,
  SERVICE_UNAVAILABLE: ServiceUnavailableError,
}

export function toError(failure: ApiFailure): ApiError {
  const { code, next } = failure
  if (next !== undefined) return new CursorLostError({ ...failure, next })
  const Known = Object.hasOwn(errorClasses, code) ? errorClasses[code] : undefined
  return new (Known ?? ApiError)(failure)
}
