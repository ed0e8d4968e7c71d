import { type Calls, calls, shapes } from './api.ts'
import {
  ApiError,
  type ApiFailure,
  AuthFailedError,
  CursorLostError,
  IdempotencyConflictError,
  InvalidPayloadError,
  LeadClosedError,
  NoAnswerError,
  NotFoundError,
  RateLimitedError,
  type WrongField,
} from './errors.ts'
import { readRetryAfter } from './retries.ts'
import { clientPath, type Shape } from './wire.ts'

/** How one attempt ended: `answer` is undefined if none came. */
export type Attempt = { body: unknown } | { error: Error; answer: ApiError | undefined }

const errorClasses: Readonly<Record<string, typeof ApiError>> = {
  INVALID_PAYLOAD: InvalidPayloadError,
  AUTH_FAILED: AuthFailedError,
  NOT_FOUND: NotFoundError,
  LEAD_CLOSED: LeadClosedError,
  IDEMPOTENCY_CONFLICT: IdempotencyConflictError,
  RATE_LIMITED: RateLimitedError,
}

/** @param maybeDone whether an attempt before may have been carried out. */
export async function readAnswer(
  name: keyof Calls,
  response: Response,
  maybeDone: boolean,
): Promise<Attempt> {
  const text = await response.text()
  const body = parse(text)
  if (response.ok && isRecord(body)) return { body }
  const { path, request } = calls[name]
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  // a proxy passed on the beginning of an answer, and took it for the whole
  if (response.ok && isJson)
    return { error: new NoAnswerError(`${path}: the answer was cut off`), answer: undefined }
  const error = toError({ ...failureOf(response, body, request), maybeDone })
  return { error, answer: error }
}

function toError(failure: ApiFailure): ApiError {
  const { code, next } = failure
  if (next !== undefined) return new CursorLostError({ ...failure, next })
  const Known = Object.hasOwn(errorClasses, code) ? errorClasses[code] : undefined
  return new (Known ?? ApiError)(failure)
}

/** What a proxy answers in the API’s place has no code. */
function failureOf(response: Response, body: unknown, request: Shape): Omit<ApiFailure, 'maybeDone'> {
  const error = isRecord(body) && isRecord(body.error) ? body.error : {}
  const { code, message, next } = error
  const fields = wrongFields(error.fields, request)
  return {
    status: response.status,
    code: typeof code === 'string' ? code : 'NO_CODE',
    message:
      typeof message === 'string'
        ? inClientNames(message, fields)
        : `The answer had status ${response.status} and was not the API’s`,
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfter: readRetryAfter(response.headers.get('retry-after')),
    fields,
    next: typeof next === 'string' ? next : undefined,
  }
}

function wrongFields(fields: unknown, request: Shape): WrongField[] {
  if (!Array.isArray(fields)) return []
  return (fields as { field: string; problem: string }[]).map(({ field, problem }) => ({
    field: clientPath(shapes, request, field),
    wireField: field,
    problem,
  }))
}

/** The message says of each field what `fields` says. */
function inClientNames(message: string, fields: readonly WrongField[]): string {
  return fields.reduce(
    (text, { field, wireField, problem }) =>
      text.replace(`${wireField} ${problem}`, () => `${field} ${problem}`),
    message,
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
