// Generated from docs/openapi.json by npm run clients. Do not edit.

/**
 * A name that was added after this client was made: at run time, any string. It is a type of its own, so that a comparison
 * with a known name narrows a union; with `string`, it would not.
 */
export declare enum OtherName {
  any = 'any that is not known',
}

/** The version of the API that this client was made for. */
export const API_VERSION = '1.0.0'

/** The `type` of each webhook. */
export const webhookTypes = [
  'lead_received',
  'client_account_created',
  'credit_scan_completed',
  'contract_signed',
  'escrow_funded',
  'score_update',
  'mortgage_ready',
  'endpoint.ping',
  'endpoint.certification',
] as const

export interface AdvanceClockRequest {
  /**
   * The lead: the `lead_id` that create-lead returned.
   */
  lead_id: number
  /**
   * How many days. Send either `days` or `to`.
   */
  days?: number
  /**
   * Instead of `days`: until the next score update, the next retry of a webhook that failed, or the end of the lead, 30 days after mortgage_ready.
   */
  to?: 'next_score_update' | 'next_retry' | 'end'
}

export interface AdvanceClockResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: ClockAdvance
}

/**
 * One HTTP request to your endpoint.
 */
export interface Attempt {
  /**
   * Counts the requests with this `webhook-id` from 1.
   */
  number: number
  trigger: AttemptTrigger
  /**
   * The URL that was called.
   */
  url: string
  started_at: Timestamp
  /**
   * `null` while the attempt is in progress.
   */
  duration_ms: number | null
  /**
   * The HTTP status of your endpoint; `null` if it did not respond.
   */
  status: number | null
  /**
   * What went wrong, for example `http_error`, `timeout` or `connection_refused`; `null` if nothing did. New ones may be added.
   */
  error_code: string | null
  /**
   * How to fix the failure.
   */
  hint: string | null
  /**
   * The headers that were sent for your signature check; `null` while the attempt is in progress, and if we were interrupted.
   */
  request_headers: SignatureHeaders | null
  /**
   * The headers of the response, up to 2 KB, without those that may hold credentials. `null` if it did not respond, and once it is deleted: after 30 days by default.
   */
  response_headers: StringMap | null
  /**
   * The first 4 KB of the response’s body, as text, if the request has `event_id`. A longer one ends with `… (cut)`.
   */
  response_body?: string | null
}

/**
 * Why it was made. `scheduled`: by the retry schedule. `resend`: you asked for it. `replay`: our staff did. `probe`: to test whether a paused endpoint works again.
 */
export type AttemptTrigger = 'scheduled' | 'resend' | 'replay' | 'probe'

export interface BlockingWebhook {
  /**
   * The event. Its webhook has the same `webhook-id`.
   */
  event_id: string
  /**
   * Counts the lead’s webhooks from 1; it does not count other events.
   */
  sequence: number
}

export interface Certification {
  /**
   * The URL that was certified.
   */
  url: string
  state: 'running' | 'passed' | 'failed'
  requested_at: Timestamp
  /**
   * `null` while it runs.
   */
  finished_at: Timestamp | null
  /**
   * The checks that were made so far, in their order. After one without a response, the others are not made.
   */
  checks: CertificationCheck[]
}

export interface CertificationCheck {
  /**
   * Which check it is.
   */
  check: 'valid' | 'repeated' | 'unknown_type' | 'forged_signature' | 'old_timestamp' | 'changed_body'
  /**
   * `not_judged`: the response says nothing about the check, such as a 404, or there was none. A certification passes when all checks have passed.
   */
  result: 'passed' | 'failed' | 'not_judged'
  /**
   * For people: what your endpoint responded.
   */
  received: string
  /**
   * How long the response took.
   */
  duration_ms: number
  /**
   * What to change; `null` if the check passed.
   */
  hint: string | null
}

export interface CertifyEndpointRequest {
  /**
   * In a sandbox: the URL takes effect even if checks fail; `false` by default.
   */
  accept_failures?: boolean
}

export interface CertifyEndpointResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: Endpoint
}

export interface Clock {
  /**
   * The lead: its `lead_id` in requests.
   */
  lead_id: number
  /**
   * The lead’s time.
   */
  now: Timestamp
  status: LeadStatus
  /**
   * What is due next on the lead’s clock; `null` if nothing is.
   */
  next: Due | null
  /**
   * How far the clock was advanced; 0 if it never was.
   */
  offset_seconds: number
  /**
   * Whether advance-clock or a scenario moves it right now.
   */
  moving: boolean
}

export interface ClockAdvance {
  /**
   * The lead: its `lead_id` in requests.
   */
  lead_id: number
  /**
   * The lead’s time.
   */
  now: Timestamp
  status: LeadStatus
  /**
   * What is due next on the lead’s clock; `null` if nothing is.
   */
  next: Due | null
  /**
   * What happened on the way, in the lead’s time.
   */
  happened: Happened[]
  /**
   * The clock stopped early. `endpoint_would_pause`: in production, your endpoint would be paused now; repair it, or advance again to go on. `twenty_years_ahead`: it can go no further.
   */
  stopped?: 'endpoint_would_pause' | 'twenty_years_ahead'
}

export interface CloseLeadRequest {
  /**
   * The lead: the `lead_id` that create-lead returned.
   */
  lead_id: number
  /**
   * Why. `withdrew`: the borrower withdrew. `unreachable`: the borrower cannot be reached. `ineligible`: the borrower does not qualify for the service. `financed_elsewhere`: the borrower got a loan elsewhere. `duplicate`: the borrower has another lead. `mistake`: the lead was created by mistake. `other`: another reason.
   */
  reason: 'withdrew' | 'unreachable' | 'ineligible' | 'financed_elsewhere' | 'duplicate' | 'mistake' | 'other'
}

export interface CloseLeadResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: Closing
}

/**
 * Why a lead is closed. `withdrew`: the borrower withdrew. `unreachable`: the borrower cannot be reached. `ineligible`: the borrower does not qualify for the service. `financed_elsewhere`: the borrower got a loan elsewhere. `duplicate`: the borrower has another lead. `mistake`: the lead was created by mistake. `other`: another reason. `mortgage_ready`: 30 days have passed since mortgage_ready. `canceled`: an operator canceled its workflow. `erased`: its personal data was erased. New ones may be added.
 */
export type CloseReason =
  | (
      | 'withdrew'
      | 'unreachable'
      | 'ineligible'
      | 'financed_elsewhere'
      | 'duplicate'
      | 'mistake'
      | 'other'
      | 'mortgage_ready'
      | 'canceled'
      | 'erased'
    )
  | (string & {})

export interface Closing {
  /**
   * The lead: its `lead_id` in requests.
   */
  lead_id: number
  /**
   * Why it was closed first.
   */
  reason: CloseReason
  /**
   * When it was closed.
   */
  closed_at: Timestamp
}

export interface CreateLeadRequest {
  /**
   * Borrower’s first name; trimmed.
   */
  first_name: string
  /**
   * Borrower’s last name; trimmed.
   */
  last_name: string
  /**
   * Borrower’s email address; trimmed.
   */
  email: string
  /**
   * Digits, hyphens, spaces and `+`, with at least one digit; trimmed.
   */
  phone: string
  /**
   * Your own identifier for the borrower, which we recommend: each webhook includes it, as it was when the event was recorded. `null`, the empty string and blanks count as absent.
   */
  partner_lead_id?: string | null
  /**
   * The borrower’s FICO range when you referred them, `<low>-<high>` between 300 and 850: `500-549`, `550-579`, `580-619`, `620-659`. `null`, the empty string and blanks count as absent.
   */
  fico_range?: string | null
  /**
   * The loan officer who handles the borrower. `null`, the empty string and blanks count as absent.
   */
  loan_officer_id?: string | null
  /**
   * Why the application was declined. Returned by export-lead only. `null`, the empty string and blanks count as absent.
   */
  notes?: string | null
}

export interface CreateLeadResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  /**
   * For people. Do not parse it: it may change.
   */
  message: string
  /**
   * The new lead: store it with your application.
   */
  lead_id: number
  /**
   * As you sent it; absent if you did not.
   */
  partner_lead_id?: string
  /**
   * Names of fields in your request that create-lead does not know, at most 20: their values are not stored. Absent if there are none.
   *
   * @maxItems 20
   */
  ignored_fields?: string[]
  /**
   * Your newest open lead with the same `partner_lead_id` or email address: you may have referred this borrower twice. The new lead was created nevertheless; to keep only one, close the other with close-lead. Absent if there is none, or if both requests were concurrent.
   */
  duplicate_of?: number
}

/**
 * One event on its way to your endpoint.
 */
export interface Delivery {
  /**
   * The event. Its webhook has the same `webhook-id`.
   */
  event_id: string
  event_name: EventName
  /**
   * The lead: its `lead_id` in requests.
   */
  lead_id: number
  /**
   * Whether the lead is erased: the webhook cannot be resent.
   */
  lead_erased: boolean
  /**
   * Counts the lead’s webhooks from 1; it does not count other events.
   */
  sequence: number
  state: DeliveryState
  created_at: Timestamp
  /**
   * `null` if it is held, settled, being attempted now, or waits for another one.
   */
  next_attempt_at: Timestamp | null
  /**
   * The lead’s first open webhook, if this one is sent after it.
   */
  waits_for: BlockingWebhook | null
  settled_at: Timestamp | null
  /**
   * Why it cannot be sent now, if the error is on our side: it is sent once we have fixed that.
   */
  fault: string | null
  /**
   * The body of the webhook: the bytes that every attempt signs and sends.
   */
  body: string
  /**
   * The latest 20, oldest first.
   */
  attempts: Attempt[]
}

/**
 * `pending`: to be sent. `held`: pending, while your endpoint is paused. `delivered`: your endpoint accepted it. `given_up`: the retry schedule is used up while your endpoint accepted other webhooks; the lead’s next webhook is sent, and resend-webhook sends this one again. `canceled`: our staff canceled it, or the lead was erased.
 */
export type DeliveryState = 'pending' | 'delivered' | 'given_up' | 'canceled' | 'held'

export interface Due {
  /**
   * `retry`: of the first open webhook. `end`: the lead is closed.
   */
  what: 'score_update' | 'retry' | 'end'
  at: Timestamp
}

/**
 * Where your webhooks are sent.
 */
export interface Endpoint {
  /**
   * `null` if none is registered.
   */
  url: string | null
  health: EndpointHealth
  /**
   * For people.
   */
  reason: string
  /**
   * Since when `health` has had this value.
   */
  since: Timestamp
  /**
   * Webhooks that are neither delivered, given up nor canceled.
   */
  open_deliveries: number
  /**
   * When your endpoint last accepted a webhook.
   */
  last_success_at: Timestamp | null
  /**
   * The latest attempt that failed. It and `last_success_at` come from those of your latest 1,000 attempts that called the current URL; `null` if there is none.
   */
  last_error: EndpointError | null
  /**
   * When the next open webhook is due; `null` if no webhook waits, or while your endpoint is paused.
   */
  next_attempt_at: Timestamp | null
  /**
   * When the service tries the endpoint again, if it paused it; otherwise `null`.
   */
  next_probe_at: Timestamp | null
  /**
   * The URL that replaces `url` once it is certified; `null` if there is none.
   */
  candidate: EndpointCandidate | null
  /**
   * The latest certification; `null` if none was requested, or its URL was replaced.
   */
  certification: Certification | null
}

export interface EndpointCandidate {
  /**
   * The URL that you set.
   */
  url: string
  requested_at: Timestamp
}

export interface EndpointCertification {
  type: 'endpoint.certification'
  /**
   * ISO 8601.
   */
  timestamp: string
  data: EndpointCertificationData
}

export interface EndpointCertificationData {
  /**
   * Your account.
   */
  partner_id: number
  environment: Environment
}

export interface EndpointError {
  at: Timestamp
  /**
   * The HTTP status of your endpoint; `null` if it did not respond.
   */
  status: number | null
  error_code: string
  /**
   * What to do about it.
   */
  hint: string | null
}

/**
 * `active`: it works. `failing`: webhooks are sent, and every recent attempt failed. `paused`: webhooks are held.
 */
export type EndpointHealth = 'active' | 'failing' | 'paused'

export interface EndpointPing {
  type: 'endpoint.ping'
  /**
   * ISO 8601.
   */
  timestamp: string
  data: EndpointPingData
}

export interface EndpointPingData {
  /**
   * Your account.
   */
  partner_id: number
  environment: Environment
}

/**
 * The endpoint with its new secret.
 */
export interface EndpointWithSecret {
  /**
   * `null` if none is registered.
   */
  url: string | null
  health: EndpointHealth
  /**
   * For people.
   */
  reason: string
  /**
   * Since when `health` has had this value.
   */
  since: Timestamp
  /**
   * Webhooks that are neither delivered, given up nor canceled.
   */
  open_deliveries: number
  /**
   * When your endpoint last accepted a webhook.
   */
  last_success_at: Timestamp | null
  /**
   * The latest attempt that failed. It and `last_success_at` come from those of your latest 1,000 attempts that called the current URL; `null` if there is none.
   */
  last_error: EndpointError | null
  /**
   * When the next open webhook is due; `null` if no webhook waits, or while your endpoint is paused.
   */
  next_attempt_at: Timestamp | null
  /**
   * When the service tries the endpoint again, if it paused it; otherwise `null`.
   */
  next_probe_at: Timestamp | null
  /**
   * The URL that replaces `url` once it is certified; `null` if there is none.
   */
  candidate: EndpointCandidate | null
  /**
   * The latest certification; `null` if none was requested, or its URL was replaced.
   */
  certification: Certification | null
  /**
   * The new signing secret. Store it now: it is not shown again.
   */
  secret: string
}

export type Environment = 'sandbox' | 'production'

export interface EraseLeadRequest {
  /**
   * The lead: the `lead_id` that create-lead returned.
   */
  lead_id: number
  /**
   * Why. `borrower_request`: the borrower asked for it. `no_consent`: the borrower does not agree to the referral. `not_needed`: the data is no longer needed. `legal_obligation`: a law or an authority requires it. `mistake`: the lead was created by mistake, or with wrong data. `other`: another reason.
   */
  reason?:
    ('borrower_request' | 'no_consent' | 'not_needed' | 'legal_obligation' | 'mistake' | 'other') | null
}

export interface EraseLeadResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: Erasure
}

export interface Erasure {
  /**
   * The lead: its `lead_id` in requests.
   */
  lead_id: number
  erased_at: Timestamp
}

/**
 * Which error it is. New ones may be added: decide by the HTTP status then.
 *
 * - `INVALID_PAYLOAD` (400)
 * - `AUTH_FAILED` (401)
 * - `HTTPS_REQUIRED` (403)
 * - `NOT_FOUND` (404)
 * - `METHOD_NOT_ALLOWED` (405)
 * - `NO_ENDPOINT` (409)
 * - `NO_CANDIDATE` (409)
 * - `PAUSED_BY_STAFF` (409)
 * - `SECRET_REPLACED` (409)
 * - `LEAD_CLOSED` (409)
 * - `LEAD_HELD` (409)
 * - `LEAD_FULL` (409)
 * - `CLOCK_MOVING` (409)
 * - `PAYLOAD_TOO_LARGE` (413)
 * - `UNSUPPORTED_MEDIA_TYPE` (415)
 * - `IDEMPOTENCY_CONFLICT` (422)
 * - `RATE_LIMITED` (429)
 * - `INTERNAL_ERROR` (500)
 * - `SERVICE_UNAVAILABLE` (503)
 */
export type ErrorCode =
  | (
      | 'INVALID_PAYLOAD'
      | 'AUTH_FAILED'
      | 'HTTPS_REQUIRED'
      | 'NOT_FOUND'
      | 'METHOD_NOT_ALLOWED'
      | 'NO_ENDPOINT'
      | 'NO_CANDIDATE'
      | 'PAUSED_BY_STAFF'
      | 'SECRET_REPLACED'
      | 'LEAD_CLOSED'
      | 'LEAD_HELD'
      | 'LEAD_FULL'
      | 'CLOCK_MOVING'
      | 'PAYLOAD_TOO_LARGE'
      | 'UNSUPPORTED_MEDIA_TYPE'
      | 'IDEMPOTENCY_CONFLICT'
      | 'RATE_LIMITED'
      | 'INTERNAL_ERROR'
      | 'SERVICE_UNAVAILABLE'
    )
  | (string & {})

export type Event = LeadReceivedEvent | ScoreUpdateEvent | MilestoneEvent | OtherEvent

/**
 * A milestone. New ones may be added.
 *
 * - `lead_received`: lead was created
 * - `client_account_created`: borrower logged in and completed onboarding
 * - `credit_scan_completed`: borrower completed credit scan
 * - `client_engaged_in_chat`: borrower sent messages in chat
 * - `contract_signed`: borrower signed the service contract
 * - `escrow_funded`: borrower funded the escrow account
 * - `score_update`: credit score update including per-bureau gains
 * - `mortgage_ready`: borrower meets credit criteria and is ready to return to the lender
 */
export type EventName =
  | (
      | 'lead_received'
      | 'client_account_created'
      | 'credit_scan_completed'
      | 'client_engaged_in_chat'
      | 'contract_signed'
      | 'escrow_funded'
      | 'score_update'
      | 'mortgage_ready'
    )
  | (string & {})

export interface EventToSimulate {
  event_name: SimulatedEventName
  /**
   * For `score_update` only. Without it, the sandbox makes up gains.
   */
  event_payload?: ScoreGains | null
}

export interface ExportLeadRequest {
  /**
   * The lead: the `lead_id` that create-lead returned.
   */
  lead_id: number
}

export interface ExportLeadResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: ExportedLead
}

export interface ExportedLead {
  /**
   * What each other part contains.
   */
  about: StringMap
  exported_at: Timestamp
  [k: string]: unknown
}

/**
 * The body of every error response.
 */
export interface Failure {
  success: false
  error: {
    code: ErrorCode
    /**
     * For people. Do not parse it: it may change.
     */
    message: string
    /**
     * With `INVALID_PAYLOAD` only: the wrong fields. Empty if, for example, the body is not JSON.
     */
    fields?: FieldProblem[]
    /**
     * From list-events only, if it cannot continue from `after`: the cursor to send instead.
     */
    next?: string
    /**
     * The lead that a 409 or a 422 is about.
     */
    lead_id?: number
  }
}

export type FeedEvent =
  LeadReceivedFeedEvent | ScoreUpdateFeedEvent | MilestoneFeedEvent | LeadClosedFeedEvent | OtherFeedEvent

/**
 * A field of the request that is wrong.
 */
export interface FieldProblem {
  /**
   * Its path as you sent it, such as `event_payload.experian_gain`, or the name of a header.
   */
  field: string
  /**
   * For people: what the field must be. It repeats nothing that you sent except a character that is not allowed.
   */
  problem: string
}

export interface GetClockRequest {
  /**
   * The lead: the `lead_id` that create-lead returned.
   */
  lead_id: number
}

export interface GetClockResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: Clock
}

/**
 * All fields are optional.
 */
export interface GetDeliveriesRequest {
  /**
   * Only this webhook, with the bodies that your endpoint answered.
   */
  event_id?: string
  /**
   * Only this lead’s deliveries; by default those of all leads.
   */
  lead_id?: number
  /**
   * `pending` includes `held`: open deliveries to a paused endpoint.
   *
   * @minItems 1
   * @maxItems 5
   */
  states?: DeliveryState[]
  /**
   * The `next` of the previous response: only older deliveries. `null` is the first page.
   */
  after?: string | null
  /**
   * Maximum number of results; 50 by default.
   */
  limit?: number
}

export interface GetDeliveriesResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  /**
   * Newest first.
   */
  data: Delivery[]
  /**
   * The next page’s `after`; `null` on the last page.
   */
  next: string | null
}

/**
 * Empty.
 */
export interface GetEndpointRequest {}

export interface GetEndpointResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: Endpoint
}

export interface GetEventsRequest {
  /**
   * The lead: the `lead_id` that create-lead returned.
   */
  lead_id: number
}

export interface GetEventsResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  /**
   * The complete history, oldest first.
   */
  data: Event[]
}

export interface GetLeadRequest {
  /**
   * The lead: the `lead_id` that create-lead returned.
   */
  lead_id: number
}

export interface GetLeadResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: Lead
  closing?: LeadClosing
}

/**
 * Empty.
 */
export interface GetSinkRequest {}

export interface GetSinkResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: Sink
}

export type Happened = HappenedEvent | HappenedWebhook | HappenedEnd

/**
 * The lead was closed.
 */
export interface HappenedEnd {
  what: 'end'
  at: Timestamp
}

/**
 * An event was recorded.
 */
export interface HappenedEvent {
  what: 'event'
  at: Timestamp
  /**
   * The event. Its webhook has the same `webhook-id`.
   */
  event_id: string
  event_name: EventName
  /**
   * Its place among the lead’s webhooks; `null` for an event that is not sent.
   */
  sequence: number | null
}

/**
 * Your endpoint was called.
 */
export interface HappenedWebhook {
  what: 'webhook'
  at: Timestamp
  /**
   * The event. Its webhook has the same `webhook-id`.
   */
  event_id: string
  event_name: EventName
  /**
   * Counts the lead’s webhooks from 1; it does not count other events.
   */
  sequence: number
  /**
   * Counts the requests with this `webhook-id` from 1.
   */
  attempt: number
  /**
   * The HTTP status of your endpoint; `null` if it did not respond.
   */
  status: number | null
  /**
   * What went wrong, for example `http_error`, `timeout` or `connection_refused`; `null` if nothing did. New ones may be added.
   */
  error_code: string | null
}

/**
 * The lead’s own fields, and its metadata beside them. Metadata values are strings.
 */
export interface Lead {
  /**
   * The lead: its `lead_id` in requests.
   */
  id: number
  /**
   * The same as `id`.
   */
  lead_id: number
  /**
   * Your account.
   */
  partner_id: number
  /**
   * Borrower’s first name.
   */
  first_name: string
  /**
   * Borrower’s last name.
   */
  last_name: string
  /**
   * Borrower’s email address.
   */
  email: string
  /**
   * Borrower’s phone number, as you sent it.
   */
  phone: string
  status: LeadStatus
  /**
   * Your own identifier for the borrower, which we recommend: each webhook includes it, as it was when the event was recorded.
   */
  partner_lead_id?: string
  /**
   * The borrower’s FICO range when you referred them, `<low>-<high>` between 300 and 850: `500-549`, `550-579`, `580-619`, `620-659`.
   */
  fico_range?: string
  /**
   * The loan officer who handles the borrower.
   */
  loan_officer_id?: string
  created_at: Timestamp
  updated_at: Timestamp
  /**
   * Type of loan product, as you sent it.
   */
  loan_product?: string
  /**
   * Two-letter state code of the property.
   */
  property_state?: string
  [k: string]: unknown
}

export interface LeadClosedFeedEvent {
  /**
   * The event. Its webhook has the same `webhook-id`.
   */
  event_id: string
  /**
   * What happened.
   */
  event_name: 'lead.closed'
  event_payload: LeadClosedPayload
  /**
   * When it happened.
   */
  created_at: Timestamp
  /**
   * The lead: its `lead_id` in requests.
   */
  lead_id: number
  /**
   * Your own identifier for the borrower; `null` if you sent none.
   */
  partner_lead_id: string | null
  /**
   * Its place among the lead’s webhooks; `null` for an event that is not sent.
   */
  sequence: number | null
  /**
   * Send it as `after` to continue after this event, in the middle of a page.
   */
  cursor: string
  /**
   * The body of its webhook, byte for byte, if the request has `webhooks`; `null` for an event that is not sent.
   */
  webhook_body?: string | null
}

/**
 * Why it was closed.
 */
export interface LeadClosedPayload {
  reason: CloseReason
}

/**
 * Present if the lead is closed.
 */
export interface LeadClosing {
  /**
   * When the lead was closed: 30 days after `mortgage_ready`, by your close-lead, or by our staff, for example because the borrower dropped out. From then on no milestones are recorded. Closing is not a milestone: list-events has it, get-events does not.
   */
  at: Timestamp
  reason: CloseReason
}

export interface LeadReceivedEvent {
  /**
   * The milestone.
   */
  event_name: 'lead_received'
  event_payload: LeadReceivedPayload | null
  /**
   * When it happened.
   */
  created_at: Timestamp
}

export interface LeadReceivedFeedEvent {
  /**
   * The event. Its webhook has the same `webhook-id`.
   */
  event_id: string
  /**
   * The milestone.
   */
  event_name: 'lead_received'
  event_payload: LeadReceivedPayload | null
  /**
   * When it happened.
   */
  created_at: Timestamp
  /**
   * The lead: its `lead_id` in requests.
   */
  lead_id: number
  /**
   * Your own identifier for the borrower; `null` if you sent none.
   */
  partner_lead_id: string | null
  /**
   * Its place among the lead’s webhooks; `null` for an event that is not sent.
   */
  sequence: number | null
  /**
   * Send it as `after` to continue after this event, in the middle of a page.
   */
  cursor: string
  /**
   * The body of its webhook, byte for byte, if the request has `webhooks`; `null` for an event that is not sent.
   */
  webhook_body?: string | null
}

/**
 * Your own identifier, as you sent it with create-lead.
 */
export interface LeadReceivedPayload {
  /**
   * Your own identifier for the borrower, which we recommend: each webhook includes it, as it was when the event was recorded.
   */
  partner_lead_id: string
}

export interface LeadReceivedWebhook {
  /**
   * The milestone.
   */
  type: 'lead_received'
  /**
   * ISO 8601.
   */
  timestamp: string
  data: LeadReceivedWebhookData
}

export interface LeadReceivedWebhookData {
  /**
   * The same as the header `webhook-id`.
   */
  event_id: string
  /**
   * The milestone.
   */
  event_name: 'lead_received'
  event_payload: LeadReceivedPayload | null
  /**
   * When it happened.
   */
  created_at: Timestamp
  /**
   * The lead: its `lead_id` in requests.
   */
  lead_id: number
  /**
   * As it was when the event was recorded.
   */
  partner_lead_id: string | null
  /**
   * Counts the lead’s webhooks from 1; it does not count other events.
   */
  sequence: number
  environment: Environment
}

/**
 * The furthest milestone reached. New ones may be added.
 */
export type LeadStatus =
  | (
      | 'lead_received'
      | 'client_account_created'
      | 'credit_scan_completed'
      | 'contract_signed'
      | 'escrow_funded'
      | 'score_update'
      | 'mortgage_ready'
    )
  | (string & {})

/**
 * A lead without personal data.
 */
export interface LeadSummary {
  /**
   * The lead: its `lead_id` in requests.
   */
  lead_id: number
  /**
   * Your own identifier for the borrower; `null` if you sent none.
   */
  partner_lead_id: string | null
  status: LeadStatus
  /**
   * Whether the lead is closed: no more milestones are recorded.
   */
  closed: boolean
  /**
   * When the lead was closed: 30 days after `mortgage_ready`, by your close-lead, or by our staff, for example because the borrower dropped out. From then on no milestones are recorded. Closing is not a milestone: list-events has it, get-events does not. `null` while the lead is open.
   */
  closed_at: Timestamp | null
  /**
   * Whether its webhooks are sent: `failing` if the first open one fails, `held` while your endpoint is paused.
   */
  delivery: 'ok' | 'failing' | 'held'
  /**
   * How many of its webhooks are pending or held.
   */
  open_deliveries: number
  created_at: Timestamp
  updated_at: Timestamp
}

/**
 * All fields are optional.
 */
export interface ListEventsRequest {
  /**
   * The `next` of the previous response; without it or with `null`, from the first event on. `now` skips all past events.
   */
  after?: string | null
  /**
   * Maximum number of results; 50 by default.
   */
  limit?: number
  /**
   * If there are no events yet, for how many seconds to wait for some; 0 by default. Two requests of a key can wait at a time.
   */
  wait?: number
  /**
   * `true`: each event has `webhook_body`.
   */
  webhooks?: boolean
}

export interface ListEventsResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  /**
   * In commit order; those of one lead in the order of its history.
   */
  data: FeedEvent[]
  /**
   * Send it as `after` in the next request.
   */
  next: string
  /**
   * Whether there are more events now: ask again at once.
   */
  has_more: boolean
}

/**
 * All fields are optional.
 */
export interface ListLeadsRequest {
  /**
   * Maximum number of results; 50 by default.
   */
  limit?: number
  /**
   * The `next` of the previous response: only older leads. `null` is the first page.
   */
  after?: number | null
  /**
   * Only leads with this status.
   */
  status?:
    | 'lead_received'
    | 'client_account_created'
    | 'credit_scan_completed'
    | 'contract_signed'
    | 'escrow_funded'
    | 'score_update'
    | 'mortgage_ready'
  /**
   * Only leads with this identifier of yours.
   */
  partner_lead_id?: string
  /**
   * Only leads whose identifier of yours begins with this.
   */
  partner_lead_id_prefix?: string
  /**
   * `true`: only closed leads. `false`: only open ones.
   */
  closed?: boolean
  /**
   * Only leads whose webhooks fail, or are held because your endpoint is paused.
   */
  delivery?: 'failing' | 'held'
}

export interface ListLeadsResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  /**
   * Newest first.
   */
  data: LeadSummary[]
  /**
   * The next page’s `after`; `null` on the last page.
   */
  next: number | null
}

export interface ListScenariosResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: Scenario[]
}

export interface MilestoneEvent {
  event_name: MilestoneEventName
  /**
   * These milestones have none.
   */
  event_payload: null
  /**
   * When it happened.
   */
  created_at: Timestamp
}

/**
 * A milestone without a payload.
 */
export type MilestoneEventName =
  | 'client_account_created'
  | 'credit_scan_completed'
  | 'client_engaged_in_chat'
  | 'contract_signed'
  | 'escrow_funded'
  | 'mortgage_ready'

export interface MilestoneFeedEvent {
  /**
   * The event. Its webhook has the same `webhook-id`.
   */
  event_id: string
  event_name: MilestoneEventName
  /**
   * These milestones have none.
   */
  event_payload: null
  /**
   * When it happened.
   */
  created_at: Timestamp
  /**
   * The lead: its `lead_id` in requests.
   */
  lead_id: number
  /**
   * Your own identifier for the borrower; `null` if you sent none.
   */
  partner_lead_id: string | null
  /**
   * Its place among the lead’s webhooks; `null` for an event that is not sent.
   */
  sequence: number | null
  /**
   * Send it as `after` to continue after this event, in the middle of a page.
   */
  cursor: string
  /**
   * The body of its webhook, byte for byte, if the request has `webhooks`; `null` for an event that is not sent.
   */
  webhook_body?: string | null
}

export interface MilestoneWebhook {
  type: MilestoneWebhookType
  /**
   * ISO 8601.
   */
  timestamp: string
  data: MilestoneWebhookData
}

export interface MilestoneWebhookData {
  /**
   * The same as the header `webhook-id`.
   */
  event_id: string
  event_name: MilestoneWebhookType
  /**
   * These milestones have none.
   */
  event_payload: null
  /**
   * When it happened.
   */
  created_at: Timestamp
  /**
   * The lead: its `lead_id` in requests.
   */
  lead_id: number
  /**
   * As it was when the event was recorded.
   */
  partner_lead_id: string | null
  /**
   * Counts the lead’s webhooks from 1; it does not count other events.
   */
  sequence: number
  environment: Environment
}

/**
 * A milestone without a payload.
 */
export type MilestoneWebhookType =
  'client_account_created' | 'credit_scan_completed' | 'contract_signed' | 'escrow_funded' | 'mortgage_ready'

export interface OtherEvent {
  /**
   * A name that was added later.
   */
  event_name: OtherName
  event_payload: {
    [k: string]: unknown
  } | null
  /**
   * When it happened.
   */
  created_at: Timestamp
}

export interface OtherFeedEvent {
  /**
   * The event. Its webhook has the same `webhook-id`.
   */
  event_id: string
  /**
   * A name that was added later.
   */
  event_name: OtherName
  event_payload: {
    [k: string]: unknown
  } | null
  /**
   * When it happened.
   */
  created_at: Timestamp
  /**
   * The lead: its `lead_id` in requests.
   */
  lead_id: number
  /**
   * Your own identifier for the borrower; `null` if you sent none.
   */
  partner_lead_id: string | null
  /**
   * Its place among the lead’s webhooks; `null` for an event that is not sent.
   */
  sequence: number | null
  /**
   * Send it as `after` to continue after this event, in the middle of a page.
   */
  cursor: string
  /**
   * The body of its webhook, byte for byte, if the request has `webhooks`; `null` for an event that is not sent.
   */
  webhook_body?: string | null
}

export interface OtherWebhook {
  /**
   * A name that was added later.
   */
  type: OtherName
  /**
   * ISO 8601.
   */
  timestamp: string
  data: {
    [k: string]: unknown
  }
}

/**
 * Empty.
 */
export interface PauseEndpointRequest {}

export interface PauseEndpointResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: Endpoint
}

export interface PingResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  /**
   * For people. Do not parse it: it may change.
   */
  message: string
  environment: Environment
  time: Timestamp
}

export interface ResendWebhookRequest {
  /**
   * As get-deliveries shows it; the `webhook-id` of the webhook.
   */
  event_id: string
}

export interface ResendWebhookResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  /**
   * For people. Do not parse it: it may change.
   */
  message: string
}

/**
 * Empty.
 */
export interface ResumeEndpointRequest {}

export interface ResumeEndpointResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: Endpoint
}

export interface RotateEndpointSecretRequest {
  /**
   * For how many hours the previous secret also signs; 24 by default.
   */
  overlap_hours?: number
}

export interface RotateEndpointSecretResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: EndpointWithSecret
}

export interface RunScenarioRequest {
  scenario: ScenarioName
  /**
   * By default a new lead.
   */
  lead_id?: number
}

export interface RunScenarioResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: ScenarioRun
}

export interface Scenario {
  scenario: ScenarioName
  /**
   * For people.
   */
  about: string
}

export type ScenarioName =
  | 'mortgage_ready_in_a_year'
  | 'ready_after_two_updates'
  | 'stalled_before_escrow'
  | 'scores_go_down'
  | 'chatty_borrower'
  | 'dropped_out'

export interface ScenarioRun {
  /**
   * The lead: its `lead_id` in requests.
   */
  lead_id: number
  /**
   * The lead’s time.
   */
  now: Timestamp
  status: LeadStatus
  /**
   * What is due next on the lead’s clock; `null` if nothing is.
   */
  next: Due | null
  scenario: ScenarioName
  /**
   * `running`: it continues on its own. `stopped`: your endpoint has refused webhooks for so long that production would pause it, the lead’s clock is 20 years ahead, or the lead has 1,000 events. `closed`: the lead was closed on the way, or our staff ended the scenario.
   */
  state: 'done' | 'running' | 'stopped' | 'closed'
}

/**
 * The points that each bureau’s score has gained since the `score_update` before, or, the first time, since the journey began; negative if it fell.
 */
export interface ScoreGains {
  /**
   * The change of the Experian score in points; negative if it fell.
   */
  experian_gain: number
  /**
   * The change of the Equifax score in points; negative if it fell.
   */
  equifax_gain: number
  /**
   * The change of the TransUnion score in points; negative if it fell.
   */
  transunion_gain: number
  /**
   * In how many days the borrower will probably be mortgage-ready, as a range: `<min>-<max> days`.
   */
  estimated_time_remaining: string
}

export interface ScoreUpdateEvent {
  /**
   * The milestone.
   */
  event_name: 'score_update'
  event_payload: ScoreGains
  /**
   * When it happened.
   */
  created_at: Timestamp
}

export interface ScoreUpdateFeedEvent {
  /**
   * The event. Its webhook has the same `webhook-id`.
   */
  event_id: string
  /**
   * The milestone.
   */
  event_name: 'score_update'
  event_payload: ScoreGains
  /**
   * When it happened.
   */
  created_at: Timestamp
  /**
   * The lead: its `lead_id` in requests.
   */
  lead_id: number
  /**
   * Your own identifier for the borrower; `null` if you sent none.
   */
  partner_lead_id: string | null
  /**
   * Its place among the lead’s webhooks; `null` for an event that is not sent.
   */
  sequence: number | null
  /**
   * Send it as `after` to continue after this event, in the middle of a page.
   */
  cursor: string
  /**
   * The body of its webhook, byte for byte, if the request has `webhooks`; `null` for an event that is not sent.
   */
  webhook_body?: string | null
}

export interface ScoreUpdateWebhook {
  /**
   * The milestone.
   */
  type: 'score_update'
  /**
   * ISO 8601.
   */
  timestamp: string
  data: ScoreUpdateWebhookData
}

export interface ScoreUpdateWebhookData {
  /**
   * The same as the header `webhook-id`.
   */
  event_id: string
  /**
   * The milestone.
   */
  event_name: 'score_update'
  event_payload: ScoreGains
  /**
   * When it happened.
   */
  created_at: Timestamp
  /**
   * The lead: its `lead_id` in requests.
   */
  lead_id: number
  /**
   * As it was when the event was recorded.
   */
  partner_lead_id: string | null
  /**
   * Counts the lead’s webhooks from 1; it does not count other events.
   */
  sequence: number
  environment: Environment
}

export interface SetEndpointRequest {
  /**
   * In production `https`, on port 443 or 8443, at a public address. No user name, password or fragment.
   */
  url: string
}

export interface SetEndpointResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: EndpointWithSecret
}

export interface SetSinkRequest {
  /**
   * The HTTP status that it answers with; 200 by default.
   */
  status?: number
  /**
   * How many webhooks get this answer before it is 200 again. `null`, the default: all.
   */
  times?: number | null
  /**
   * How long it waits before it answers; 0 by default. Our time limit for an attempt is 15 seconds.
   */
  delay_ms?: number
}

export interface SetSinkResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  /**
   * For people. Do not parse it: it may change.
   */
  message: string
}

export interface SignatureHeaders {
  /**
   * The event. Its webhook has the same `webhook-id`.
   */
  'webhook-id': string
  /**
   * Seconds since 1970.
   */
  'webhook-timestamp': string
  /**
   * One `v1,…` for each secret that was live.
   */
  'webhook-signature': string
}

export interface SimulateEventRequest {
  /**
   * The lead: the `lead_id` that create-lead returned.
   */
  lead_id: number
  event_name?: SimulatedEventName
  /**
   * For `score_update` only. Without it, the sandbox makes up gains.
   */
  event_payload?: ScoreGains | null
  /**
   * Several milestones, recorded in this order.
   *
   * @minItems 1
   * @maxItems 50
   */
  events?: EventToSimulate[]
}

export interface SimulateEventResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: Simulation
}

export interface SimulatedEvent {
  event_name: EventName
  event_payload: ScoreGains | LeadReceivedPayload | LeadClosedPayload | null
  /**
   * When it happened.
   */
  created_at: Timestamp
  /**
   * `false` if the lead has this event already; the other fields are that event’s.
   */
  recorded: boolean
  /**
   * The event. Its webhook has the same `webhook-id`.
   */
  event_id: string
  /**
   * Its place among the lead’s webhooks; `null` for an event that is not sent.
   */
  sequence: number | null
}

export type SimulatedEventName =
  | 'client_account_created'
  | 'credit_scan_completed'
  | 'client_engaged_in_chat'
  | 'contract_signed'
  | 'escrow_funded'
  | 'score_update'
  | 'mortgage_ready'

export interface Simulation {
  /**
   * The lead: its `lead_id` in requests.
   */
  lead_id: number
  /**
   * The lead’s time.
   */
  now: Timestamp
  status: LeadStatus
  /**
   * What is due next on the lead’s clock; `null` if nothing is.
   */
  next: Due | null
  /**
   * In the order of the request.
   */
  events: SimulatedEvent[]
}

export interface Sink {
  /**
   * Where your webhooks go, until you set an endpoint of your own.
   */
  url: string
  /**
   * The HTTP status that it answers with.
   */
  status: number
  /**
   * For how many more webhooks it answers `status`; `null` for all.
   */
  times: number | null
  /**
   * How long it waits before it answers.
   */
  delay_ms: number
  /**
   * The last 100, newest first.
   */
  webhooks: SinkWebhook[]
}

export interface SinkWebhook {
  /**
   * The header `webhook-id`: the event’s id.
   */
  webhook_id: string
  received_at: Timestamp
  /**
   * Whether its signature is valid.
   */
  verified: boolean
  /**
   * Why it is not valid.
   */
  problem: string | null
  /**
   * What the sink answered.
   */
  status: number
  headers: StringMap
  /**
   * The bytes that were signed.
   */
  body: string
  /**
   * The body, parsed; `null` if its signature is not valid.
   */
  event: {
    [k: string]: unknown
  }
}

/**
 * Texts by their names.
 */
export interface StringMap {
  [k: string]: string
}

/**
 * Empty.
 */
export interface TestEndpointRequest {}

export interface TestEndpointResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: TestRequest
}

export interface TestRequest {
  /**
   * Whether your endpoint responded with a 2xx status.
   */
  accepted: boolean
  /**
   * The header `webhook-id`.
   */
  webhook_id: string
  /**
   * The HTTP status of your endpoint; `null` if it did not respond.
   */
  status: number | null
  /**
   * How long the response took.
   */
  duration_ms: number
  /**
   * What went wrong, for example `http_error`, `timeout` or `connection_refused`; `null` if nothing did. New ones may be added.
   */
  error_code: string | null
  /**
   * What to do about a failure.
   */
  hint: string | null
}

/**
 * `YYYY-MM-DD HH:MM:SS` in UTC, without a zone: append `Z` before you parse it.
 */
export type Timestamp = string

export interface UpdatePartnerInfoRequest {
  /**
   * The lead: the `lead_id` that create-lead returned.
   */
  lead_id: number
  /**
   * Type of loan product, for example FHA, VA or Conventional; `null` removes it.
   */
  loan_product?: string | null
  /**
   * Two-letter state code of the property, stored in upper case, trimmed; `null` removes it.
   */
  property_state?: string | null
  /**
   * Your own identifier for the borrower, which we recommend: each webhook includes it, as it was when the event was recorded. `null`, the empty string and blanks remove it.
   */
  partner_lead_id?: string | null
  /**
   * The borrower’s FICO range when you referred them, `<low>-<high>` between 300 and 850: `500-549`, `550-579`, `580-619`, `620-659`. `null`, the empty string and blanks remove it.
   */
  fico_range?: string | null
  /**
   * The loan officer who handles the borrower. `null`, the empty string and blanks remove it.
   */
  loan_officer_id?: string | null
  [k: string]: unknown
}

export interface UpdatePartnerInfoResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  /**
   * For people. Do not parse it: it may change.
   */
  message: string
}

/**
 * Empty.
 */
export interface UseSinkRequest {}

export interface UseSinkResponse {
  /**
   * `true` in every response except errors.
   */
  success: true
  data: Endpoint
}

/**
 * Any request to your endpoint. Accept and ignore a `type` that you do not know: new ones may be added.
 */
export type WebhookEvent =
  | LeadReceivedWebhook
  | ScoreUpdateWebhook
  | MilestoneWebhook
  | EndpointPing
  | EndpointCertification
  | OtherWebhook

/** What each call takes and answers. */
export interface Calls {
  /** Check that the service is online. Needs no key. If you send one, it is checked, so this call also tests a key. */
  ping: { request: Record<string, never>; response: PingResponse }
  /** Refer a borrower. Creates a lead and starts the borrower’s journey. A `lead_received` webhook follows. Unknown fields are ignored, and `ignored_fields` names them. If you repeat a request with the same `Idempotency-Key` within 24 hours, you get the same response, with the header `Idempotent-Replayed`, and no second lead is created. */
  createLead: { request: CreateLeadRequest; response: CreateLeadResponse }
  /** Get a lead’s current state. Returns a lead with its metadata. Optional fields without a value are left out. A lead that was closed has `closing` beside its data. */
  getLead: { request: GetLeadRequest; response: GetLeadResponse }
  /** List a lead’s events. Returns the complete history of one lead, oldest first, including events that are not sent as webhooks. list-events returns the events of all your leads, each with the `event_id` of its webhook and delivery. */
  getEvents: { request: GetEventsRequest; response: GetEventsResponse }
  /** Change a lead and its metadata. Changes one lead, not your account. Fields that you do not send keep their value; `null` removes a field. `partner_lead_id`, `fico_range` and `loan_officer_id` change the lead. Any other field is stored as metadata under its own name: 1 to 64 printable characters, up to 50 custom fields for each lead. Fields that the service owns or that identify the borrower cannot be changed. */
  updatePartnerInfo: { request: UpdatePartnerInfoRequest; response: UpdatePartnerInfoResponse }
  /** List webhook deliveries. Returns one delivery for each event that is sent to your endpoint, with its attempts and your endpoint’s responses; with `event_id`, also their bodies. */
  getDeliveries: { request: GetDeliveriesRequest; response: GetDeliveriesResponse }
  /** Resend a webhook. An open delivery is attempted now, after the lead’s earlier webhooks; if that fails, its retry schedule is unchanged. A settled one is sent again with the same `webhook-id` and the header `webhook-replay: true`, unless it was canceled. Resends are sent one at a time, at most five a second, and none while your endpoint is paused; up to 1,000 can wait. Requesting a resend that already waits changes nothing. */
  resendWebhook: { request: ResendWebhookRequest; response: ResendWebhookResponse }
  /** Get your endpoint and its health. Returns the URL of your endpoint, its health with the reason, what waits, and the candidate with its certification. */
  getEndpoint: { request: GetEndpointRequest; response: GetEndpointResponse }
  /** Set the URL of your endpoint. Stores a candidate for the URL of your endpoint, with a signing secret of its own. Nothing is sent to it yet: configure your receiver with the secret, then call certify-endpoint. Until it has passed, webhooks go to the current URL. It replaces an earlier candidate. If you repeat a request with the same `Idempotency-Key` within 24 hours, you get the same response, with the same secret. */
  setEndpoint: { request: SetEndpointRequest; response: SetEndpointResponse }
  /** Certify the new URL of your endpoint. Starts the certification of the URL that set-endpoint stored. We send six requests to it: your receiver must accept a signed webhook, the same one again, and one of an unknown type, and refuse a forged signature, an old timestamp and a changed body. get-endpoint shows the result of each, and what to change. When all pass, the URL and its secret take effect at once, held webhooks are sent in order, and we email your contact. Calling it again while a certification runs changes nothing. */
  certifyEndpoint: { request: CertifyEndpointRequest; response: CertifyEndpointResponse }
  /** Replace your signing secret. Creates a new signing secret. During the overlap, each webhook is signed with both secrets, so that your receiver can change over at any time. The new secret signs at once, and we email your contact. If you repeat a request with the same `Idempotency-Key` within 24 hours, you get the same response, with the same secret. */
  rotateEndpointSecret: { request: RotateEndpointSecretRequest; response: RotateEndpointSecretResponse }
  /** Send a test request to your endpoint. Sends one signed request of type `endpoint.ping` to your endpoint, even while it is paused, and returns how it responded. It is not an event: it appears in no history and is not retried. While a test request is in progress, another call returns the response to that request. */
  testEndpoint: { request: TestEndpointRequest; response: TestEndpointResponse }
  /** Pause your endpoint. Holds all webhooks until you call resume-endpoint. Nothing is lost, and nothing is tried meanwhile. Pausing a paused endpoint keeps it paused. */
  pauseEndpoint: { request: PauseEndpointRequest; response: PauseEndpointResponse }
  /** Resume your endpoint. Sends webhooks again, held ones first and in order. It ends a pause by you or by the service; only our staff can end a pause by our staff. Webhooks that failed and wait for their next attempt are all tried now. If they are already being sent, nothing changes. */
  resumeEndpoint: { request: ResumeEndpointRequest; response: ResumeEndpointResponse }
  /** Poll for events of all leads. Returns the events of all your leads in the order in which they were committed; get-events returns those of one lead. `lead.closed` says that a lead was closed: it is not a milestone, is not sent as a webhook, and has no `sequence`. Send `next` as `after` in the following request: no event is skipped or repeated. Store `next` only after you have processed the page, or each event’s `cursor` after the event. With `wait`, the response comes as soon as there are events. */
  listEvents: { request: ListEventsRequest; response: ListEventsResponse }
  /** List your leads. Returns your leads, newest first, without personal data: get-lead returns that. Send `next` as `after` to get older ones. */
  listLeads: { request: ListLeadsRequest; response: ListLeadsResponse }
  /** Close a lead. Closes a lead for good, for example because the borrower withdrew. Milestones that have arrived are recorded first; then no more are recorded, and no more score updates are made. Open webhooks are still sent. get-lead and list-leads show when. A repeat changes nothing, and returns when and why the lead was closed. After a 503 the lead may still be closed: send the request again. */
  closeLead: { request: CloseLeadRequest; response: CloseLeadResponse }
  /** Export all data of a lead. Returns everything that we keep about a borrower, as of one moment, for example to answer the borrower’s own request. Exports are made one at a time. */
  exportLead: { request: ExportLeadRequest; response: ExportLeadResponse }
  /** Erase a borrower’s personal data. Erases the personal data of a lead at once and for good: name, email address, phone number, notes, metadata, and what belongs to them. No more webhooks are sent, and calls for the lead return 404, as for a lead that does not exist. list-events and get-deliveries keep its ids and milestones. With an `Idempotency-Key`, a repeat within 24 hours gets the same response. */
  eraseLead: { request: EraseLeadRequest; response: EraseLeadResponse }
  /** Simulate milestones. Makes milestones of a lead happen now, on the lead’s clock. They are recorded and sent as in production. Send `event_name` for one, or `events` for up to 50 in their order. `lead_received` cannot be simulated: create-lead records it. A milestone that happens only once is not recorded again if the lead has it. After a 503 the milestones may still be recorded; a repeat with the same `Idempotency-Key` records none of them twice. */
  simulateEvent: { request: SimulateEventRequest; response: SimulateEventResponse }
  /** Advance a lead’s clock. Moves the clock of one lead forward. Whatever falls due on the way happens in order, each at its own date: score updates, the lead’s end, and the retries of a failing webhook. Other leads are not affected. The response comes when all of it has happened, or after ten seconds as 409 `CLOCK_MOVING`: the rest continues on its own, get-clock shows where it is, and the same request within a minute waits for it. A clock can be at most 20 years ahead, and 10 of your requests can move clocks at a time. If nothing that `to` names is due, the clock does not move. */
  advanceClock: { request: AdvanceClockRequest; response: AdvanceClockResponse }
  /** Get a lead’s clock. Returns the time on a lead’s clock, whether it is moving, and what is due next. */
  getClock: { request: GetClockRequest; response: GetClockResponse }
  /** List the scenarios. Returns the journeys that run-scenario plays. A lead that is created with an email address ending with `+<scenario>@example.com` plays one, too. */
  listScenarios: { request: Record<string, never>; response: ListScenariosResponse }
  /** Play a whole journey. Plays a scenario with a lead, or with a new one if you name none. Its milestones are recorded and sent as in production, on the lead’s own clock, which moves as far as the scenario takes. `GET /v1/sandbox/scenarios` lists the scenarios. Milestones that the lead already has are not repeated. The response comes when the scenario is over, or after ten seconds: the rest continues on its own. 10 of your requests can move clocks at a time. */
  runScenario: { request: RunScenarioRequest; response: RunScenarioResponse }
  /** Receive webhooks at our sink. Makes our sink your endpoint, for example if you have no public address. It verifies what arrives, and keeps the last 100 webhooks for get-sink. set-sink decides how it answers. Your webhooks go there at once. Calling it again makes the sink answer 200 again. Only our staff can end a pause by our staff. */
  useSink: { request: UseSinkRequest; response: UseSinkResponse }
  /** Decide how the sink answers. Decides how the sink answers the next webhooks, to watch retries, order and recovery. A webhook whose signature is not valid always gets 400. With an empty body, `{}`, it answers 200 again. */
  setSink: { request: SetSinkRequest; response: SetSinkResponse }
  /** Read the webhooks at the sink. Returns the last 100 webhooks that arrived at your sink, newest first, and how it answers. */
  getSink: { request: GetSinkRequest; response: GetSinkResponse }
}

/** `keyed`: takes an Idempotency-Key. */
export const calls = {
  ping: { method: 'GET', path: '/ping', keyed: false },
  createLead: { method: 'POST', path: '/create-lead', keyed: true },
  getLead: { method: 'POST', path: '/get-lead', keyed: false },
  getEvents: { method: 'POST', path: '/get-events', keyed: false },
  updatePartnerInfo: { method: 'POST', path: '/update-partner-info', keyed: false },
  getDeliveries: { method: 'POST', path: '/get-deliveries', keyed: false },
  resendWebhook: { method: 'POST', path: '/resend-webhook', keyed: false },
  getEndpoint: { method: 'POST', path: '/get-endpoint', keyed: false },
  setEndpoint: { method: 'POST', path: '/set-endpoint', keyed: true },
  certifyEndpoint: { method: 'POST', path: '/certify-endpoint', keyed: false },
  rotateEndpointSecret: { method: 'POST', path: '/rotate-endpoint-secret', keyed: true },
  testEndpoint: { method: 'POST', path: '/test-endpoint', keyed: false },
  pauseEndpoint: { method: 'POST', path: '/pause-endpoint', keyed: false },
  resumeEndpoint: { method: 'POST', path: '/resume-endpoint', keyed: false },
  listEvents: { method: 'POST', path: '/list-events', keyed: false },
  listLeads: { method: 'POST', path: '/list-leads', keyed: false },
  closeLead: { method: 'POST', path: '/close-lead', keyed: true },
  exportLead: { method: 'POST', path: '/export-lead', keyed: false },
  eraseLead: { method: 'POST', path: '/erase-lead', keyed: true },
  simulateEvent: { method: 'POST', path: '/sandbox/simulate-event', keyed: true },
  advanceClock: { method: 'POST', path: '/sandbox/advance-clock', keyed: false },
  getClock: { method: 'POST', path: '/sandbox/get-clock', keyed: false },
  listScenarios: { method: 'GET', path: '/sandbox/scenarios', keyed: false },
  runScenario: { method: 'POST', path: '/sandbox/run-scenario', keyed: false },
  useSink: { method: 'POST', path: '/sandbox/use-sink', keyed: false },
  setSink: { method: 'POST', path: '/sandbox/set-sink', keyed: false },
  getSink: { method: 'POST', path: '/sandbox/get-sink', keyed: false },
} as const
