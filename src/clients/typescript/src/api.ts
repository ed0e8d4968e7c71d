// Generated from docs/openapi.json by npm run clients. Do not edit.
import type { OtherName } from './names.ts'
import type { Shapes } from './wire.ts'

/** The version of the API that this client was made for. */
export const API_VERSION = '1.0.0'

export interface AdvanceClockRequest {
  /** The lead: the `leadId` that `leads.create` returned. */
  leadId: number
  /** How many days. Send either `days` or `to`. */
  days?: number
  /** Instead of `days`: until the next score update, the next retry of a webhook that failed, or the end of the lead, 30 days after mortgage_ready. */
  to?: 'next_score_update' | 'next_retry' | 'end'
}

export interface AdvanceClockResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: ClockAdvance
}

/** One HTTP request to your endpoint. */
export interface Attempt {
  /** Counts the requests with this `webhook-id` from 1. */
  number: number
  trigger: AttemptTrigger
  /** The URL that was called. */
  url: string
  startedAt: Date
  /** `null` while the attempt is in progress. */
  durationMs: number | null
  /** The HTTP status of your endpoint; `null` if it did not respond. */
  status: number | null
  /** What went wrong, for example `http_error`, `timeout` or `connection_refused`; `null` if nothing did. New ones may be added. */
  errorCode: string | null
  /** How to fix the failure. */
  hint: string | null
  /** The headers that were sent for your signature check; `null` while the attempt is in progress, and if we were interrupted. */
  requestHeaders: SignatureHeaders | null
  /** What your endpoint answered, up to 2 KB and without headers that may hold credentials. `null` if it did not respond, and once it is deleted: after 30 days by default. */
  responseHeaders: StringMap | null
  /** The first 4 KB of it, as text, if the request has `eventId`. A longer one ends with `… (cut)`. */
  responseBody?: string | null
}

/** Why it was made. `scheduled`: by the retry schedule. `resend`: you asked for it. `replay`: our staff did. `probe`: to test whether a paused endpoint works again. */
export type AttemptTrigger = 'scheduled' | 'resend' | 'replay' | 'probe'

export interface BlockingWebhook {
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  /** Counts the lead’s webhooks from 1; it does not count other events. */
  sequence: number
}

export interface Certification {
  /** The URL that was certified. */
  url: string
  state: 'running' | 'passed' | 'failed'
  requestedAt: Date
  /** `null` while it runs. */
  finishedAt: Date | null
  /** The checks that were made so far, in their order. */
  checks: CertificationCheck[]
}

export interface CertificationCheck {
  /** Which check it is. */
  check: 'valid' | 'repeated' | 'unknown_type' | 'forged_signature' | 'old_timestamp' | 'changed_body'
  /** For people: what we sent. */
  sent: string
  /** `not_judged`: the response says nothing about the check, such as a 404, or none came. A certification passes when all checks have passed. */
  result: 'passed' | 'failed' | 'not_judged'
  /** For people: what your endpoint must respond. */
  expected: string
  /** For people: what it responded. */
  received: string
  /** How long the response took; `null` if the check was not sent. */
  durationMs: number | null
  /** What to change; `null` if the check passed. */
  hint: string | null
}

export interface CertifyEndpointRequest {
  /** In a sandbox: the URL takes effect even if checks fail; `false` by default. */
  acceptFailures?: boolean
}

export interface CertifyEndpointResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: Endpoint
}

export interface Clock {
  /** The lead: its `leadId` in requests. */
  leadId: number
  /** The lead’s time. */
  now: Date
  /** How far the clock was advanced; 0 if it never was. */
  offsetSeconds: number
  /** Whether `sandbox.advanceClock` or a scenario moves it right now. */
  moving: boolean
  status: LeadStatus
  /** What is due next on the lead’s clock; `null` for nothing. */
  next: Due | null
}

export interface ClockAdvance {
  /** The lead: its `leadId` in requests. */
  leadId: number
  /** The lead’s time. */
  now: Date
  /** The furthest milestone reached, or `advancing` while the clock is moving. */
  status:
    | 'lead_received'
    | 'client_account_created'
    | 'credit_scan_completed'
    | 'contract_signed'
    | 'escrow_funded'
    | 'score_update'
    | 'mortgage_ready'
    | 'advancing'
  /** What happened on the way, in the lead’s time; while `advancing`, without the attempts that repeat an earlier one. */
  happened: Happened[]
  /** The clock stopped early: in production, your endpoint would be paused now. Repair it, or advance again to go on. */
  stopped?: 'endpoint_would_pause'
  /** What is due next on the lead’s clock; `null` for nothing. */
  next: Due | null
}

export interface CloseLeadRequest {
  /** The lead: the `leadId` that `leads.create` returned. */
  leadId: number
  /** Why. `withdrew`: the borrower withdrew. `unreachable`: the borrower cannot be reached. `ineligible`: the borrower does not qualify for the service. `financed_elsewhere`: the borrower got a loan elsewhere. `duplicate`: the borrower has another lead. `mistake`: the lead was created by mistake. `other`: another reason. */
  reason: 'withdrew' | 'unreachable' | 'ineligible' | 'financed_elsewhere' | 'duplicate' | 'mistake' | 'other'
}

export interface CloseLeadResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: Closing
}

/** Why a lead is closed. `withdrew`: the borrower withdrew. `unreachable`: the borrower cannot be reached. `ineligible`: the borrower does not qualify for the service. `financed_elsewhere`: the borrower got a loan elsewhere. `duplicate`: the borrower has another lead. `mistake`: the lead was created by mistake. `other`: another reason. `mortgage_ready`: 30 days have passed since mortgage_ready. `canceled`: an operator canceled its workflow. `erased`: its personal data was erased. New ones may be added. */
export type CloseReason =
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
  | (string & {})

export interface Closing {
  /** The lead: its `leadId` in requests. */
  leadId: number
  /** Why it was closed first. */
  reason: CloseReason
  /** When it was closed. */
  closedAt: Date
}

export interface CreateLeadRequest {
  /** Borrower’s first name; trimmed. */
  firstName: string
  /** Borrower’s last name; trimmed. */
  lastName: string
  /** Borrower’s email address; trimmed. */
  email: string
  /** Digits, hyphens, spaces and `+`, with at least one digit; trimmed. */
  phone: string
  /** Your own identifier for the borrower. Recommended: each webhook includes it, as it was when the event was recorded. `null`, the empty string and blanks count as absent. */
  partnerLeadId?: string | null
  /** `<low>-<high>` between 300 and 850: `500-549`, `550-579`, `580-619`, `620-659`. `null`, the empty string and blanks count as absent. */
  ficoRange?: string | null
  /** The loan officer who handles the borrower. `null`, the empty string and blanks count as absent. */
  loanOfficerId?: string | null
  /** Why the application was declined. Returned by `leads.export` only. `null`, the empty string and blanks count as absent. */
  notes?: string | null
}

export interface CreateLeadResponse {
  /** `true` in every response but those of errors. */
  success: true
  /** For people. Do not parse it: it may change. */
  message: string
  /** The new lead: store it with your application. */
  leadId: number
  /** As you sent it; absent if you did not. */
  partnerLeadId?: string
  /** Names of fields in your request that `leads.create` does not know, at most 20: what they hold is not stored. Absent if there are none. */
  ignoredFields?: string[]
  /** An open lead of yours that has the same `partnerLeadId` or the same email address, the newest: you may have referred this borrower twice. The lead was created all the same; to keep one, close the other with `leads.close`. Absent if there is none, and of two requests at the same moment. */
  duplicateOf?: number
}

/** One event on its way to your endpoint. */
export interface Delivery {
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  eventName: EventName
  /** The lead: its `leadId` in requests. */
  leadId: number
  /** Whether the lead is erased: the webhook cannot be resent. */
  leadErased: boolean
  /** Counts the lead’s webhooks from 1; it does not count other events. */
  sequence: number
  state: DeliveryState
  createdAt: Date
  /** `null` if it is held, settled, being attempted now, or waits for another one. */
  nextAttemptAt: Date | null
  /** The lead’s first open webhook, if this one is sent after it. */
  waitsFor: BlockingWebhook | null
  settledAt: Date | null
  /** Why it cannot be sent at the moment, if that is a fault on our side: it is sent once we have mended that. */
  fault: string | null
  /** The body of the webhook: the bytes that every attempt signs and sends. */
  body: string
  /** The latest 20, oldest first. */
  attempts: Attempt[]
}

/** `pending`: to be sent. `held`: pending, while your endpoint is paused. `delivered`: your endpoint accepted it. `given_up`: the retry schedule is used up while your endpoint accepted other webhooks; the lead’s next webhook is sent, and `deliveries.resend` sends this one again. `canceled`: our staff left it out. */
export type DeliveryState = 'pending' | 'delivered' | 'given_up' | 'canceled' | 'held'

export interface Due {
  /** `retry`: of the first open webhook. `end`: the lead is closed. */
  what: 'score_update' | 'retry' | 'end'
  at: Date
}

/** Where your webhooks are sent. */
export interface Endpoint {
  /** `null` if none is registered. */
  url: string | null
  health: EndpointHealth
  /** For people. */
  reason: string
  /** Since when `health` is what it is. */
  since: Date
  /** How many webhooks are not settled: neither delivered, given up nor canceled. */
  openDeliveries: number
  /** The latest 1,000 attempts, as far as they called the current URL: retries, resends and probes too, but none that is in progress. */
  recentAttempts: RecentAttempts
  /** When your endpoint last accepted a webhook. */
  lastSuccessAt: Date | null
  /** The latest attempt that failed. Both are about `recentAttempts`, and `null` if there is none. */
  lastError: EndpointError | null
  /** The open delivery that has waited longest; `null` if there is none. */
  oldestWaiting: OldestWaiting | null
  /** When the next open webhook is due; `null` if none is open and not being attempted now, or while your endpoint is paused. */
  nextAttemptAt: Date | null
  /** When the service tries the endpoint again, if it paused it; otherwise `null`. */
  nextProbeAt: Date | null
  /** The URL that is to take the place of `url`; `null` if there is none. */
  candidate: EndpointCandidate | null
  /** The latest certification; `null` if none was requested, or the URL that it is about has been replaced. */
  certification: Certification | null
}

export interface EndpointCandidate {
  /** The URL that `endpoint.set` got. */
  url: string
  requestedAt: Date
}

export interface EndpointCertification {
  /** What the request is. */
  type: 'endpoint.certification'
  /** ISO 8601. */
  timestamp: Date
  data: EndpointCertificationData
}

export interface EndpointCertificationData {
  /** Your account. */
  partnerId: number
  environment: Environment
}

export interface EndpointError {
  at: Date
  /** The HTTP status of your endpoint; `null` if it did not respond. */
  status: number | null
  errorCode: string
  /** What to do about it. */
  hint: string | null
}

/** `active`: it works. `failing`: webhooks are sent, and every recent attempt failed. `paused`: webhooks are held. `draining`: held webhooks are being sent. */
export type EndpointHealth = 'active' | 'failing' | 'paused' | 'draining'

export interface EndpointPing {
  /** What the request is. */
  type: 'endpoint.ping'
  /** ISO 8601. */
  timestamp: Date
  data: EndpointPingData
}

export interface EndpointPingData {
  /** Your account. */
  partnerId: number
  environment: Environment
}

/** The endpoint, with the secret that was just made. */
export interface EndpointWithSecret {
  /** `null` if none is registered. */
  url: string | null
  health: EndpointHealth
  /** For people. */
  reason: string
  /** Since when `health` is what it is. */
  since: Date
  /** How many webhooks are not settled: neither delivered, given up nor canceled. */
  openDeliveries: number
  /** The latest 1,000 attempts, as far as they called the current URL: retries, resends and probes too, but none that is in progress. */
  recentAttempts: RecentAttempts
  /** When your endpoint last accepted a webhook. */
  lastSuccessAt: Date | null
  /** The latest attempt that failed. Both are about `recentAttempts`, and `null` if there is none. */
  lastError: EndpointError | null
  /** The open delivery that has waited longest; `null` if there is none. */
  oldestWaiting: OldestWaiting | null
  /** When the next open webhook is due; `null` if none is open and not being attempted now, or while your endpoint is paused. */
  nextAttemptAt: Date | null
  /** When the service tries the endpoint again, if it paused it; otherwise `null`. */
  nextProbeAt: Date | null
  /** The URL that is to take the place of `url`; `null` if there is none. */
  candidate: EndpointCandidate | null
  /** The latest certification; `null` if none was requested, or the URL that it is about has been replaced. */
  certification: Certification | null
  /** The new signing secret. Store it now: it is not shown again. */
  secret: string
}

export type Environment = 'sandbox' | 'production'

export interface EraseLeadRequest {
  /** The lead: the `leadId` that `leads.create` returned. */
  leadId: number
  /** Why. `borrower_request`: the borrower asked for it. `no_consent`: the borrower does not agree to the referral. `not_needed`: the data is no longer needed. `legal_obligation`: a law or an authority requires it. `mistake`: the lead was created by mistake, or with wrong data. `other`: another reason. */
  reason?: 'borrower_request' | 'no_consent' | 'not_needed' | 'legal_obligation' | 'mistake' | 'other' | null
}

export interface EraseLeadResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: Erasure
}

export interface Erasure {
  /** The lead: its `leadId` in requests. */
  leadId: number
  erasedAt: Date
}

/**
 * Which error it is. New ones may be added: go by the HTTP status then.
 *
 * - `INVALID_PAYLOAD` (400)
 * - `AUTH_FAILED` (401)
 * - `HTTPS_REQUIRED` (403)
 * - `SELF_SERVICE_OFF` (403)
 * - `NOT_FOUND` (404)
 * - `METHOD_NOT_ALLOWED` (405)
 * - `NO_ENDPOINT` (409)
 * - `NO_CANDIDATE` (409)
 * - `PAUSED_BY_STAFF` (409)
 * - `ENDPOINT_PAUSED` (409)
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
  | 'INVALID_PAYLOAD'
  | 'AUTH_FAILED'
  | 'HTTPS_REQUIRED'
  | 'SELF_SERVICE_OFF'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'NO_ENDPOINT'
  | 'NO_CANDIDATE'
  | 'PAUSED_BY_STAFF'
  | 'ENDPOINT_PAUSED'
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
  | 'lead_received'
  | 'client_account_created'
  | 'credit_scan_completed'
  | 'client_engaged_in_chat'
  | 'contract_signed'
  | 'escrow_funded'
  | 'score_update'
  | 'mortgage_ready'
  | (string & {})

export interface EventToSimulate {
  eventName: SimulatedEventName
  /** For `score_update` only. Without it, the sandbox makes up gains. */
  eventPayload?: ScoreGains | null
  /** Backdates the milestone: how many days ago it happened, on the lead’s clock. Dates of a lead never go back: a milestone that would be older than the lead’s last event gets the date of that. */
  daysAgo?: number
}

export interface ExportLeadRequest {
  /** The lead: the `leadId` that `leads.create` returned. */
  leadId: number
}

export interface ExportLeadResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: ExportedLead
}

export interface ExportedAction {
  at: Date
  /** What was done, for example `milestone` or `lead.close`. */
  action: string
  /** How it went. */
  outcome: 'begun' | 'done' | 'failed' | 'unknown'
  /** `key <id>` for one of your API keys, `staff` for ours. */
  by: string
}

export interface ExportedAttempt {
  /** Counts the requests with this `webhook-id` from 1. */
  number: number
  trigger: AttemptTrigger
  startedAt: Date
  finishedAt: Date | null
  /** `null` while it is in progress. */
  durationMs: number | null
  /** The IP address of your endpoint that was called. */
  address: string | null
  /** The HTTP status of your endpoint; `null` if it did not respond. */
  status: number | null
  /** What went wrong, for example `http_error`, `timeout` or `connection_refused`; `null` if nothing did. New ones may be added. */
  errorCode: string | null
  /** How to fix the failure. */
  hint: string | null
  responseHeaders: StringMap | null
  /** What your endpoint answered, cut off after a few kilobytes. */
  responseBody: string | null
}

export interface ExportedDelivery {
  /** Counts the lead’s webhooks from 1; it does not count other events. */
  sequence: number
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  state: DeliveryState
  /** The bytes that every attempt signs and sends. */
  body: string
  nextAttemptAt: Date | null
  settledAt: Date | null
  /** Oldest first. */
  attempts: ExportedAttempt[]
}

export type ExportedEvent =
  LeadReceivedExportedEvent | ScoreUpdateExportedEvent | MilestoneExportedEvent | OtherExportedEvent

export interface ExportedFields {
  /** The lead: its `leadId` in requests. */
  leadId: number
  /** Your account. */
  partnerId: number
  /** Borrower’s first name. */
  firstName: string
  /** Borrower’s last name. */
  lastName: string
  /** Borrower’s email address. */
  email: string
  /** Borrower’s phone number, as you sent it. */
  phone: string
  /** Your own identifier for the borrower. */
  partnerLeadId: string | null
  /** The borrower’s FICO range when you referred them. */
  ficoRange: string | null
  /** The loan officer who handles the borrower. */
  loanOfficerId: string | null
  /** Why the application was declined. */
  notes: string | null
  metadata: StringMap
  status: LeadStatus
  createdAt: Date
  updatedAt: Date
}

export interface ExportedIdempotencyKey {
  /** The `Idempotency-Key` of `leads.create`. */
  key: string
  createdAt: Date
}

export interface ExportedLead {
  /** What each part is. */
  about: StringMap
  exportedAt: Date
  /** The borrower’s data as the partner sent it, with notes and metadata, and the status. */
  lead: ExportedFields
  /** The email that welcomes the borrower, and why it was not sent if it was not. */
  onboardingEmail: {
    sentAt: Date | null
    /** `address_limit`: the address got as many within 24 hours as an address may. */
    notSentBecause: OnboardingEmailRefusal | null
  }
  /** In a sandbox, by how many seconds the lead’s clock was advanced. */
  clock: {
    /** How far the sandbox advanced it; 0 in production. */
    secondsAhead: number
  }
  /** The date from which score updates are counted, every 45 days. */
  scoreUpdates: {
    since: Date | null
  }
  /** When the lead was closed, 30 days after mortgage_ready or by whom, and why. `leads.get` has a closing that waits. */
  closing: {
    closedAt: Date | null
    /** Such as `withdrew` or `mortgage_ready`; new ones may be added. `null` while the lead is open. */
    reason: string | null
  }
  /** The lead’s workflow in Temporal. It holds ids, states and dates, and what senders put into signals; no name, address or phone number. */
  workflow: {
    /** Its id in Temporal. */
    workflowId: string
    startedAt: Date | null
  }
  /** The Idempotency-Key of the request that created the lead, kept for 24 hours. */
  idempotencyKeys: ExportedIdempotencyKey[]
  /** The history, oldest first. */
  events: ExportedEvent[]
  /** The webhooks about the lead, in their order: the body that each attempt sends, and what the partner’s endpoint answered. */
  deliveries: ExportedDelivery[]
  /** What the partner’s keys and staff did with the lead, and when staff looked at it, oldest first. */
  actions: ExportedAction[]
}

export type FeedEvent =
  LeadReceivedFeedEvent | ScoreUpdateFeedEvent | MilestoneFeedEvent | LeadClosedFeedEvent | OtherFeedEvent

export interface GetClockRequest {
  /** The lead: the `leadId` that `leads.create` returned. */
  leadId: number
}

export interface GetClockResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: Clock
}

/** All fields are optional. */
export interface GetDeliveriesRequest {
  /** Only this webhook, with the bodies that your endpoint answered. Send it without `leadId`, `states` and `after`. */
  eventId?: string
  /** Only this lead’s deliveries; by default those of all leads. */
  leadId?: number
  /** `pending` includes `held`: open deliveries to a paused endpoint. */
  states?: DeliveryState[]
  /** The `next` of the previous response: only older deliveries. `null` is the first page. */
  after?: string | null
  /** Maximum number of results; 50 by default. */
  limit?: number
}

export interface GetDeliveriesResponse {
  /** `true` in every response but those of errors. */
  success: true
  /** Newest first. */
  data: Delivery[]
  /** The next page’s `after`; `null` on the last page. */
  next: string | null
}

/** Empty. */
export type GetEndpointRequest = Record<string, never>

export interface GetEndpointResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: OwnEndpoint
}

export interface GetEventsRequest {
  /** The lead: the `leadId` that `leads.create` returned. */
  leadId: number
}

export interface GetEventsResponse {
  /** `true` in every response but those of errors. */
  success: true
  /** The complete history, oldest first. */
  data: Event[]
}

export interface GetLeadRequest {
  /** The lead: the `leadId` that `leads.create` returned. */
  leadId: number
}

export interface GetLeadResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: Lead
  closing?: LeadClosing
}

/** Empty. */
export type GetSinkRequest = Record<string, never>

export interface GetSinkResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: Sink
}

export type Happened = HappenedEvent | HappenedWebhook | HappenedEnd

/** The lead was closed. */
export interface HappenedEnd {
  at: Date
  what: 'end'
}

/** An event was recorded. */
export interface HappenedEvent {
  at: Date
  what: 'event'
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  eventName: EventName
  /** Its place among the lead’s webhooks; `null` for an event that is not sent. */
  sequence: number | null
}

/** Your endpoint was called. */
export interface HappenedWebhook {
  at: Date
  what: 'webhook'
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  eventName: EventName
  /** Counts the lead’s webhooks from 1; it does not count other events. */
  sequence: number
  /** Counts the requests with this `webhook-id` from 1. */
  attempt: number
  /** The HTTP status of your endpoint; `null` if it did not respond. */
  status: number | null
  /** What went wrong, for example `http_error`, `timeout` or `connection_refused`; `null` if nothing did. New ones may be added. */
  errorCode: string | null
}

/** The lead’s own fields, and its metadata beside them. Metadata values are strings. */
export interface Lead {
  /** The lead: its `leadId` in requests. */
  id: number
  /** The same as `id`. */
  leadId: number
  /** Your account. */
  partnerId: number
  /** Borrower’s first name. */
  firstName: string
  /** Borrower’s last name. */
  lastName: string
  /** Borrower’s email address. */
  email: string
  /** Borrower’s phone number, as you sent it. */
  phone: string
  status: LeadStatus
  /** Your own identifier for the borrower. */
  partnerLeadId?: string
  /** The borrower’s FICO range when you referred them. */
  ficoRange?: string
  /** The loan officer who handles the borrower. */
  loanOfficerId?: string
  createdAt: Date
  updatedAt: Date
  /** When the lead was closed, in the format of `createdAt`: 30 days after `mortgage_ready`, by your `leads.close`, or by our staff, for example because the borrower dropped out. From then on no milestones are recorded. Closing is no milestone: `events.page` has it, `leads.history` does not. Absent while the lead is open. A custom field of this name that you stored takes its place. */
  closedAt?: string
  /** Type of loan product, as you sent it. */
  loanProduct?: string
  /** Two-letter state code of the property. */
  propertyState?: string
  [field: string]: unknown
}

export interface LeadClosedFeedEvent {
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  /** What happened. */
  eventName: 'lead.closed'
  eventPayload: LeadClosedPayload
  /** When it happened. */
  createdAt: Date
  /** The lead: its `leadId` in requests. */
  leadId: number
  /** Your own identifier for the borrower; `null` if you sent none. */
  partnerLeadId: string | null
  /** Its place among the lead’s webhooks; `null` for an event that is not sent. */
  sequence: number | null
  /** Send it as `after` to continue after this event, in the middle of a page. */
  cursor: string
  /** The body of its webhook, byte for byte, if the request has `webhooks`; `null` for an event that is not sent. */
  webhookBody?: string | null
}

/** Why it was closed. */
export interface LeadClosedPayload {
  reason: CloseReason
}

/** Of a lead that is closed; otherwise absent. No custom field can take its place. */
export interface LeadClosing {
  /** When it was closed. */
  at: Date
  reason: CloseReason
}

export interface LeadReceivedEvent {
  /** The milestone. */
  eventName: 'lead_received'
  eventPayload: LeadReceivedPayload | null
  /** When it happened. */
  createdAt: Date
}

export interface LeadReceivedExportedEvent {
  /** The milestone. */
  eventName: 'lead_received'
  eventPayload: LeadReceivedPayload | null
  /** When it happened. */
  createdAt: Date
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  /** Its place among the lead’s webhooks; `null` for an event that is not sent. */
  sequence: number | null
}

export interface LeadReceivedFeedEvent {
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  /** The milestone. */
  eventName: 'lead_received'
  eventPayload: LeadReceivedPayload | null
  /** When it happened. */
  createdAt: Date
  /** The lead: its `leadId` in requests. */
  leadId: number
  /** Your own identifier for the borrower; `null` if you sent none. */
  partnerLeadId: string | null
  /** Its place among the lead’s webhooks; `null` for an event that is not sent. */
  sequence: number | null
  /** Send it as `after` to continue after this event, in the middle of a page. */
  cursor: string
  /** The body of its webhook, byte for byte, if the request has `webhooks`; `null` for an event that is not sent. */
  webhookBody?: string | null
}

/** Your own identifier, as you sent it with `leads.create`. */
export interface LeadReceivedPayload {
  /** Your own identifier for the borrower. */
  partnerLeadId: string
}

export interface LeadReceivedWebhook {
  /** The milestone. */
  type: 'lead_received'
  /** The same time as `createdAt`, in ISO 8601. */
  timestamp: Date
  data: LeadReceivedWebhookData
}

export interface LeadReceivedWebhookData {
  /** The same as the header `webhook-id`. */
  eventId: string
  /** The milestone. */
  eventName: 'lead_received'
  eventPayload: LeadReceivedPayload | null
  /** When it happened. */
  createdAt: Date
  /** The lead: its `leadId` in requests. */
  leadId: number
  /** As it was when the event was recorded. */
  partnerLeadId: string | null
  /** Counts the lead’s webhooks from 1; it does not count other events. */
  sequence: number
  environment: Environment
}

/** The furthest milestone reached. New ones may be added. */
export type LeadStatus =
  | 'lead_received'
  | 'client_account_created'
  | 'credit_scan_completed'
  | 'contract_signed'
  | 'escrow_funded'
  | 'score_update'
  | 'mortgage_ready'
  | (string & {})

/** A lead without personal data. */
export interface LeadSummary {
  /** The lead: its `leadId` in requests. */
  leadId: number
  /** Your own identifier for the borrower; `null` if you sent none. */
  partnerLeadId: string | null
  status: LeadStatus
  /** Whether the lead is closed: no more milestones are recorded. */
  closed: boolean
  /** When the lead was closed: 30 days after `mortgage_ready`, by your `leads.close`, or by our staff, for example because the borrower dropped out. From then on no milestones are recorded. Closing is no milestone: `events.page` has it, `leads.history` does not. `null` while the lead is open. */
  closedAt: Date | null
  /** Whether its webhooks are sent: `failing` if the first open one fails, `held` while your endpoint is paused. */
  delivery: 'ok' | 'failing' | 'held'
  /** How many of its webhooks are pending or held. */
  openDeliveries: number
  createdAt: Date
  updatedAt: Date
}

/** All fields are optional. */
export interface ListEventsRequest {
  /** The `next` of the previous response; without it or with `null`, from the first event on. `now` skips all events that there are. */
  after?: string | null
  /** Maximum number of results; 50 by default. */
  limit?: number
  /** If there are no events yet, for how many seconds to wait for some; 0 by default. Two requests of a key can wait at a time. */
  wait?: number
  /** `true`: each event has `webhookBody`. */
  webhooks?: boolean
}

export interface ListEventsResponse {
  /** `true` in every response but those of errors. */
  success: true
  /** In commit order; the events of one lead in theirs. */
  data: FeedEvent[]
  /** Send it as `after` in the next request. */
  next: string
  /** Whether there are more events already: ask again at once. */
  hasMore: boolean
}

/** All fields are optional. */
export interface ListLeadsRequest {
  /** Maximum number of results; 50 by default. */
  limit?: number
  /** The `next` of the previous response: only older leads. `null` is the first page. */
  after?: number | null
  /** Only leads with this status. */
  status?:
    | 'lead_received'
    | 'client_account_created'
    | 'credit_scan_completed'
    | 'contract_signed'
    | 'escrow_funded'
    | 'score_update'
    | 'mortgage_ready'
  /** Only leads with this identifier of yours. */
  partnerLeadId?: string
  /** Only leads whose identifier of yours begins with this. */
  partnerLeadIdPrefix?: string
  /** `true`: only closed leads. `false`: only open ones. */
  closed?: boolean
  /** Only leads whose webhooks fail, or are held because your endpoint is paused. */
  delivery?: 'failing' | 'held'
}

export interface ListLeadsResponse {
  /** `true` in every response but those of errors. */
  success: true
  /** Newest first. */
  data: LeadSummary[]
  /** The next page’s `after`; `null` on the last page. */
  next: number | null
}

export interface ListScenariosResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: Scenario[]
}

export interface MilestoneEvent {
  eventName: MilestoneEventName
  /** These milestones have none. */
  eventPayload: null
  /** When it happened. */
  createdAt: Date
}

/** A milestone without a payload. */
export type MilestoneEventName =
  | 'client_account_created'
  | 'credit_scan_completed'
  | 'client_engaged_in_chat'
  | 'contract_signed'
  | 'escrow_funded'
  | 'mortgage_ready'

export interface MilestoneExportedEvent {
  eventName: MilestoneEventName
  /** These milestones have none. */
  eventPayload: null
  /** When it happened. */
  createdAt: Date
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  /** Its place among the lead’s webhooks; `null` for an event that is not sent. */
  sequence: number | null
}

export interface MilestoneFeedEvent {
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  eventName: MilestoneEventName
  /** These milestones have none. */
  eventPayload: null
  /** When it happened. */
  createdAt: Date
  /** The lead: its `leadId` in requests. */
  leadId: number
  /** Your own identifier for the borrower; `null` if you sent none. */
  partnerLeadId: string | null
  /** Its place among the lead’s webhooks; `null` for an event that is not sent. */
  sequence: number | null
  /** Send it as `after` to continue after this event, in the middle of a page. */
  cursor: string
  /** The body of its webhook, byte for byte, if the request has `webhooks`; `null` for an event that is not sent. */
  webhookBody?: string | null
}

export interface MilestoneSimulatedEvent {
  eventName: MilestoneEventName
  /** These milestones have none. */
  eventPayload: null
  /** When it happened. */
  createdAt: Date
  /** `false` if the lead has this event already; the other fields are that event’s. */
  recorded: boolean
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  /** Its place among the lead’s webhooks; `null` for an event that is not sent. */
  sequence: number | null
}

export interface MilestoneWebhook {
  type: MilestoneWebhookType
  /** The same time as `createdAt`, in ISO 8601. */
  timestamp: Date
  data: MilestoneWebhookData
}

export interface MilestoneWebhookData {
  /** The same as the header `webhook-id`. */
  eventId: string
  eventName: MilestoneWebhookType
  /** These milestones have none. */
  eventPayload: null
  /** When it happened. */
  createdAt: Date
  /** The lead: its `leadId` in requests. */
  leadId: number
  /** As it was when the event was recorded. */
  partnerLeadId: string | null
  /** Counts the lead’s webhooks from 1; it does not count other events. */
  sequence: number
  environment: Environment
}

/** A milestone without a payload. */
export type MilestoneWebhookType =
  'client_account_created' | 'credit_scan_completed' | 'contract_signed' | 'escrow_funded' | 'mortgage_ready'

export interface OldestWaiting {
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  eventName: EventName
  /** The lead: its `leadId` in requests. */
  leadId: number
  /** When the event was recorded, UTC. In a sandbox, `createdAt` of the event can be later: it follows the clock of the lead. */
  waitingSince: Date
}

export type OnboardingEmailRefusal = 'address_limit'

export interface OtherEvent {
  /** One that was added later. */
  eventName: OtherName
  eventPayload: Record<string, unknown> | null
  /** When it happened. */
  createdAt: Date
}

export interface OtherExportedEvent {
  /** One that was added later. */
  eventName: OtherName
  eventPayload: Record<string, unknown> | null
  /** When it happened. */
  createdAt: Date
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  /** Its place among the lead’s webhooks; `null` for an event that is not sent. */
  sequence: number | null
}

export interface OtherFeedEvent {
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  /** One that was added later. */
  eventName: OtherName
  eventPayload: Record<string, unknown> | null
  /** When it happened. */
  createdAt: Date
  /** The lead: its `leadId` in requests. */
  leadId: number
  /** Your own identifier for the borrower; `null` if you sent none. */
  partnerLeadId: string | null
  /** Its place among the lead’s webhooks; `null` for an event that is not sent. */
  sequence: number | null
  /** Send it as `after` to continue after this event, in the middle of a page. */
  cursor: string
  /** The body of its webhook, byte for byte, if the request has `webhooks`; `null` for an event that is not sent. */
  webhookBody?: string | null
}

export interface OtherSimulatedEvent {
  /** One that was added later. */
  eventName: OtherName
  eventPayload: Record<string, unknown> | null
  /** When it happened. */
  createdAt: Date
  /** `false` if the lead has this event already; the other fields are that event’s. */
  recorded: boolean
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  /** Its place among the lead’s webhooks; `null` for an event that is not sent. */
  sequence: number | null
}

export interface OtherWebhook {
  /** One that was added later. */
  type: OtherName
  /** ISO 8601. */
  timestamp: Date
  data: Record<string, unknown>
}

/** Where your webhooks are sent, and where they come from. */
export interface OwnEndpoint {
  /** `null` if none is registered. */
  url: string | null
  health: EndpointHealth
  /** For people. */
  reason: string
  /** Since when `health` is what it is. */
  since: Date
  /** How many webhooks are not settled: neither delivered, given up nor canceled. */
  openDeliveries: number
  /** The latest 1,000 attempts, as far as they called the current URL: retries, resends and probes too, but none that is in progress. */
  recentAttempts: RecentAttempts
  /** When your endpoint last accepted a webhook. */
  lastSuccessAt: Date | null
  /** The latest attempt that failed. Both are about `recentAttempts`, and `null` if there is none. */
  lastError: EndpointError | null
  /** The open delivery that has waited longest; `null` if there is none. */
  oldestWaiting: OldestWaiting | null
  /** When the next open webhook is due; `null` if none is open and not being attempted now, or while your endpoint is paused. */
  nextAttemptAt: Date | null
  /** When the service tries the endpoint again, if it paused it; otherwise `null`. */
  nextProbeAt: Date | null
  /** The URL that is to take the place of `url`; `null` if there is none. */
  candidate: EndpointCandidate | null
  /** The latest certification; `null` if none was requested, or the URL that it is about has been replaced. */
  certification: Certification | null
  /** The IP addresses and networks that our requests to your endpoint come from, for your firewall. Empty if we promise none: then allow requests by their signature. */
  egressAddresses: string[]
}

/** Empty. */
export type PauseEndpointRequest = Record<string, never>

export interface PauseEndpointResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: Endpoint
}

export interface PingResponse {
  /** `true` in every response but those of errors. */
  success: true
  /** For people. Do not parse it: it may change. */
  message: string
  environment: Environment
  time: Date
}

export interface RecentAttempts {
  /** At most 1,000. */
  count: number
  /** The share that your endpoint accepted, from 0 to 1. `null` if `count` is 0. */
  successRate: number | null
  /** Half of the attempts took at most this long. */
  durationP50Ms: number | null
  /** 95% of the attempts took at most this long. */
  durationP95Ms: number | null
}

export interface ResendWebhookRequest {
  /** As `deliveries.list` shows it; the `webhook-id` of the webhook. */
  eventId: string
}

export interface ResendWebhookResponse {
  /** `true` in every response but those of errors. */
  success: true
  /** For people. Do not parse it: it may change. */
  message: string
}

/** Empty. */
export type ResumeEndpointRequest = Record<string, never>

export interface ResumeEndpointResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: Endpoint
}

export interface RotateEndpointSecretRequest {
  /** For how many hours the previous secret also signs; 24 by default. */
  overlapHours?: number
}

export interface RotateEndpointSecretResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: EndpointWithSecret
}

export interface RunScenarioRequest {
  scenario: ScenarioName
  /** By default a new lead. */
  leadId?: number
}

export interface RunScenarioResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: ScenarioRun
}

export interface Scenario {
  scenario: ScenarioName
  /** For people. */
  about: string
  /** A `leads.create` with such an address plays the scenario, without any other call. */
  email: string
  /** The webhooks to expect, in their order. */
  webhooks: EventName[]
}

export type ScenarioName =
  | 'mortgage_ready_in_a_year'
  | 'ready_after_two_updates'
  | 'stalled_before_escrow'
  | 'scores_go_down'
  | 'chatty_borrower'
  | 'dropped_out'

export interface ScenarioRun {
  /** The lead: its `leadId` in requests. */
  leadId: number
  scenario: ScenarioName
  /** `running`: it continues on its own. `stopped`: it goes no further, because your endpoint refuses webhooks for so long that production would pause it, because the lead’s clock can run no further ahead, or because the lead has as many events as it can. `closed`: the lead was closed on the way, or our staff ended the scenario. */
  state: 'done' | 'running' | 'stopped' | 'closed'
  status: LeadStatus
  /** The webhooks to expect, in their order. Absent if you named a lead: what it has already does not happen again. */
  webhooks?: EventName[]
  /** What is due next on the lead’s clock; `null` for nothing. */
  next: Due | null
}

/** The points that each bureau’s score has gained since the `score_update` before, or, the first time, since the journey began; negative if it fell. */
export interface ScoreGains {
  /** The change of the Experian score in points; negative if it fell. */
  experianGain: number
  /** The change of the Equifax score in points; negative if it fell. */
  equifaxGain: number
  /** The change of the TransUnion score in points; negative if it fell. */
  transunionGain: number
  /** In how many days the borrower will probably be mortgage-ready, as a range: `<min>-<max> days`. */
  estimatedTimeRemaining: string
}

export interface ScoreUpdateEvent {
  /** The milestone. */
  eventName: 'score_update'
  eventPayload: ScoreGains
  /** When it happened. */
  createdAt: Date
}

export interface ScoreUpdateExportedEvent {
  /** The milestone. */
  eventName: 'score_update'
  eventPayload: ScoreGains
  /** When it happened. */
  createdAt: Date
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  /** Its place among the lead’s webhooks; `null` for an event that is not sent. */
  sequence: number | null
}

export interface ScoreUpdateFeedEvent {
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  /** The milestone. */
  eventName: 'score_update'
  eventPayload: ScoreGains
  /** When it happened. */
  createdAt: Date
  /** The lead: its `leadId` in requests. */
  leadId: number
  /** Your own identifier for the borrower; `null` if you sent none. */
  partnerLeadId: string | null
  /** Its place among the lead’s webhooks; `null` for an event that is not sent. */
  sequence: number | null
  /** Send it as `after` to continue after this event, in the middle of a page. */
  cursor: string
  /** The body of its webhook, byte for byte, if the request has `webhooks`; `null` for an event that is not sent. */
  webhookBody?: string | null
}

export interface ScoreUpdateSimulatedEvent {
  /** The milestone. */
  eventName: 'score_update'
  eventPayload: ScoreGains
  /** When it happened. */
  createdAt: Date
  /** `false` if the lead has this event already; the other fields are that event’s. */
  recorded: boolean
  /** The event. Its webhook has the same `webhook-id`. */
  eventId: string
  /** Its place among the lead’s webhooks; `null` for an event that is not sent. */
  sequence: number | null
}

export interface ScoreUpdateWebhook {
  /** The milestone. */
  type: 'score_update'
  /** The same time as `createdAt`, in ISO 8601. */
  timestamp: Date
  data: ScoreUpdateWebhookData
}

export interface ScoreUpdateWebhookData {
  /** The same as the header `webhook-id`. */
  eventId: string
  /** The milestone. */
  eventName: 'score_update'
  eventPayload: ScoreGains
  /** When it happened. */
  createdAt: Date
  /** The lead: its `leadId` in requests. */
  leadId: number
  /** As it was when the event was recorded. */
  partnerLeadId: string | null
  /** Counts the lead’s webhooks from 1; it does not count other events. */
  sequence: number
  environment: Environment
}

export interface SetEndpointRequest {
  /** In production `https`, on port 443 or 8443, at a public address. No user name, password or fragment. */
  url: string
}

export interface SetEndpointResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: EndpointWithSecret
}

export interface SetSinkRequest {
  /** The HTTP status that it answers with; 200 by default. */
  status?: number
  /** For how many webhooks, after which it answers 200 at once. `null`, the default: for all. */
  times?: number | null
  /** How long it waits before it answers; 0 by default. Our time limit for an attempt is 15 seconds. */
  delayMs?: number
  /** What it does instead of answering at once and as a whole. `resets`: it resets the connection, and answers nothing. `answers_half`: it announces its whole answer, and ends the connection after half of it. `answers_slowly`: it sends its answer a byte a second, which takes longer than our time limit. `null` by default. */
  fault?: 'resets' | 'answers_half' | 'answers_slowly' | null
  /** The seconds in the `Retry-After` of its answers, such as 429 or 503; `null`, the default, for none. */
  retryAfter?: number | null
}

export interface SetSinkResponse {
  /** `true` in every response but those of errors. */
  success: true
  /** For people. Do not parse it: it may change. */
  message: string
}

export interface SignatureHeaders {
  /** The event. Its webhook has the same `webhook-id`. */
  'webhook-id': string
  /** Seconds since 1970. */
  'webhook-timestamp': string
  /** One `v1,…` for each secret that was live. */
  'webhook-signature': string
}

export interface SimulateEventRequest {
  /** The lead: the `leadId` that `leads.create` returned. */
  leadId: number
  eventName?: SimulatedEventName
  /** For `score_update` only. Without it, the sandbox makes up gains. */
  eventPayload?: ScoreGains | null
  /** Backdates the milestone: how many days ago it happened, on the lead’s clock. Dates of a lead never go back: a milestone that would be older than the lead’s last event gets the date of that. */
  daysAgo?: number
  /** Several milestones, recorded in this order. */
  events?: EventToSimulate[]
}

export interface SimulateEventResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: Simulation
}

export type SimulatedEvent = ScoreUpdateSimulatedEvent | MilestoneSimulatedEvent | OtherSimulatedEvent

export type SimulatedEventName =
  | 'client_account_created'
  | 'credit_scan_completed'
  | 'client_engaged_in_chat'
  | 'contract_signed'
  | 'escrow_funded'
  | 'score_update'
  | 'mortgage_ready'

export interface Simulation {
  /** The lead: its `leadId` in requests. */
  leadId: number
  status: LeadStatus
  /** In the order of the request. */
  events: SimulatedEvent[]
  /** What is due next on the lead’s clock; `null` for nothing. */
  next: Due | null
}

export interface Sink {
  /** Where your webhooks go, until you set an endpoint of your own. */
  url: string
  /** The HTTP status that it answers with. */
  status: number
  /** For how many more webhooks it answers `status`; `null` for all. */
  times: number | null
  /** How long it waits before it answers. */
  delayMs: number
  /** What it does instead of answering at once and as a whole; `null` if it answers. */
  fault: 'resets' | 'answers_half' | 'answers_slowly' | null
  /** The seconds in its `Retry-After`; `null` for none. */
  retryAfter: number | null
  /** When it answers 200 again, whatever is left; `null` for never. */
  endsAt: Date | null
  /** The last 100, and the last 20 whose signature is not valid; newest first. */
  webhooks: SinkWebhook[]
}

export interface SinkWebhook {
  /** The header `webhook-id`: the event’s id. */
  webhookId: string
  receivedAt: Date
  /** Counts the requests with this `webhook-id` from 1, and anew once none of them is kept. */
  attempt: number
  /** Whether its signature is valid. */
  verified: boolean
  /** Why it is not valid. */
  problem: string | null
  /** What the sink answered. */
  status: number
  /** How long it waited before. */
  delayMs: number
  /** What it did instead of answering at once and as a whole; `null` if it answered. */
  fault: 'resets' | 'answers_half' | 'answers_slowly' | null
  headers: StringMap
  /** The bytes that were signed; if the signature is not valid, their beginning. */
  body: string
  /** The body, parsed; `null` if its signature is not valid. */
  event: unknown
}

/** Texts by their names. */
export type StringMap = Record<string, string>

/** Empty. */
export type TestEndpointRequest = Record<string, never>

export interface TestEndpointResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: TestRequest
}

export interface TestRequest {
  /** Whether your endpoint responded with a 2xx status. */
  accepted: boolean
  /** The header `webhook-id`. */
  webhookId: string
  /** The HTTP status of your endpoint; `null` if it did not respond. */
  status: number | null
  /** How long the response took. */
  durationMs: number
  /** What went wrong, for example `http_error`, `timeout` or `connection_refused`; `null` if nothing did. New ones may be added. */
  errorCode: string | null
  /** What to do about a failure. */
  hint: string | null
}

export interface UpdatePartnerInfoRequest {
  /** The lead: the `leadId` that `leads.create` returned. */
  leadId: number
  /** Type of loan product, for example FHA, VA or Conventional; `null` removes it. */
  loanProduct?: string | null
  /** Two-letter state code of the property, stored in upper case, trimmed; `null` removes it. */
  propertyState?: string | null
  /** Your own identifier for the borrower. Recommended: each webhook includes it, as it was when the event was recorded. `null`, the empty string and blanks remove it. */
  partnerLeadId?: string | null
  /** `<low>-<high>` between 300 and 850: `500-549`, `550-579`, `580-619`, `620-659`. `null`, the empty string and blanks remove it. */
  ficoRange?: string | null
  /** The loan officer who handles the borrower. `null`, the empty string and blanks remove it. */
  loanOfficerId?: string | null
  id?: never
  partnerId?: never
  firstName?: never
  lastName?: never
  email?: never
  phone?: never
  status?: never
  metadata?: never
  createdAt?: never
  updatedAt?: never
  [field: string]: unknown
}

export interface UpdatePartnerInfoResponse {
  /** `true` in every response but those of errors. */
  success: true
  /** For people. Do not parse it: it may change. */
  message: string
}

/** Empty. */
export type UseSinkRequest = Record<string, never>

export interface UseSinkResponse {
  /** `true` in every response but those of errors. */
  success: true
  data: Endpoint
}

/** Any request to your endpoint. Accept and ignore a `type` that you do not know: new ones may be added. */
export type WebhookEvent =
  | LeadReceivedWebhook
  | ScoreUpdateWebhook
  | MilestoneWebhook
  | EndpointPing
  | EndpointCertification
  | OtherWebhook

/** What each call takes and answers. */
export interface Calls {
  ping: { request: undefined; response: PingResponse }
  createLead: { request: CreateLeadRequest; response: CreateLeadResponse }
  getLead: { request: GetLeadRequest; response: GetLeadResponse }
  getEvents: { request: GetEventsRequest; response: GetEventsResponse }
  updatePartnerInfo: { request: UpdatePartnerInfoRequest; response: UpdatePartnerInfoResponse }
  getDeliveries: { request: GetDeliveriesRequest; response: GetDeliveriesResponse }
  resendWebhook: { request: ResendWebhookRequest; response: ResendWebhookResponse }
  getEndpoint: { request: GetEndpointRequest; response: GetEndpointResponse }
  setEndpoint: { request: SetEndpointRequest; response: SetEndpointResponse }
  certifyEndpoint: { request: CertifyEndpointRequest; response: CertifyEndpointResponse }
  rotateEndpointSecret: { request: RotateEndpointSecretRequest; response: RotateEndpointSecretResponse }
  testEndpoint: { request: TestEndpointRequest; response: TestEndpointResponse }
  pauseEndpoint: { request: PauseEndpointRequest; response: PauseEndpointResponse }
  resumeEndpoint: { request: ResumeEndpointRequest; response: ResumeEndpointResponse }
  listEvents: { request: ListEventsRequest; response: ListEventsResponse }
  listLeads: { request: ListLeadsRequest; response: ListLeadsResponse }
  closeLead: { request: CloseLeadRequest; response: CloseLeadResponse }
  exportLead: { request: ExportLeadRequest; response: ExportLeadResponse }
  eraseLead: { request: EraseLeadRequest; response: EraseLeadResponse }
  simulateEvent: { request: SimulateEventRequest; response: SimulateEventResponse }
  advanceClock: { request: AdvanceClockRequest; response: AdvanceClockResponse }
  getClock: { request: GetClockRequest; response: GetClockResponse }
  listScenarios: { request: undefined; response: ListScenariosResponse }
  runScenario: { request: RunScenarioRequest; response: RunScenarioResponse }
  useSink: { request: UseSinkRequest; response: UseSinkResponse }
  setSink: { request: SetSinkRequest; response: SetSinkResponse }
  getSink: { request: GetSinkRequest; response: GetSinkResponse }
}

/** `keyed`: takes an Idempotency-Key. */
export const calls = {
  ping: { method: 'GET', path: '/ping', request: 0, response: '#PingResponse', keyed: false },
  createLead: {
    method: 'POST',
    path: '/create-lead',
    request: '#CreateLeadRequest',
    response: '#CreateLeadResponse',
    keyed: true,
  },
  getLead: {
    method: 'POST',
    path: '/get-lead',
    request: '#GetLeadRequest',
    response: '#GetLeadResponse',
    keyed: false,
  },
  getEvents: {
    method: 'POST',
    path: '/get-events',
    request: '#GetEventsRequest',
    response: '#GetEventsResponse',
    keyed: false,
  },
  updatePartnerInfo: {
    method: 'POST',
    path: '/update-partner-info',
    request: '#UpdatePartnerInfoRequest',
    response: '#UpdatePartnerInfoResponse',
    keyed: false,
  },
  getDeliveries: {
    method: 'POST',
    path: '/get-deliveries',
    request: '#GetDeliveriesRequest',
    response: '#GetDeliveriesResponse',
    keyed: false,
  },
  resendWebhook: {
    method: 'POST',
    path: '/resend-webhook',
    request: '#ResendWebhookRequest',
    response: '#ResendWebhookResponse',
    keyed: false,
  },
  getEndpoint: {
    method: 'POST',
    path: '/get-endpoint',
    request: '#GetEndpointRequest',
    response: '#GetEndpointResponse',
    keyed: false,
  },
  setEndpoint: {
    method: 'POST',
    path: '/set-endpoint',
    request: '#SetEndpointRequest',
    response: '#SetEndpointResponse',
    keyed: true,
  },
  certifyEndpoint: {
    method: 'POST',
    path: '/certify-endpoint',
    request: '#CertifyEndpointRequest',
    response: '#CertifyEndpointResponse',
    keyed: false,
  },
  rotateEndpointSecret: {
    method: 'POST',
    path: '/rotate-endpoint-secret',
    request: '#RotateEndpointSecretRequest',
    response: '#RotateEndpointSecretResponse',
    keyed: true,
  },
  testEndpoint: {
    method: 'POST',
    path: '/test-endpoint',
    request: '#TestEndpointRequest',
    response: '#TestEndpointResponse',
    keyed: false,
  },
  pauseEndpoint: {
    method: 'POST',
    path: '/pause-endpoint',
    request: '#PauseEndpointRequest',
    response: '#PauseEndpointResponse',
    keyed: false,
  },
  resumeEndpoint: {
    method: 'POST',
    path: '/resume-endpoint',
    request: '#ResumeEndpointRequest',
    response: '#ResumeEndpointResponse',
    keyed: false,
  },
  listEvents: {
    method: 'POST',
    path: '/list-events',
    request: '#ListEventsRequest',
    response: '#ListEventsResponse',
    keyed: false,
  },
  listLeads: {
    method: 'POST',
    path: '/list-leads',
    request: '#ListLeadsRequest',
    response: '#ListLeadsResponse',
    keyed: false,
  },
  closeLead: {
    method: 'POST',
    path: '/close-lead',
    request: '#CloseLeadRequest',
    response: '#CloseLeadResponse',
    keyed: true,
  },
  exportLead: {
    method: 'POST',
    path: '/export-lead',
    request: '#ExportLeadRequest',
    response: '#ExportLeadResponse',
    keyed: false,
  },
  eraseLead: {
    method: 'POST',
    path: '/erase-lead',
    request: '#EraseLeadRequest',
    response: '#EraseLeadResponse',
    keyed: true,
  },
  simulateEvent: {
    method: 'POST',
    path: '/sandbox/simulate-event',
    request: '#SimulateEventRequest',
    response: '#SimulateEventResponse',
    keyed: true,
  },
  advanceClock: {
    method: 'POST',
    path: '/sandbox/advance-clock',
    request: '#AdvanceClockRequest',
    response: '#AdvanceClockResponse',
    keyed: false,
  },
  getClock: {
    method: 'POST',
    path: '/sandbox/get-clock',
    request: '#GetClockRequest',
    response: '#GetClockResponse',
    keyed: false,
  },
  listScenarios: {
    method: 'GET',
    path: '/sandbox/scenarios',
    request: 0,
    response: '#ListScenariosResponse',
    keyed: false,
  },
  runScenario: {
    method: 'POST',
    path: '/sandbox/run-scenario',
    request: '#RunScenarioRequest',
    response: '#RunScenarioResponse',
    keyed: false,
  },
  useSink: {
    method: 'POST',
    path: '/sandbox/use-sink',
    request: '#UseSinkRequest',
    response: '#UseSinkResponse',
    keyed: false,
  },
  setSink: {
    method: 'POST',
    path: '/sandbox/set-sink',
    request: '#SetSinkRequest',
    response: '#SetSinkResponse',
    keyed: false,
  },
  getSink: {
    method: 'POST',
    path: '/sandbox/get-sink',
    request: '#GetSinkRequest',
    response: '#GetSinkResponse',
    keyed: false,
  },
} as const

/** What each object has on the wire: names that are not listed are the partner’s own. */
export const shapes: Shapes = {
  AdvanceClockRequest: { fields: { lead_id: 0, days: 0, to: 0 } },
  AdvanceClockResponse: { fields: { success: 0, data: '#ClockAdvance' } },
  Attempt: {
    fields: {
      number: 0,
      trigger: '#AttemptTrigger',
      url: 0,
      started_at: 'time',
      duration_ms: 0,
      status: 0,
      error_code: 0,
      hint: 0,
      request_headers: '#SignatureHeaders',
      response_headers: '#StringMap',
      response_body: 0,
    },
  },
  BlockingWebhook: { fields: { event_id: 0, sequence: 0 } },
  Certification: {
    fields: {
      url: 0,
      state: 0,
      requested_at: 'time',
      finished_at: 'time',
      checks: { list: '#CertificationCheck' },
    },
  },
  CertificationCheck: {
    fields: { check: 0, sent: 0, result: 0, expected: 0, received: 0, duration_ms: 0, hint: 0 },
  },
  CertifyEndpointRequest: { fields: { accept_failures: 0 } },
  CertifyEndpointResponse: { fields: { success: 0, data: '#Endpoint' } },
  Clock: {
    fields: { lead_id: 0, now: 'time', offset_seconds: 0, moving: 0, status: '#LeadStatus', next: '#Due' },
  },
  ClockAdvance: {
    fields: { lead_id: 0, now: 'time', status: 0, happened: { list: '#Happened' }, stopped: 0, next: '#Due' },
  },
  CloseLeadRequest: { fields: { lead_id: 0, reason: 0 } },
  CloseLeadResponse: { fields: { success: 0, data: '#Closing' } },
  Closing: { fields: { lead_id: 0, reason: '#CloseReason', closed_at: 'time' } },
  CreateLeadRequest: {
    fields: {
      first_name: 0,
      last_name: 0,
      email: 0,
      phone: 0,
      partner_lead_id: 0,
      fico_range: 0,
      loan_officer_id: 0,
      notes: 0,
    },
  },
  CreateLeadResponse: {
    fields: { success: 0, message: 0, lead_id: 0, partner_lead_id: 0, ignored_fields: 0, duplicate_of: 0 },
  },
  Delivery: {
    fields: {
      event_id: 0,
      event_name: '#EventName',
      lead_id: 0,
      lead_erased: 0,
      sequence: 0,
      state: '#DeliveryState',
      created_at: 'time',
      next_attempt_at: 'time',
      waits_for: '#BlockingWebhook',
      settled_at: 'time',
      fault: 0,
      body: 0,
      attempts: { list: '#Attempt' },
    },
  },
  Due: { fields: { what: 0, at: 'time' } },
  Endpoint: {
    fields: {
      url: 0,
      health: '#EndpointHealth',
      reason: 0,
      since: 'time',
      open_deliveries: 0,
      recent_attempts: '#RecentAttempts',
      last_success_at: 'time',
      last_error: '#EndpointError',
      oldest_waiting: '#OldestWaiting',
      next_attempt_at: 'time',
      next_probe_at: 'time',
      candidate: '#EndpointCandidate',
      certification: '#Certification',
    },
  },
  EndpointCandidate: { fields: { url: 0, requested_at: 'time' } },
  EndpointCertification: { fields: { type: 0, timestamp: 'iso', data: '#EndpointCertificationData' } },
  EndpointCertificationData: { fields: { partner_id: 0, environment: '#Environment' } },
  EndpointError: { fields: { at: 'time', status: 0, error_code: 0, hint: 0 } },
  EndpointPing: { fields: { type: 0, timestamp: 'iso', data: '#EndpointPingData' } },
  EndpointPingData: { fields: { partner_id: 0, environment: '#Environment' } },
  EndpointWithSecret: {
    fields: {
      url: 0,
      health: '#EndpointHealth',
      reason: 0,
      since: 'time',
      open_deliveries: 0,
      recent_attempts: '#RecentAttempts',
      last_success_at: 'time',
      last_error: '#EndpointError',
      oldest_waiting: '#OldestWaiting',
      next_attempt_at: 'time',
      next_probe_at: 'time',
      candidate: '#EndpointCandidate',
      certification: '#Certification',
      secret: 0,
    },
  },
  EraseLeadRequest: { fields: { lead_id: 0, reason: 0 } },
  EraseLeadResponse: { fields: { success: 0, data: '#Erasure' } },
  Erasure: { fields: { lead_id: 0, erased_at: 'time' } },
  Event: {
    by: 'event_name',
    kinds: {
      lead_received: '#LeadReceivedEvent',
      score_update: '#ScoreUpdateEvent',
      client_account_created: '#MilestoneEvent',
      credit_scan_completed: '#MilestoneEvent',
      client_engaged_in_chat: '#MilestoneEvent',
      contract_signed: '#MilestoneEvent',
      escrow_funded: '#MilestoneEvent',
      mortgage_ready: '#MilestoneEvent',
    },
    other: '#OtherEvent',
  },
  EventToSimulate: {
    fields: { event_name: '#SimulatedEventName', event_payload: '#ScoreGains', days_ago: 0 },
  },
  ExportLeadRequest: { fields: { lead_id: 0 } },
  ExportLeadResponse: { fields: { success: 0, data: '#ExportedLead' } },
  ExportedAction: { fields: { at: 'time', action: 0, outcome: 0, by: 0 } },
  ExportedAttempt: {
    fields: {
      number: 0,
      trigger: '#AttemptTrigger',
      started_at: 'time',
      finished_at: 'time',
      duration_ms: 0,
      address: 0,
      status: 0,
      error_code: 0,
      hint: 0,
      response_headers: '#StringMap',
      response_body: 0,
    },
  },
  ExportedDelivery: {
    fields: {
      sequence: 0,
      event_id: 0,
      state: '#DeliveryState',
      body: 0,
      next_attempt_at: 'time',
      settled_at: 'time',
      attempts: { list: '#ExportedAttempt' },
    },
  },
  ExportedEvent: {
    by: 'event_name',
    kinds: {
      lead_received: '#LeadReceivedExportedEvent',
      score_update: '#ScoreUpdateExportedEvent',
      client_account_created: '#MilestoneExportedEvent',
      credit_scan_completed: '#MilestoneExportedEvent',
      client_engaged_in_chat: '#MilestoneExportedEvent',
      contract_signed: '#MilestoneExportedEvent',
      escrow_funded: '#MilestoneExportedEvent',
      mortgage_ready: '#MilestoneExportedEvent',
    },
    other: '#OtherExportedEvent',
  },
  ExportedFields: {
    fields: {
      lead_id: 0,
      partner_id: 0,
      first_name: 0,
      last_name: 0,
      email: 0,
      phone: 0,
      partner_lead_id: 0,
      fico_range: 0,
      loan_officer_id: 0,
      notes: 0,
      metadata: '#StringMap',
      status: '#LeadStatus',
      created_at: 'time',
      updated_at: 'time',
    },
  },
  ExportedIdempotencyKey: { fields: { key: 0, created_at: 'time' } },
  ExportedLead: {
    fields: {
      about: '#StringMap',
      exported_at: 'time',
      lead: '#ExportedFields',
      onboarding_email: { fields: { sent_at: 'time', not_sent_because: '#OnboardingEmailRefusal' } },
      clock: { fields: { seconds_ahead: 0 } },
      score_updates: { fields: { since: 'time' } },
      closing: { fields: { closed_at: 'time', reason: 0 } },
      workflow: { fields: { workflow_id: 0, started_at: 'time' } },
      idempotency_keys: { list: '#ExportedIdempotencyKey' },
      events: { list: '#ExportedEvent' },
      deliveries: { list: '#ExportedDelivery' },
      actions: { list: '#ExportedAction' },
    },
  },
  FeedEvent: {
    by: 'event_name',
    kinds: {
      lead_received: '#LeadReceivedFeedEvent',
      score_update: '#ScoreUpdateFeedEvent',
      client_account_created: '#MilestoneFeedEvent',
      credit_scan_completed: '#MilestoneFeedEvent',
      client_engaged_in_chat: '#MilestoneFeedEvent',
      contract_signed: '#MilestoneFeedEvent',
      escrow_funded: '#MilestoneFeedEvent',
      mortgage_ready: '#MilestoneFeedEvent',
      'lead.closed': '#LeadClosedFeedEvent',
    },
    other: '#OtherFeedEvent',
  },
  GetClockRequest: { fields: { lead_id: 0 } },
  GetClockResponse: { fields: { success: 0, data: '#Clock' } },
  GetDeliveriesRequest: {
    fields: { event_id: 0, lead_id: 0, states: { list: '#DeliveryState' }, after: 0, limit: 0 },
  },
  GetDeliveriesResponse: { fields: { success: 0, data: { list: '#Delivery' }, next: 0 } },
  GetEndpointRequest: { fields: {} },
  GetEndpointResponse: { fields: { success: 0, data: '#OwnEndpoint' } },
  GetEventsRequest: { fields: { lead_id: 0 } },
  GetEventsResponse: { fields: { success: 0, data: { list: '#Event' } } },
  GetLeadRequest: { fields: { lead_id: 0 } },
  GetLeadResponse: { fields: { success: 0, data: '#Lead', closing: '#LeadClosing' } },
  GetSinkRequest: { fields: {} },
  GetSinkResponse: { fields: { success: 0, data: '#Sink' } },
  Happened: {
    by: 'what',
    kinds: { event: '#HappenedEvent', webhook: '#HappenedWebhook', end: '#HappenedEnd' },
    other: 0,
  },
  HappenedEnd: { fields: { at: 'time', what: 0 } },
  HappenedEvent: { fields: { at: 'time', what: 0, event_id: 0, event_name: '#EventName', sequence: 0 } },
  HappenedWebhook: {
    fields: {
      at: 'time',
      what: 0,
      event_id: 0,
      event_name: '#EventName',
      sequence: 0,
      attempt: 0,
      status: 0,
      error_code: 0,
    },
  },
  Lead: {
    fields: {
      id: 0,
      lead_id: 0,
      partner_id: 0,
      first_name: 0,
      last_name: 0,
      email: 0,
      phone: 0,
      status: '#LeadStatus',
      partner_lead_id: 0,
      fico_range: 0,
      loan_officer_id: 0,
      created_at: 'time',
      updated_at: 'time',
      closed_at: 0,
      loan_product: 0,
      property_state: 0,
    },
  },
  LeadClosedFeedEvent: {
    fields: {
      event_id: 0,
      event_name: 0,
      event_payload: '#LeadClosedPayload',
      created_at: 'time',
      lead_id: 0,
      partner_lead_id: 0,
      sequence: 0,
      cursor: 0,
      webhook_body: 0,
    },
  },
  LeadClosedPayload: { fields: { reason: '#CloseReason' } },
  LeadClosing: { fields: { at: 'time', reason: '#CloseReason' } },
  LeadReceivedEvent: { fields: { event_name: 0, event_payload: '#LeadReceivedPayload', created_at: 'time' } },
  LeadReceivedExportedEvent: {
    fields: {
      event_name: 0,
      event_payload: '#LeadReceivedPayload',
      created_at: 'time',
      event_id: 0,
      sequence: 0,
    },
  },
  LeadReceivedFeedEvent: {
    fields: {
      event_id: 0,
      event_name: 0,
      event_payload: '#LeadReceivedPayload',
      created_at: 'time',
      lead_id: 0,
      partner_lead_id: 0,
      sequence: 0,
      cursor: 0,
      webhook_body: 0,
    },
  },
  LeadReceivedPayload: { fields: { partner_lead_id: 0 } },
  LeadReceivedWebhook: { fields: { type: 0, timestamp: 'iso', data: '#LeadReceivedWebhookData' } },
  LeadReceivedWebhookData: {
    fields: {
      event_id: 0,
      event_name: 0,
      event_payload: '#LeadReceivedPayload',
      created_at: 'time',
      lead_id: 0,
      partner_lead_id: 0,
      sequence: 0,
      environment: '#Environment',
    },
  },
  LeadSummary: {
    fields: {
      lead_id: 0,
      partner_lead_id: 0,
      status: '#LeadStatus',
      closed: 0,
      closed_at: 'time',
      delivery: 0,
      open_deliveries: 0,
      created_at: 'time',
      updated_at: 'time',
    },
  },
  ListEventsRequest: { fields: { after: 0, limit: 0, wait: 0, webhooks: 0 } },
  ListEventsResponse: { fields: { success: 0, data: { list: '#FeedEvent' }, next: 0, has_more: 0 } },
  ListLeadsRequest: {
    fields: {
      limit: 0,
      after: 0,
      status: 0,
      partner_lead_id: 0,
      partner_lead_id_prefix: 0,
      closed: 0,
      delivery: 0,
    },
  },
  ListLeadsResponse: { fields: { success: 0, data: { list: '#LeadSummary' }, next: 0 } },
  ListScenariosResponse: { fields: { success: 0, data: { list: '#Scenario' } } },
  MilestoneEvent: { fields: { event_name: '#MilestoneEventName', event_payload: 0, created_at: 'time' } },
  MilestoneExportedEvent: {
    fields: {
      event_name: '#MilestoneEventName',
      event_payload: 0,
      created_at: 'time',
      event_id: 0,
      sequence: 0,
    },
  },
  MilestoneFeedEvent: {
    fields: {
      event_id: 0,
      event_name: '#MilestoneEventName',
      event_payload: 0,
      created_at: 'time',
      lead_id: 0,
      partner_lead_id: 0,
      sequence: 0,
      cursor: 0,
      webhook_body: 0,
    },
  },
  MilestoneSimulatedEvent: {
    fields: {
      event_name: '#MilestoneEventName',
      event_payload: 0,
      created_at: 'time',
      recorded: 0,
      event_id: 0,
      sequence: 0,
    },
  },
  MilestoneWebhook: {
    fields: { type: '#MilestoneWebhookType', timestamp: 'iso', data: '#MilestoneWebhookData' },
  },
  MilestoneWebhookData: {
    fields: {
      event_id: 0,
      event_name: '#MilestoneWebhookType',
      event_payload: 0,
      created_at: 'time',
      lead_id: 0,
      partner_lead_id: 0,
      sequence: 0,
      environment: '#Environment',
    },
  },
  OldestWaiting: { fields: { event_id: 0, event_name: '#EventName', lead_id: 0, waiting_since: 'time' } },
  OtherEvent: { fields: { event_name: 0, event_payload: 0, created_at: 'time' } },
  OtherExportedEvent: {
    fields: { event_name: 0, event_payload: 0, created_at: 'time', event_id: 0, sequence: 0 },
  },
  OtherFeedEvent: {
    fields: {
      event_id: 0,
      event_name: 0,
      event_payload: 0,
      created_at: 'time',
      lead_id: 0,
      partner_lead_id: 0,
      sequence: 0,
      cursor: 0,
      webhook_body: 0,
    },
  },
  OtherSimulatedEvent: {
    fields: { event_name: 0, event_payload: 0, created_at: 'time', recorded: 0, event_id: 0, sequence: 0 },
  },
  OtherWebhook: { fields: { type: 0, timestamp: 'iso', data: 0 } },
  OwnEndpoint: {
    fields: {
      url: 0,
      health: '#EndpointHealth',
      reason: 0,
      since: 'time',
      open_deliveries: 0,
      recent_attempts: '#RecentAttempts',
      last_success_at: 'time',
      last_error: '#EndpointError',
      oldest_waiting: '#OldestWaiting',
      next_attempt_at: 'time',
      next_probe_at: 'time',
      candidate: '#EndpointCandidate',
      certification: '#Certification',
      egress_addresses: 0,
    },
  },
  PauseEndpointRequest: { fields: {} },
  PauseEndpointResponse: { fields: { success: 0, data: '#Endpoint' } },
  PingResponse: { fields: { success: 0, message: 0, environment: '#Environment', time: 'time' } },
  RecentAttempts: { fields: { count: 0, success_rate: 0, duration_p50_ms: 0, duration_p95_ms: 0 } },
  ResendWebhookRequest: { fields: { event_id: 0 } },
  ResendWebhookResponse: { fields: { success: 0, message: 0 } },
  ResumeEndpointRequest: { fields: {} },
  ResumeEndpointResponse: { fields: { success: 0, data: '#Endpoint' } },
  RotateEndpointSecretRequest: { fields: { overlap_hours: 0 } },
  RotateEndpointSecretResponse: { fields: { success: 0, data: '#EndpointWithSecret' } },
  RunScenarioRequest: { fields: { scenario: '#ScenarioName', lead_id: 0 } },
  RunScenarioResponse: { fields: { success: 0, data: '#ScenarioRun' } },
  Scenario: { fields: { scenario: '#ScenarioName', about: 0, email: 0, webhooks: { list: '#EventName' } } },
  ScenarioRun: {
    fields: {
      lead_id: 0,
      scenario: '#ScenarioName',
      state: 0,
      status: '#LeadStatus',
      webhooks: { list: '#EventName' },
      next: '#Due',
    },
  },
  ScoreGains: {
    fields: { experian_gain: 0, equifax_gain: 0, transunion_gain: 0, estimated_time_remaining: 0 },
  },
  ScoreUpdateEvent: { fields: { event_name: 0, event_payload: '#ScoreGains', created_at: 'time' } },
  ScoreUpdateExportedEvent: {
    fields: { event_name: 0, event_payload: '#ScoreGains', created_at: 'time', event_id: 0, sequence: 0 },
  },
  ScoreUpdateFeedEvent: {
    fields: {
      event_id: 0,
      event_name: 0,
      event_payload: '#ScoreGains',
      created_at: 'time',
      lead_id: 0,
      partner_lead_id: 0,
      sequence: 0,
      cursor: 0,
      webhook_body: 0,
    },
  },
  ScoreUpdateSimulatedEvent: {
    fields: {
      event_name: 0,
      event_payload: '#ScoreGains',
      created_at: 'time',
      recorded: 0,
      event_id: 0,
      sequence: 0,
    },
  },
  ScoreUpdateWebhook: { fields: { type: 0, timestamp: 'iso', data: '#ScoreUpdateWebhookData' } },
  ScoreUpdateWebhookData: {
    fields: {
      event_id: 0,
      event_name: 0,
      event_payload: '#ScoreGains',
      created_at: 'time',
      lead_id: 0,
      partner_lead_id: 0,
      sequence: 0,
      environment: '#Environment',
    },
  },
  SetEndpointRequest: { fields: { url: 0 } },
  SetEndpointResponse: { fields: { success: 0, data: '#EndpointWithSecret' } },
  SetSinkRequest: { fields: { status: 0, times: 0, delay_ms: 0, fault: 0, retry_after: 0 } },
  SetSinkResponse: { fields: { success: 0, message: 0 } },
  SignatureHeaders: { fields: { 'webhook-id': 0, 'webhook-timestamp': 0, 'webhook-signature': 0 } },
  SimulateEventRequest: {
    fields: {
      lead_id: 0,
      event_name: '#SimulatedEventName',
      event_payload: '#ScoreGains',
      days_ago: 0,
      events: { list: '#EventToSimulate' },
    },
  },
  SimulateEventResponse: { fields: { success: 0, data: '#Simulation' } },
  SimulatedEvent: {
    by: 'event_name',
    kinds: {
      score_update: '#ScoreUpdateSimulatedEvent',
      client_account_created: '#MilestoneSimulatedEvent',
      credit_scan_completed: '#MilestoneSimulatedEvent',
      client_engaged_in_chat: '#MilestoneSimulatedEvent',
      contract_signed: '#MilestoneSimulatedEvent',
      escrow_funded: '#MilestoneSimulatedEvent',
      mortgage_ready: '#MilestoneSimulatedEvent',
    },
    other: '#OtherSimulatedEvent',
  },
  Simulation: {
    fields: { lead_id: 0, status: '#LeadStatus', events: { list: '#SimulatedEvent' }, next: '#Due' },
  },
  Sink: {
    fields: {
      url: 0,
      status: 0,
      times: 0,
      delay_ms: 0,
      fault: 0,
      retry_after: 0,
      ends_at: 'time',
      webhooks: { list: '#SinkWebhook' },
    },
  },
  SinkWebhook: {
    fields: {
      webhook_id: 0,
      received_at: 'time',
      attempt: 0,
      verified: 0,
      problem: 0,
      status: 0,
      delay_ms: 0,
      fault: 0,
      headers: '#StringMap',
      body: 0,
      event: 0,
    },
  },
  TestEndpointRequest: { fields: {} },
  TestEndpointResponse: { fields: { success: 0, data: '#TestRequest' } },
  TestRequest: { fields: { accepted: 0, webhook_id: 0, status: 0, duration_ms: 0, error_code: 0, hint: 0 } },
  UpdatePartnerInfoRequest: {
    fields: {
      lead_id: 0,
      loan_product: 0,
      property_state: 0,
      partner_lead_id: 0,
      fico_range: 0,
      loan_officer_id: 0,
      id: 0,
      partner_id: 0,
      first_name: 0,
      last_name: 0,
      email: 0,
      phone: 0,
      status: 0,
      metadata: 0,
      created_at: 0,
      updated_at: 0,
    },
  },
  UpdatePartnerInfoResponse: { fields: { success: 0, message: 0 } },
  UseSinkRequest: { fields: {} },
  UseSinkResponse: { fields: { success: 0, data: '#Endpoint' } },
  WebhookEvent: {
    by: 'type',
    kinds: {
      lead_received: '#LeadReceivedWebhook',
      score_update: '#ScoreUpdateWebhook',
      client_account_created: '#MilestoneWebhook',
      credit_scan_completed: '#MilestoneWebhook',
      contract_signed: '#MilestoneWebhook',
      escrow_funded: '#MilestoneWebhook',
      mortgage_ready: '#MilestoneWebhook',
      'endpoint.ping': '#EndpointPing',
      'endpoint.certification': '#EndpointCertification',
    },
    other: '#OtherWebhook',
  },
}
