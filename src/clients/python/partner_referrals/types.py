# Generated from docs/openapi.json by npm run clients. Do not edit.
"""What the API takes and answers, as its reference at `/docs` describes it."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

OtherName: TypeAlias = Literal["a name that was added later"]
"""Any string that is not a known name: with `str`, a comparison with a known name would not narrow a union."""

API_VERSION = "1.0.0"
"""The version of the API that this client was made for."""

WEBHOOK_TYPES = ("lead_received", "client_account_created", "credit_scan_completed", "contract_signed", "escrow_funded", "score_update", "mortgage_ready", "endpoint.ping", "endpoint.certification")
"""The `type` of each webhook."""


class AdvanceClockRequest(TypedDict):
    lead_id: int
    """The lead: the `lead_id` that create-lead returned."""
    days: NotRequired[int]
    """How many days. Send either `days` or `to`."""
    to: NotRequired[Literal["next_score_update", "next_retry", "end"]]
    """Instead of `days`: until the next score update, the next retry of a webhook that failed, or the end of the lead, 30 days after mortgage_ready."""


class AdvanceClockResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: ClockAdvance


class Attempt(TypedDict):
    """One HTTP request to your endpoint."""
    number: int
    """Counts the requests with this `webhook-id` from 1."""
    trigger: AttemptTrigger
    url: str
    """The URL that was called."""
    started_at: Timestamp
    duration_ms: int | None
    """`None` while the attempt is in progress."""
    status: int | None
    """The HTTP status of your endpoint; `None` if it did not respond."""
    error_code: str | None
    """What went wrong, for example `http_error`, `timeout` or `connection_refused`; `None` if nothing did. New ones may be added."""
    hint: str | None
    """How to fix the failure."""
    request_headers: SignatureHeaders | None
    """The headers that were sent for your signature check; `None` while the attempt is in progress, and if we were interrupted."""
    response_headers: StringMap | None
    """The headers of the response, up to 2 KB, without those that may hold credentials. `None` if it did not respond, and once it is deleted: after 30 days by default."""
    response_body: NotRequired[str | None]
    """The first 4 KB of the response’s body, as text, if the request has `event_id`. A longer one ends with `… (cut)`."""

AttemptTrigger: TypeAlias = 'Literal["scheduled", "resend", "replay", "probe"]'
"""Why it was made. `scheduled`: by the retry schedule. `resend`: you asked for it. `replay`: our staff did. `probe`: to test whether a paused endpoint works again."""


class BlockingWebhook(TypedDict):
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    sequence: int
    """Counts the lead’s webhooks from 1; it does not count other events."""


class Certification(TypedDict):
    url: str
    """The URL that was certified."""
    state: Literal["running", "passed", "failed"]
    requested_at: Timestamp
    finished_at: Timestamp | None
    """`None` while it runs."""
    checks: list[CertificationCheck]
    """The checks that were made so far, in their order. After one without a response, the others are not made."""


class CertificationCheck(TypedDict):
    check: Literal["valid", "repeated", "unknown_type", "forged_signature", "old_timestamp", "changed_body"]
    """Which check it is."""
    result: Literal["passed", "failed", "not_judged"]
    """`not_judged`: the response says nothing about the check, such as a 404, or there was none. A certification passes when all checks have passed."""
    received: str
    """For people: what your endpoint responded."""
    duration_ms: int
    """How long the response took."""
    hint: str | None
    """What to change; `None` if the check passed."""


class CertifyEndpointRequest(TypedDict):
    accept_failures: NotRequired[bool]
    """In a sandbox: the URL takes effect even if checks fail; `False` by default."""


class CertifyEndpointResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: Endpoint


class Clock(TypedDict):
    lead_id: int
    """The lead: its `lead_id` in requests."""
    now: Timestamp
    """The lead’s time."""
    status: LeadStatus
    next: Due | None
    """What is due next on the lead’s clock; `None` if nothing is."""
    offset_seconds: int
    """How far the clock was advanced; 0 if it never was."""
    moving: bool
    """Whether advance-clock or a scenario moves it right now."""


class ClockAdvance(TypedDict):
    lead_id: int
    """The lead: its `lead_id` in requests."""
    now: Timestamp
    """The lead’s time."""
    status: LeadStatus
    next: Due | None
    """What is due next on the lead’s clock; `None` if nothing is."""
    happened: list[Happened]
    """What happened on the way, in the lead’s time."""
    stopped: NotRequired[Literal["endpoint_would_pause", "twenty_years_ahead"]]
    """The clock stopped early. `endpoint_would_pause`: in production, your endpoint would be paused now; repair it, or advance again to go on. `twenty_years_ahead`: it can go no further."""


class CloseLeadRequest(TypedDict):
    lead_id: int
    """The lead: the `lead_id` that create-lead returned."""
    reason: Literal["withdrew", "unreachable", "ineligible", "financed_elsewhere", "duplicate", "mistake", "other"]
    """Why. `withdrew`: the borrower withdrew. `unreachable`: the borrower cannot be reached. `ineligible`: the borrower does not qualify for the service. `financed_elsewhere`: the borrower got a loan elsewhere. `duplicate`: the borrower has another lead. `mistake`: the lead was created by mistake. `other`: another reason."""


class CloseLeadResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: Closing

CloseReason: TypeAlias = 'Literal["withdrew", "unreachable", "ineligible", "financed_elsewhere", "duplicate", "mistake", "other", "mortgage_ready", "canceled", "erased"] | str'
"""Why a lead is closed. `withdrew`: the borrower withdrew. `unreachable`: the borrower cannot be reached. `ineligible`: the borrower does not qualify for the service. `financed_elsewhere`: the borrower got a loan elsewhere. `duplicate`: the borrower has another lead. `mistake`: the lead was created by mistake. `other`: another reason. `mortgage_ready`: 30 days have passed since mortgage_ready. `canceled`: an operator canceled its workflow. `erased`: its personal data was erased. New ones may be added."""


class Closing(TypedDict):
    lead_id: int
    """The lead: its `lead_id` in requests."""
    reason: CloseReason
    """Why it was closed first."""
    closed_at: Timestamp
    """When it was closed."""


class CreateLeadRequest(TypedDict):
    first_name: str
    """Borrower’s first name; trimmed."""
    last_name: str
    """Borrower’s last name; trimmed."""
    email: str
    """Borrower’s email address; trimmed."""
    phone: str
    """Digits, hyphens, spaces and `+`, with at least one digit; trimmed."""
    partner_lead_id: NotRequired[str | None]
    """Your own identifier for the borrower, which we recommend: each webhook includes it, as it was when the event was recorded. `None`, the empty string and blanks count as absent."""
    fico_range: NotRequired[str | None]
    """The borrower’s FICO range when you referred them, `<low>-<high>` between 300 and 850: `500-549`, `550-579`, `580-619`, `620-659`. `None`, the empty string and blanks count as absent."""
    loan_officer_id: NotRequired[str | None]
    """The loan officer who handles the borrower. `None`, the empty string and blanks count as absent."""
    notes: NotRequired[str | None]
    """Why the application was declined. Returned by export-lead only. `None`, the empty string and blanks count as absent."""


class CreateLeadResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    message: str
    """For people. Do not parse it: it may change."""
    lead_id: int
    """The new lead: store it with your application."""
    partner_lead_id: NotRequired[str]
    """As you sent it; absent if you did not."""
    ignored_fields: NotRequired[list[str]]
    """Names of fields in your request that create-lead does not know, at most 20: their values are not stored. Absent if there are none."""
    duplicate_of: NotRequired[int]
    """Your newest open lead with the same `partner_lead_id` or email address: you may have referred this borrower twice. The new lead was created nevertheless; to keep only one, close the other with close-lead. Absent if there is none, or if both requests were concurrent."""


class Delivery(TypedDict):
    """One event on its way to your endpoint."""
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    event_name: EventName
    lead_id: int
    """The lead: its `lead_id` in requests."""
    lead_erased: bool
    """Whether the lead is erased: the webhook cannot be resent."""
    sequence: int
    """Counts the lead’s webhooks from 1; it does not count other events."""
    state: DeliveryState
    created_at: Timestamp
    next_attempt_at: Timestamp | None
    """`None` if it is held, settled, being attempted now, or waits for another one."""
    waits_for: BlockingWebhook | None
    """The lead’s first open webhook, if this one is sent after it."""
    settled_at: Timestamp | None
    fault: str | None
    """Why it cannot be sent now, if the error is on our side: it is sent once we have fixed that."""
    body: str
    """The body of the webhook: the bytes that every attempt signs and sends."""
    attempts: list[Attempt]
    """The latest 20, oldest first."""

DeliveryState: TypeAlias = 'Literal["pending", "delivered", "given_up", "canceled", "held"]'
"""`pending`: to be sent. `held`: pending, while your endpoint is paused. `delivered`: your endpoint accepted it. `given_up`: the retry schedule is used up while your endpoint accepted other webhooks; the lead’s next webhook is sent, and resend-webhook sends this one again. `canceled`: our staff canceled it, or the lead was erased."""


class Due(TypedDict):
    what: Literal["score_update", "retry", "end"]
    """`retry`: of the first open webhook. `end`: the lead is closed."""
    at: Timestamp


class Endpoint(TypedDict):
    """Where your webhooks are sent."""
    url: str | None
    """`None` if none is registered."""
    health: EndpointHealth
    reason: str
    """For people."""
    since: Timestamp
    """Since when `health` has had this value."""
    open_deliveries: int
    """Webhooks that are neither delivered, given up nor canceled."""
    last_success_at: Timestamp | None
    """When your endpoint last accepted a webhook."""
    last_error: EndpointError | None
    """The latest attempt that failed. It and `last_success_at` come from those of your latest 1,000 attempts that called the current URL; `None` if there is none."""
    next_attempt_at: Timestamp | None
    """When the next open webhook is due; `None` if no webhook waits, or while your endpoint is paused."""
    next_probe_at: Timestamp | None
    """When the service tries the endpoint again, if it paused it; otherwise `None`."""
    candidate: EndpointCandidate | None
    """The URL that replaces `url` once it is certified; `None` if there is none."""
    certification: Certification | None
    """The latest certification; `None` if none was requested, or its URL was replaced."""


class EndpointCandidate(TypedDict):
    url: str
    """The URL that you set."""
    requested_at: Timestamp


class EndpointCertification(TypedDict):
    type: Literal["endpoint.certification"]
    timestamp: str
    """ISO 8601."""
    data: EndpointCertificationData


class EndpointCertificationData(TypedDict):
    partner_id: int
    """Your account."""
    environment: Environment


class EndpointError(TypedDict):
    at: Timestamp
    status: int | None
    """The HTTP status of your endpoint; `None` if it did not respond."""
    error_code: str
    hint: str | None
    """What to do about it."""

EndpointHealth: TypeAlias = 'Literal["active", "failing", "paused"]'
"""`active`: it works. `failing`: webhooks are sent, and every recent attempt failed. `paused`: webhooks are held."""


class EndpointPing(TypedDict):
    type: Literal["endpoint.ping"]
    timestamp: str
    """ISO 8601."""
    data: EndpointPingData


class EndpointPingData(TypedDict):
    partner_id: int
    """Your account."""
    environment: Environment


class EndpointWithSecret(TypedDict):
    """The endpoint with its new secret."""
    url: str | None
    """`None` if none is registered."""
    health: EndpointHealth
    reason: str
    """For people."""
    since: Timestamp
    """Since when `health` has had this value."""
    open_deliveries: int
    """Webhooks that are neither delivered, given up nor canceled."""
    last_success_at: Timestamp | None
    """When your endpoint last accepted a webhook."""
    last_error: EndpointError | None
    """The latest attempt that failed. It and `last_success_at` come from those of your latest 1,000 attempts that called the current URL; `None` if there is none."""
    next_attempt_at: Timestamp | None
    """When the next open webhook is due; `None` if no webhook waits, or while your endpoint is paused."""
    next_probe_at: Timestamp | None
    """When the service tries the endpoint again, if it paused it; otherwise `None`."""
    candidate: EndpointCandidate | None
    """The URL that replaces `url` once it is certified; `None` if there is none."""
    certification: Certification | None
    """The latest certification; `None` if none was requested, or its URL was replaced."""
    secret: str
    """The new signing secret. Store it now: it is not shown again."""

Environment: TypeAlias = 'Literal["sandbox", "production"]'


class EraseLeadRequest(TypedDict):
    lead_id: int
    """The lead: the `lead_id` that create-lead returned."""
    reason: NotRequired[Literal["borrower_request", "no_consent", "not_needed", "legal_obligation", "mistake", "other"] | None]
    """Why. `borrower_request`: the borrower asked for it. `no_consent`: the borrower does not agree to the referral. `not_needed`: the data is no longer needed. `legal_obligation`: a law or an authority requires it. `mistake`: the lead was created by mistake, or with wrong data. `other`: another reason."""


class EraseLeadResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: Erasure


class Erasure(TypedDict):
    lead_id: int
    """The lead: its `lead_id` in requests."""
    erased_at: Timestamp

ErrorCode: TypeAlias = 'Literal["INVALID_PAYLOAD", "AUTH_FAILED", "HTTPS_REQUIRED", "NOT_FOUND", "METHOD_NOT_ALLOWED", "NO_ENDPOINT", "NO_CANDIDATE", "PAUSED_BY_STAFF", "SECRET_REPLACED", "LEAD_CLOSED", "LEAD_HELD", "LEAD_FULL", "CLOCK_MOVING", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "IDEMPOTENCY_CONFLICT", "RATE_LIMITED", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"] | str'
"""Which error it is. New ones may be added: decide by the HTTP status then.

- `INVALID_PAYLOAD` (400)
- `AUTH_FAILED` (401)
- `HTTPS_REQUIRED` (403)
- `NOT_FOUND` (404)
- `METHOD_NOT_ALLOWED` (405)
- `NO_ENDPOINT` (409)
- `NO_CANDIDATE` (409)
- `PAUSED_BY_STAFF` (409)
- `SECRET_REPLACED` (409)
- `LEAD_CLOSED` (409)
- `LEAD_HELD` (409)
- `LEAD_FULL` (409)
- `CLOCK_MOVING` (409)
- `PAYLOAD_TOO_LARGE` (413)
- `UNSUPPORTED_MEDIA_TYPE` (415)
- `IDEMPOTENCY_CONFLICT` (422)
- `RATE_LIMITED` (429)
- `INTERNAL_ERROR` (500)
- `SERVICE_UNAVAILABLE` (503)
"""

Event: TypeAlias = 'LeadReceivedEvent | ScoreUpdateEvent | MilestoneEvent | OtherEvent'

EventName: TypeAlias = 'Literal["lead_received", "client_account_created", "credit_scan_completed", "client_engaged_in_chat", "contract_signed", "escrow_funded", "score_update", "mortgage_ready"] | str'
"""A milestone. New ones may be added.

- `lead_received`: lead was created
- `client_account_created`: borrower logged in and completed onboarding
- `credit_scan_completed`: borrower completed credit scan
- `client_engaged_in_chat`: borrower sent messages in chat
- `contract_signed`: borrower signed the service contract
- `escrow_funded`: borrower funded the escrow account
- `score_update`: credit score update including per-bureau gains
- `mortgage_ready`: borrower meets credit criteria and is ready to return to the lender
"""


class EventToSimulate(TypedDict):
    event_name: SimulatedEventName
    event_payload: NotRequired[ScoreGains | None]
    """For `score_update` only. Without it, the sandbox makes up gains."""


class ExportLeadRequest(TypedDict):
    lead_id: int
    """The lead: the `lead_id` that create-lead returned."""


class ExportLeadResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: ExportedLead


class ExportedLead(TypedDict):
    about: StringMap
    """What each other part contains."""
    exported_at: Timestamp


class Failure(TypedDict):
    """The body of every error response."""
    success: Literal[False]
    error: dict[str, Any]

FeedEvent: TypeAlias = 'LeadReceivedFeedEvent | ScoreUpdateFeedEvent | MilestoneFeedEvent | LeadClosedFeedEvent | OtherFeedEvent'


class FieldProblem(TypedDict):
    """A field of the request that is wrong."""
    field: str
    """Its path as you sent it, such as `event_payload.experian_gain`, or the name of a header."""
    problem: str
    """For people: what the field must be. It repeats nothing that you sent except a character that is not allowed."""


class GetClockRequest(TypedDict):
    lead_id: int
    """The lead: the `lead_id` that create-lead returned."""


class GetClockResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: Clock


class GetDeliveriesRequest(TypedDict):
    """All fields are optional."""
    event_id: NotRequired[str]
    """Only this webhook, with the bodies that your endpoint answered."""
    lead_id: NotRequired[int]
    """Only this lead’s deliveries; by default those of all leads."""
    states: NotRequired[list[DeliveryState]]
    """`pending` includes `held`: open deliveries to a paused endpoint."""
    after: NotRequired[str | None]
    """The `next` of the previous response: only older deliveries. `None` is the first page."""
    limit: NotRequired[int]
    """Maximum number of results; 50 by default."""


class GetDeliveriesResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: list[Delivery]
    """Newest first."""
    next: str | None
    """The next page’s `after`; `None` on the last page."""


class GetEndpointRequest(TypedDict):
    """Empty."""
    pass


class GetEndpointResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: Endpoint


class GetEventsRequest(TypedDict):
    lead_id: int
    """The lead: the `lead_id` that create-lead returned."""


class GetEventsResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: list[Event]
    """The complete history, oldest first."""


class GetLeadRequest(TypedDict):
    lead_id: int
    """The lead: the `lead_id` that create-lead returned."""


class GetLeadResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: Lead
    closing: NotRequired[LeadClosing]


class GetSinkRequest(TypedDict):
    """Empty."""
    pass


class GetSinkResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: Sink

Happened: TypeAlias = 'HappenedEvent | HappenedWebhook | HappenedEnd'


class HappenedEnd(TypedDict):
    """The lead was closed."""
    what: Literal["end"]
    at: Timestamp


class HappenedEvent(TypedDict):
    """An event was recorded."""
    what: Literal["event"]
    at: Timestamp
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    event_name: EventName
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""


class HappenedWebhook(TypedDict):
    """Your endpoint was called."""
    what: Literal["webhook"]
    at: Timestamp
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    event_name: EventName
    sequence: int
    """Counts the lead’s webhooks from 1; it does not count other events."""
    attempt: int
    """Counts the requests with this `webhook-id` from 1."""
    status: int | None
    """The HTTP status of your endpoint; `None` if it did not respond."""
    error_code: str | None
    """What went wrong, for example `http_error`, `timeout` or `connection_refused`; `None` if nothing did. New ones may be added."""


class Lead(TypedDict):
    """The lead’s own fields, and its metadata beside them. Metadata values are strings."""
    id: int
    """The lead: its `lead_id` in requests."""
    lead_id: int
    """The same as `id`."""
    partner_id: int
    """Your account."""
    first_name: str
    """Borrower’s first name."""
    last_name: str
    """Borrower’s last name."""
    email: str
    """Borrower’s email address."""
    phone: str
    """Borrower’s phone number, as you sent it."""
    status: LeadStatus
    partner_lead_id: NotRequired[str]
    """Your own identifier for the borrower, which we recommend: each webhook includes it, as it was when the event was recorded."""
    fico_range: NotRequired[str]
    """The borrower’s FICO range when you referred them, `<low>-<high>` between 300 and 850: `500-549`, `550-579`, `580-619`, `620-659`."""
    loan_officer_id: NotRequired[str]
    """The loan officer who handles the borrower."""
    created_at: Timestamp
    updated_at: Timestamp
    loan_product: NotRequired[str]
    """Type of loan product, as you sent it."""
    property_state: NotRequired[str]
    """Two-letter state code of the property."""


class LeadClosedFeedEvent(TypedDict):
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    event_name: Literal["lead.closed"]
    """What happened."""
    event_payload: LeadClosedPayload
    created_at: Timestamp
    """When it happened."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """Your own identifier for the borrower; `None` if you sent none."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""
    cursor: str
    """Send it as `after` to continue after this event, in the middle of a page."""
    webhook_body: NotRequired[str | None]
    """The body of its webhook, byte for byte, if the request has `webhooks`; `None` for an event that is not sent."""


class LeadClosedPayload(TypedDict):
    """Why it was closed."""
    reason: CloseReason


class LeadClosing(TypedDict):
    """Present if the lead is closed."""
    at: Timestamp
    """When the lead was closed: 30 days after `mortgage_ready`, by your close-lead, or by our staff, for example because the borrower dropped out. From then on no milestones are recorded. Closing is not a milestone: list-events has it, get-events does not."""
    reason: CloseReason


class LeadReceivedEvent(TypedDict):
    event_name: Literal["lead_received"]
    """The milestone."""
    event_payload: LeadReceivedPayload | None
    created_at: Timestamp
    """When it happened."""


class LeadReceivedFeedEvent(TypedDict):
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    event_name: Literal["lead_received"]
    """The milestone."""
    event_payload: LeadReceivedPayload | None
    created_at: Timestamp
    """When it happened."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """Your own identifier for the borrower; `None` if you sent none."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""
    cursor: str
    """Send it as `after` to continue after this event, in the middle of a page."""
    webhook_body: NotRequired[str | None]
    """The body of its webhook, byte for byte, if the request has `webhooks`; `None` for an event that is not sent."""


class LeadReceivedPayload(TypedDict):
    """Your own identifier, as you sent it with create-lead."""
    partner_lead_id: str
    """Your own identifier for the borrower, which we recommend: each webhook includes it, as it was when the event was recorded."""


class LeadReceivedWebhook(TypedDict):
    type: Literal["lead_received"]
    """The milestone."""
    timestamp: str
    """ISO 8601."""
    data: LeadReceivedWebhookData


class LeadReceivedWebhookData(TypedDict):
    event_id: str
    """The same as the header `webhook-id`."""
    event_name: Literal["lead_received"]
    """The milestone."""
    event_payload: LeadReceivedPayload | None
    created_at: Timestamp
    """When it happened."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """As it was when the event was recorded."""
    sequence: int
    """Counts the lead’s webhooks from 1; it does not count other events."""
    environment: Environment

LeadStatus: TypeAlias = 'Literal["lead_received", "client_account_created", "credit_scan_completed", "contract_signed", "escrow_funded", "score_update", "mortgage_ready"] | str'
"""The furthest milestone reached. New ones may be added."""


class LeadSummary(TypedDict):
    """A lead without personal data."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """Your own identifier for the borrower; `None` if you sent none."""
    status: LeadStatus
    closed: bool
    """Whether the lead is closed: no more milestones are recorded."""
    closed_at: Timestamp | None
    """When the lead was closed: 30 days after `mortgage_ready`, by your close-lead, or by our staff, for example because the borrower dropped out. From then on no milestones are recorded. Closing is not a milestone: list-events has it, get-events does not. `None` while the lead is open."""
    delivery: Literal["ok", "failing", "held"]
    """Whether its webhooks are sent: `failing` if the first open one fails, `held` while your endpoint is paused."""
    open_deliveries: int
    """How many of its webhooks are pending or held."""
    created_at: Timestamp
    updated_at: Timestamp


class ListEventsRequest(TypedDict):
    """All fields are optional."""
    after: NotRequired[str | None]
    """The `next` of the previous response; without it or with `None`, from the first event on. `now` skips all past events."""
    limit: NotRequired[int]
    """Maximum number of results; 50 by default."""
    wait: NotRequired[int]
    """If there are no events yet, for how many seconds to wait for some; 0 by default. Two requests of a key can wait at a time."""
    webhooks: NotRequired[bool]
    """`True`: each event has `webhook_body`."""


class ListEventsResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: list[FeedEvent]
    """In commit order; those of one lead in the order of its history."""
    next: str
    """Send it as `after` in the next request."""
    has_more: bool
    """Whether there are more events now: ask again at once."""


class ListLeadsRequest(TypedDict):
    """All fields are optional."""
    limit: NotRequired[int]
    """Maximum number of results; 50 by default."""
    after: NotRequired[int | None]
    """The `next` of the previous response: only older leads. `None` is the first page."""
    status: NotRequired[Literal["lead_received", "client_account_created", "credit_scan_completed", "contract_signed", "escrow_funded", "score_update", "mortgage_ready"]]
    """Only leads with this status."""
    partner_lead_id: NotRequired[str]
    """Only leads with this identifier of yours."""
    partner_lead_id_prefix: NotRequired[str]
    """Only leads whose identifier of yours begins with this."""
    closed: NotRequired[bool]
    """`True`: only closed leads. `False`: only open ones."""
    delivery: NotRequired[Literal["failing", "held"]]
    """Only leads whose webhooks fail, or are held because your endpoint is paused."""


class ListLeadsResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: list[LeadSummary]
    """Newest first."""
    next: int | None
    """The next page’s `after`; `None` on the last page."""


class ListScenariosResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: list[Scenario]


class MilestoneEvent(TypedDict):
    event_name: MilestoneEventName
    event_payload: None
    """These milestones have none."""
    created_at: Timestamp
    """When it happened."""

MilestoneEventName: TypeAlias = 'Literal["client_account_created", "credit_scan_completed", "client_engaged_in_chat", "contract_signed", "escrow_funded", "mortgage_ready"]'
"""A milestone without a payload."""


class MilestoneFeedEvent(TypedDict):
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    event_name: MilestoneEventName
    event_payload: None
    """These milestones have none."""
    created_at: Timestamp
    """When it happened."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """Your own identifier for the borrower; `None` if you sent none."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""
    cursor: str
    """Send it as `after` to continue after this event, in the middle of a page."""
    webhook_body: NotRequired[str | None]
    """The body of its webhook, byte for byte, if the request has `webhooks`; `None` for an event that is not sent."""


class MilestoneWebhook(TypedDict):
    type: MilestoneWebhookType
    timestamp: str
    """ISO 8601."""
    data: MilestoneWebhookData


class MilestoneWebhookData(TypedDict):
    event_id: str
    """The same as the header `webhook-id`."""
    event_name: MilestoneWebhookType
    event_payload: None
    """These milestones have none."""
    created_at: Timestamp
    """When it happened."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """As it was when the event was recorded."""
    sequence: int
    """Counts the lead’s webhooks from 1; it does not count other events."""
    environment: Environment

MilestoneWebhookType: TypeAlias = 'Literal["client_account_created", "credit_scan_completed", "contract_signed", "escrow_funded", "mortgage_ready"]'
"""A milestone without a payload."""


class OtherEvent(TypedDict):
    event_name: OtherName
    """A name that was added later."""
    event_payload: dict[str, Any] | None
    created_at: Timestamp
    """When it happened."""


class OtherFeedEvent(TypedDict):
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    event_name: OtherName
    """A name that was added later."""
    event_payload: dict[str, Any] | None
    created_at: Timestamp
    """When it happened."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """Your own identifier for the borrower; `None` if you sent none."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""
    cursor: str
    """Send it as `after` to continue after this event, in the middle of a page."""
    webhook_body: NotRequired[str | None]
    """The body of its webhook, byte for byte, if the request has `webhooks`; `None` for an event that is not sent."""


class OtherWebhook(TypedDict):
    type: OtherName
    """A name that was added later."""
    timestamp: str
    """ISO 8601."""
    data: dict[str, Any]


class PauseEndpointRequest(TypedDict):
    """Empty."""
    pass


class PauseEndpointResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: Endpoint


class PingResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    message: str
    """For people. Do not parse it: it may change."""
    environment: Environment
    time: Timestamp


class ResendWebhookRequest(TypedDict):
    event_id: str
    """As get-deliveries shows it; the `webhook-id` of the webhook."""


class ResendWebhookResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    message: str
    """For people. Do not parse it: it may change."""


class ResumeEndpointRequest(TypedDict):
    """Empty."""
    pass


class ResumeEndpointResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: Endpoint


class RotateEndpointSecretRequest(TypedDict):
    overlap_hours: NotRequired[int]
    """For how many hours the previous secret also signs; 24 by default."""


class RotateEndpointSecretResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: EndpointWithSecret


class RunScenarioRequest(TypedDict):
    scenario: ScenarioName
    lead_id: NotRequired[int]
    """By default a new lead."""


class RunScenarioResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: ScenarioRun


class Scenario(TypedDict):
    scenario: ScenarioName
    about: str
    """For people."""

ScenarioName: TypeAlias = 'Literal["mortgage_ready_in_a_year", "ready_after_two_updates", "stalled_before_escrow", "scores_go_down", "chatty_borrower", "dropped_out"]'


class ScenarioRun(TypedDict):
    lead_id: int
    """The lead: its `lead_id` in requests."""
    now: Timestamp
    """The lead’s time."""
    status: LeadStatus
    next: Due | None
    """What is due next on the lead’s clock; `None` if nothing is."""
    scenario: ScenarioName
    state: Literal["done", "running", "stopped", "closed"]
    """`running`: it continues on its own. `stopped`: your endpoint has refused webhooks for so long that production would pause it, the lead’s clock is 20 years ahead, or the lead has 1,000 events. `closed`: the lead was closed on the way, or our staff ended the scenario."""


class ScoreGains(TypedDict):
    """The points that each bureau’s score has gained since the `score_update` before, or, the first time, since the journey began; negative if it fell."""
    experian_gain: int
    """The change of the Experian score in points; negative if it fell."""
    equifax_gain: int
    """The change of the Equifax score in points; negative if it fell."""
    transunion_gain: int
    """The change of the TransUnion score in points; negative if it fell."""
    estimated_time_remaining: str
    """In how many days the borrower will probably be mortgage-ready, as a range: `<min>-<max> days`."""


class ScoreUpdateEvent(TypedDict):
    event_name: Literal["score_update"]
    """The milestone."""
    event_payload: ScoreGains
    created_at: Timestamp
    """When it happened."""


class ScoreUpdateFeedEvent(TypedDict):
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    event_name: Literal["score_update"]
    """The milestone."""
    event_payload: ScoreGains
    created_at: Timestamp
    """When it happened."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """Your own identifier for the borrower; `None` if you sent none."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""
    cursor: str
    """Send it as `after` to continue after this event, in the middle of a page."""
    webhook_body: NotRequired[str | None]
    """The body of its webhook, byte for byte, if the request has `webhooks`; `None` for an event that is not sent."""


class ScoreUpdateWebhook(TypedDict):
    type: Literal["score_update"]
    """The milestone."""
    timestamp: str
    """ISO 8601."""
    data: ScoreUpdateWebhookData


class ScoreUpdateWebhookData(TypedDict):
    event_id: str
    """The same as the header `webhook-id`."""
    event_name: Literal["score_update"]
    """The milestone."""
    event_payload: ScoreGains
    created_at: Timestamp
    """When it happened."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """As it was when the event was recorded."""
    sequence: int
    """Counts the lead’s webhooks from 1; it does not count other events."""
    environment: Environment


class SetEndpointRequest(TypedDict):
    url: str
    """In production `https`, on port 443 or 8443, at a public address. No user name, password or fragment."""


class SetEndpointResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: EndpointWithSecret


class SetSinkRequest(TypedDict):
    status: NotRequired[int]
    """The HTTP status that it answers with; 200 by default."""
    times: NotRequired[int | None]
    """How many webhooks get this answer before it is 200 again. `None`, the default: all."""
    delay_ms: NotRequired[int]
    """How long it waits before it answers; 0 by default. Our time limit for an attempt is 15 seconds."""


class SetSinkResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    message: str
    """For people. Do not parse it: it may change."""

SignatureHeaders: TypeAlias = 'dict[str, Any]'


class SimulateEventRequest(TypedDict):
    lead_id: int
    """The lead: the `lead_id` that create-lead returned."""
    event_name: NotRequired[SimulatedEventName]
    event_payload: NotRequired[ScoreGains | None]
    """For `score_update` only. Without it, the sandbox makes up gains."""
    events: NotRequired[list[EventToSimulate]]
    """Several milestones, recorded in this order."""


class SimulateEventResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: Simulation


class SimulatedEvent(TypedDict):
    event_name: EventName
    event_payload: ScoreGains | LeadReceivedPayload | LeadClosedPayload | None
    created_at: Timestamp
    """When it happened."""
    recorded: bool
    """`False` if the lead has this event already; the other fields are that event’s."""
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""

SimulatedEventName: TypeAlias = 'Literal["client_account_created", "credit_scan_completed", "client_engaged_in_chat", "contract_signed", "escrow_funded", "score_update", "mortgage_ready"]'


class Simulation(TypedDict):
    lead_id: int
    """The lead: its `lead_id` in requests."""
    now: Timestamp
    """The lead’s time."""
    status: LeadStatus
    next: Due | None
    """What is due next on the lead’s clock; `None` if nothing is."""
    events: list[SimulatedEvent]
    """In the order of the request."""


class Sink(TypedDict):
    url: str
    """Where your webhooks go, until you set an endpoint of your own."""
    status: int
    """The HTTP status that it answers with."""
    times: int | None
    """For how many more webhooks it answers `status`; `None` for all."""
    delay_ms: int
    """How long it waits before it answers."""
    webhooks: list[SinkWebhook]
    """The last 100, newest first."""


class SinkWebhook(TypedDict):
    webhook_id: str
    """The header `webhook-id`: the event’s id."""
    received_at: Timestamp
    verified: bool
    """Whether its signature is valid."""
    problem: str | None
    """Why it is not valid."""
    status: int
    """What the sink answered."""
    headers: StringMap
    body: str
    """The bytes that were signed."""
    event: Any
    """The body, parsed; `None` if its signature is not valid."""

StringMap: TypeAlias = 'dict[str, str]'
"""Texts by their names."""


class TestEndpointRequest(TypedDict):
    """Empty."""
    pass


class TestEndpointResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: TestRequest


class TestRequest(TypedDict):
    accepted: bool
    """Whether your endpoint responded with a 2xx status."""
    webhook_id: str
    """The header `webhook-id`."""
    status: int | None
    """The HTTP status of your endpoint; `None` if it did not respond."""
    duration_ms: int
    """How long the response took."""
    error_code: str | None
    """What went wrong, for example `http_error`, `timeout` or `connection_refused`; `None` if nothing did. New ones may be added."""
    hint: str | None
    """What to do about a failure."""

Timestamp: TypeAlias = 'str'
"""`YYYY-MM-DD HH:MM:SS` in UTC, without a zone: append `Z` before you parse it."""


class UpdatePartnerInfoRequest(TypedDict):
    lead_id: int
    """The lead: the `lead_id` that create-lead returned."""
    loan_product: NotRequired[str | None]
    """Type of loan product, for example FHA, VA or Conventional; `None` removes it."""
    property_state: NotRequired[str | None]
    """Two-letter state code of the property, stored in upper case, trimmed; `None` removes it."""
    partner_lead_id: NotRequired[str | None]
    """Your own identifier for the borrower, which we recommend: each webhook includes it, as it was when the event was recorded. `None`, the empty string and blanks remove it."""
    fico_range: NotRequired[str | None]
    """The borrower’s FICO range when you referred them, `<low>-<high>` between 300 and 850: `500-549`, `550-579`, `580-619`, `620-659`. `None`, the empty string and blanks remove it."""
    loan_officer_id: NotRequired[str | None]
    """The loan officer who handles the borrower. `None`, the empty string and blanks remove it."""


class UpdatePartnerInfoResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    message: str
    """For people. Do not parse it: it may change."""


class UseSinkRequest(TypedDict):
    """Empty."""
    pass


class UseSinkResponse(TypedDict):
    success: Literal[True]
    """`True` in every response except errors."""
    data: Endpoint

WebhookEvent: TypeAlias = 'LeadReceivedWebhook | ScoreUpdateWebhook | MilestoneWebhook | EndpointPing | EndpointCertification | OtherWebhook'
"""Any request to your endpoint. Accept and ignore a `type` that you do not know: new ones may be added."""
