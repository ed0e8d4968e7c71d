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
  requestId?: string | undefined
  /** In seconds. */
  retryAfter?: number | undefined
  fields?: readonly WrongField[]
  /** Where list-events goes on if its cursor was lost. */
  next?: string | undefined
  /** Whether an attempt before may have been carried out: it got no answer, or one that leaves it open. */
  maybeDone?: boolean
}

/** The API refused the call or failed. Subclasses are for what callers usually handle apart; all have `code`. */
export class ApiError extends ReferralsError {
  readonly status: number
  readonly code: ErrorCode
  readonly requestId: string | undefined
  readonly retryAfter: number | undefined
  /** For `INVALID_PAYLOAD`: which fields were wrong. */
  readonly fields: readonly WrongField[]
  /** An earlier attempt of this call got no clear answer, and may have been carried out. */
  readonly maybeDone: boolean

  constructor({ message, status, code, requestId, retryAfter, fields = [], maybeDone = false }: ApiFailure) {
    super(message)
    this.status = status
    this.code = code
    this.requestId = requestId
    this.retryAfter = retryAfter
    this.fields = fields
    this.maybeDone = maybeDone
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
  /** Go on from here: you may get events again that you have. */
  readonly place: string

  constructor(failure: ApiFailure & { next: string }) {
    super(failure)
    this.place = failure.next
  }
}
