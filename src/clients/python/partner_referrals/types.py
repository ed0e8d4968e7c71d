# Generated from docs/openapi.json by npm run clients. Do not edit.
"""What the API takes and answers, as its reference at `/docs` describes it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Callable, Literal, TypeAlias, TypedDict

from ._names import OtherName, Placed

API_VERSION = "1.0.0"
"""The version of the API that this client was made for."""

AttemptTrigger: TypeAlias = Literal["scheduled", "resend", "replay", "probe"]
"""Why it was made. `scheduled`: by the retry schedule. `resend`: you asked for it. `replay`: our staff did. `probe`: to test whether a paused endpoint works again."""

CloseReason: TypeAlias = (
    Literal["withdrew", "unreachable", "ineligible", "financed_elsewhere", "duplicate", "mistake", "other", "mortgage_ready", "canceled", "erased"]
    | str
)
"""Why a lead is closed. `withdrew`: the borrower withdrew. `unreachable`: the borrower cannot be reached. `ineligible`: the borrower does not qualify for the service. `financed_elsewhere`: the borrower got a loan elsewhere. `duplicate`: the borrower has another lead. `mistake`: the lead was created by mistake. `other`: another reason. `mortgage_ready`: 30 days have passed since mortgage_ready. `canceled`: an operator canceled its workflow. `erased`: its personal data was erased. New ones may be added."""

DeliveryState: TypeAlias = Literal["pending", "delivered", "given_up", "canceled", "held"]
"""`pending`: to be sent. `held`: pending, while your endpoint is paused. `delivered`: your endpoint accepted it. `given_up`: the retry schedule is used up while your endpoint accepted other webhooks; the lead’s next webhook is sent, and resend-webhook sends this one again. `canceled`: our staff left it out."""

EndpointHealth: TypeAlias = Literal["active", "failing", "paused", "draining"]
"""`active`: it works. `failing`: webhooks are sent, and every recent attempt failed. `paused`: webhooks are held. `draining`: held webhooks are being sent."""

Environment: TypeAlias = Literal["sandbox", "production"]

EventName: TypeAlias = (
    Literal["lead_received", "client_account_created", "credit_scan_completed", "client_engaged_in_chat", "contract_signed", "escrow_funded", "score_update", "mortgage_ready"]
    | str
)
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

LeadStatus: TypeAlias = (
    Literal["lead_received", "client_account_created", "credit_scan_completed", "contract_signed", "escrow_funded", "score_update", "mortgage_ready"]
    | str
)
"""The furthest milestone reached. New ones may be added."""

MilestoneEventName: TypeAlias = (
    Literal["client_account_created", "credit_scan_completed", "client_engaged_in_chat", "contract_signed", "escrow_funded", "mortgage_ready"]
)
"""A milestone without a payload."""

MilestoneWebhookType: TypeAlias = (
    Literal["client_account_created", "credit_scan_completed", "contract_signed", "escrow_funded", "mortgage_ready"]
)
"""A milestone without a payload."""

OnboardingEmailRefusal: TypeAlias = Literal["address_limit"]

ScenarioName: TypeAlias = (
    Literal["mortgage_ready_in_a_year", "ready_after_two_updates", "stalled_before_escrow", "scores_go_down", "chatty_borrower", "dropped_out"]
)

SignatureHeaders: TypeAlias = dict[str, str]

StringMap: TypeAlias = dict[str, str]
"""Texts by their names."""

SimulatedEventName: TypeAlias = (
    Literal["client_account_created", "credit_scan_completed", "client_engaged_in_chat", "contract_signed", "escrow_funded", "score_update", "mortgage_ready"]
)

ListLeadsStatus: TypeAlias = (
    Literal["lead_received", "client_account_created", "credit_scan_completed", "contract_signed", "escrow_funded", "score_update", "mortgage_ready"]
)
"""Only leads with this status."""

ListLeadsDelivery: TypeAlias = Literal["failing", "held"]
"""Only leads whose webhooks fail, or are held because your endpoint is paused."""

CloseLeadReason: TypeAlias = (
    Literal["withdrew", "unreachable", "ineligible", "financed_elsewhere", "duplicate", "mistake", "other"]
)
"""Why. `withdrew`: the borrower withdrew. `unreachable`: the borrower cannot be reached. `ineligible`: the borrower does not qualify for the service. `financed_elsewhere`: the borrower got a loan elsewhere. `duplicate`: the borrower has another lead. `mistake`: the lead was created by mistake. `other`: another reason."""

EraseLeadReason: TypeAlias = Literal["borrower_request", "no_consent", "not_needed", "legal_obligation", "mistake", "other"]

AdvanceClockTo: TypeAlias = Literal["next_score_update", "next_retry", "end"]
"""Instead of `days`: until the next score update, the next retry of a webhook that failed, or the end of the lead, 30 days after mortgage_ready."""

SetSinkFault: TypeAlias = Literal["resets", "answers_half", "answers_slowly"]


@dataclass(frozen=True, kw_only=True)
class AdvanceClockResponse:
    data: ClockAdvance


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One HTTP request to your endpoint."""
    number: int
    """Counts the requests with this `webhook-id` from 1."""
    trigger: AttemptTrigger
    url: str
    """The URL that was called."""
    started_at: datetime
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
    """What your endpoint answered, up to 2 KB and without headers that may hold credentials. `None` if it did not respond, and once it is deleted: after 30 days by default."""
    response_body: str | None = None
    """The first 4 KB of it, as text, if the request has `event_id`. A longer one ends with `… (cut)`."""


@dataclass(frozen=True, kw_only=True)
class BlockingWebhook:
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    sequence: int
    """Counts the lead’s webhooks from 1; it does not count other events."""


@dataclass(frozen=True, kw_only=True)
class Certification:
    url: str
    """The URL that was certified."""
    state: Literal["running", "passed", "failed"]
    requested_at: datetime
    finished_at: datetime | None
    """`None` while it runs."""
    checks: list[CertificationCheck]
    """The checks that were made so far, in their order."""


@dataclass(frozen=True, kw_only=True)
class CertificationCheck:
    check: Literal["valid", "repeated", "unknown_type", "forged_signature", "old_timestamp", "changed_body"]
    """Which check it is."""
    sent: str
    """For people: what we sent."""
    result: Literal["passed", "failed", "not_judged"]
    """`not_judged`: the response says nothing about the check, such as a 404, or none came. A certification passes when all checks have passed."""
    expected: str
    """For people: what your endpoint must respond."""
    received: str
    """For people: what it responded."""
    duration_ms: int | None
    """How long the response took; `None` if the check was not sent."""
    hint: str | None
    """What to change; `None` if the check passed."""


@dataclass(frozen=True, kw_only=True)
class CertifyEndpointResponse:
    data: Endpoint


@dataclass(frozen=True, kw_only=True)
class Clock:
    lead_id: int
    """The lead: its `lead_id` in requests."""
    now: datetime
    """The lead’s time."""
    offset_seconds: int
    """How far the clock was advanced; 0 if it never was."""
    moving: bool
    """Whether advance-clock or a scenario moves it right now."""
    status: LeadStatus
    next: Due | None
    """What is due next on the lead’s clock; `None` for nothing."""


@dataclass(frozen=True, kw_only=True)
class ClockAdvance:
    lead_id: int
    """The lead: its `lead_id` in requests."""
    now: datetime
    """The lead’s time."""
    status: Literal["lead_received", "client_account_created", "credit_scan_completed", "contract_signed", "escrow_funded", "score_update", "mortgage_ready", "advancing"]
    """The furthest milestone reached, or `advancing` while the clock is moving."""
    happened: list[Happened]
    """What happened on the way, in the lead’s time; while `advancing`, without the attempts that repeat an earlier one."""
    stopped: Literal["endpoint_would_pause"] | None = None
    """The clock stopped early: in production, your endpoint would be paused now. Repair it, or advance again to go on."""
    next: Due | None
    """What is due next on the lead’s clock; `None` for nothing."""


@dataclass(frozen=True, kw_only=True)
class CloseLeadResponse:
    data: Closing


@dataclass(frozen=True, kw_only=True)
class Closing:
    lead_id: int
    """The lead: its `lead_id` in requests."""
    reason: CloseReason
    """Why it was closed first."""
    closed_at: datetime
    """When it was closed."""


@dataclass(frozen=True, kw_only=True)
class CreateLeadResponse:
    message: str
    """For people. Do not parse it: it may change."""
    lead_id: int
    """The new lead: store it with your application."""
    partner_lead_id: str | None = None
    """As you sent it; absent if you did not."""
    ignored_fields: list[str] | None = None
    """Names of fields in your request that create-lead does not know, at most 20: what they hold is not stored. Absent if there are none."""
    duplicate_of: int | None = None
    """An open lead of yours that has the same `partner_lead_id` or the same email address, the newest: you may have referred this borrower twice. The lead was created all the same; to keep one, close the other with close-lead. Absent if there is none, and of two requests at the same moment."""


@dataclass(frozen=True, kw_only=True)
class Delivery:
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
    created_at: datetime
    next_attempt_at: datetime | None
    """`None` if it is held, settled, being attempted now, or waits for another one."""
    waits_for: BlockingWebhook | None
    """The lead’s first open webhook, if this one is sent after it."""
    settled_at: datetime | None
    fault: str | None
    """Why it cannot be sent at the moment, if that is a fault on our side: it is sent once we have mended that."""
    body: str
    """The body of the webhook: the bytes that every attempt signs and sends."""
    attempts: list[Attempt]
    """The latest 20, oldest first."""


@dataclass(frozen=True, kw_only=True)
class Due:
    what: Literal["score_update", "retry", "end"]
    """`retry`: of the first open webhook. `end`: the lead is closed."""
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where your webhooks are sent."""
    url: str | None
    """`None` if none is registered."""
    health: EndpointHealth
    reason: str
    """For people."""
    since: datetime
    """Since when `health` is what it is."""
    open_deliveries: int
    """How many webhooks are not settled: neither delivered, given up nor canceled."""
    recent_attempts: RecentAttempts
    """The latest 1,000 attempts, as far as they called the current URL: retries, resends and probes too, but none that is in progress."""
    last_success_at: datetime | None
    """When your endpoint last accepted a webhook."""
    last_error: EndpointError | None
    """The latest attempt that failed. Both are about `recent_attempts`, and `None` if there is none."""
    oldest_waiting: OldestWaiting | None
    """The open delivery that has waited longest; `None` if there is none."""
    next_attempt_at: datetime | None
    """When the next open webhook is due; `None` if none is open and not being attempted now, or while your endpoint is paused."""
    next_probe_at: datetime | None
    """When the service tries the endpoint again, if it paused it; otherwise `None`."""
    candidate: EndpointCandidate | None
    """The URL that is to take the place of `url`; `None` if there is none."""
    certification: Certification | None
    """The latest certification; `None` if none was requested, or the URL that it is about has been replaced."""


@dataclass(frozen=True, kw_only=True)
class EndpointCandidate:
    url: str
    """The URL that set-endpoint got."""
    requested_at: datetime


@dataclass(frozen=True, kw_only=True)
class EndpointCertification:
    type: Literal["endpoint.certification"]
    """What the request is."""
    timestamp: datetime
    """ISO 8601."""
    data: EndpointCertificationData


@dataclass(frozen=True, kw_only=True)
class EndpointCertificationData:
    partner_id: int
    """Your account."""
    environment: Environment


@dataclass(frozen=True, kw_only=True)
class EndpointError:
    at: datetime
    status: int | None
    """The HTTP status of your endpoint; `None` if it did not respond."""
    error_code: str
    hint: str | None
    """What to do about it."""


@dataclass(frozen=True, kw_only=True)
class EndpointPing:
    type: Literal["endpoint.ping"]
    """What the request is."""
    timestamp: datetime
    """ISO 8601."""
    data: EndpointPingData


@dataclass(frozen=True, kw_only=True)
class EndpointPingData:
    partner_id: int
    """Your account."""
    environment: Environment


@dataclass(frozen=True, kw_only=True)
class EndpointWithSecret:
    """The endpoint, with the secret that was just made."""
    url: str | None
    """`None` if none is registered."""
    health: EndpointHealth
    reason: str
    """For people."""
    since: datetime
    """Since when `health` is what it is."""
    open_deliveries: int
    """How many webhooks are not settled: neither delivered, given up nor canceled."""
    recent_attempts: RecentAttempts
    """The latest 1,000 attempts, as far as they called the current URL: retries, resends and probes too, but none that is in progress."""
    last_success_at: datetime | None
    """When your endpoint last accepted a webhook."""
    last_error: EndpointError | None
    """The latest attempt that failed. Both are about `recent_attempts`, and `None` if there is none."""
    oldest_waiting: OldestWaiting | None
    """The open delivery that has waited longest; `None` if there is none."""
    next_attempt_at: datetime | None
    """When the next open webhook is due; `None` if none is open and not being attempted now, or while your endpoint is paused."""
    next_probe_at: datetime | None
    """When the service tries the endpoint again, if it paused it; otherwise `None`."""
    candidate: EndpointCandidate | None
    """The URL that is to take the place of `url`; `None` if there is none."""
    certification: Certification | None
    """The latest certification; `None` if none was requested, or the URL that it is about has been replaced."""
    secret: str
    """The new signing secret. Store it now: it is not shown again."""


@dataclass(frozen=True, kw_only=True)
class EraseLeadResponse:
    data: Erasure


@dataclass(frozen=True, kw_only=True)
class Erasure:
    lead_id: int
    """The lead: its `lead_id` in requests."""
    erased_at: datetime


@dataclass(frozen=True, kw_only=True)
class ExportLeadResponse:
    data: ExportedLead


@dataclass(frozen=True, kw_only=True)
class ExportedAction:
    at: datetime
    action: str
    """What was done, for example `milestone` or `lead.close`."""
    outcome: Literal["begun", "done", "failed", "unknown"]
    """How it went."""
    by: str
    """`key <id>` for one of your API keys, `staff` for ours."""


@dataclass(frozen=True, kw_only=True)
class ExportedAttempt:
    number: int
    """Counts the requests with this `webhook-id` from 1."""
    trigger: AttemptTrigger
    started_at: datetime
    finished_at: datetime | None
    duration_ms: int | None
    """`None` while it is in progress."""
    address: str | None
    """The IP address of your endpoint that was called."""
    status: int | None
    """The HTTP status of your endpoint; `None` if it did not respond."""
    error_code: str | None
    """What went wrong, for example `http_error`, `timeout` or `connection_refused`; `None` if nothing did. New ones may be added."""
    hint: str | None
    """How to fix the failure."""
    response_headers: StringMap | None
    response_body: str | None
    """What your endpoint answered, cut off after a few kilobytes."""


@dataclass(frozen=True, kw_only=True)
class ExportedDelivery:
    sequence: int
    """Counts the lead’s webhooks from 1; it does not count other events."""
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    state: DeliveryState
    body: str
    """The bytes that every attempt signs and sends."""
    next_attempt_at: datetime | None
    settled_at: datetime | None
    attempts: list[ExportedAttempt]
    """Oldest first."""


@dataclass(frozen=True, kw_only=True)
class ExportedFields:
    lead_id: int
    """The lead: its `lead_id` in requests."""
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
    partner_lead_id: str | None
    """Your own identifier for the borrower."""
    fico_range: str | None
    """The borrower’s FICO range when you referred them."""
    loan_officer_id: str | None
    """The loan officer who handles the borrower."""
    notes: str | None
    """Why the application was declined."""
    metadata: StringMap
    status: LeadStatus
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class ExportedIdempotencyKey:
    key: str
    """The `Idempotency-Key` of create-lead."""
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class ExportedLead:
    about: StringMap
    """What each part is."""
    exported_at: datetime
    lead: ExportedFields
    """The borrower’s data as the partner sent it, with notes and metadata, and the status."""
    onboarding_email: ExportedLeadOnboardingEmail
    """The email that welcomes the borrower, and why it was not sent if it was not."""
    clock: ExportedLeadClock
    """In a sandbox, by how many seconds the lead’s clock was advanced."""
    score_updates: ExportedLeadScoreUpdates
    """The date from which score updates are counted, every 45 days."""
    closing: ExportedLeadClosing
    """When the lead was closed, 30 days after mortgage_ready or by whom, and why. get-lead has a closing that waits."""
    workflow: ExportedLeadWorkflow
    """The lead’s workflow in Temporal. It holds ids, states and dates, and what senders put into signals; no name, address or phone number."""
    idempotency_keys: list[ExportedIdempotencyKey]
    """The Idempotency-Key of the request that created the lead, kept for 24 hours."""
    events: list[ExportedEvent]
    """The history, oldest first."""
    deliveries: list[ExportedDelivery]
    """The webhooks about the lead, in their order: the body that each attempt sends, and what the partner’s endpoint answered."""
    actions: list[ExportedAction]
    """What the partner’s keys and staff did with the lead, and when staff looked at it, oldest first."""


@dataclass(frozen=True, kw_only=True)
class ExportedLeadClock:
    """In a sandbox, by how many seconds the lead’s clock was advanced."""
    seconds_ahead: int
    """How far the sandbox advanced it; 0 in production."""


@dataclass(frozen=True, kw_only=True)
class ExportedLeadClosing:
    """When the lead was closed, 30 days after mortgage_ready or by whom, and why. get-lead has a closing that waits."""
    closed_at: datetime | None
    reason: str | None
    """Such as `withdrew` or `mortgage_ready`; new ones may be added. `None` while the lead is open."""


@dataclass(frozen=True, kw_only=True)
class ExportedLeadOnboardingEmail:
    """The email that welcomes the borrower, and why it was not sent if it was not."""
    sent_at: datetime | None
    not_sent_because: OnboardingEmailRefusal | None
    """`address_limit`: the address got as many within 24 hours as an address may."""


@dataclass(frozen=True, kw_only=True)
class ExportedLeadScoreUpdates:
    """The date from which score updates are counted, every 45 days."""
    since: datetime | None


@dataclass(frozen=True, kw_only=True)
class ExportedLeadWorkflow:
    """The lead’s workflow in Temporal. It holds ids, states and dates, and what senders put into signals; no name, address or phone number."""
    workflow_id: str
    """Its id in Temporal."""
    started_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class GetClockResponse:
    data: Clock


@dataclass(frozen=True, kw_only=True)
class GetDeliveriesResponse:
    data: list[Delivery]
    """Newest first."""
    next: str | None
    """The next page’s `after`; `None` on the last page."""


@dataclass(frozen=True, kw_only=True)
class GetEndpointResponse:
    data: OwnEndpoint


@dataclass(frozen=True, kw_only=True)
class GetEventsResponse:
    data: list[Event]
    """The complete history, oldest first."""


@dataclass(frozen=True, kw_only=True)
class GetLeadResponse:
    data: Lead
    closing: LeadClosing | None = None


@dataclass(frozen=True, kw_only=True)
class GetSinkResponse:
    data: Sink


@dataclass(frozen=True, kw_only=True)
class HappenedEnd:
    """The lead was closed."""
    at: datetime
    what: Literal["end"]


@dataclass(frozen=True, kw_only=True)
class HappenedEvent:
    """An event was recorded."""
    at: datetime
    what: Literal["event"]
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    event_name: EventName
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""


@dataclass(frozen=True, kw_only=True)
class HappenedWebhook:
    """Your endpoint was called."""
    at: datetime
    what: Literal["webhook"]
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


@dataclass(frozen=True, kw_only=True)
class Lead:
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
    partner_lead_id: str | None = None
    """Your own identifier for the borrower."""
    fico_range: str | None = None
    """The borrower’s FICO range when you referred them."""
    loan_officer_id: str | None = None
    """The loan officer who handles the borrower."""
    created_at: datetime
    updated_at: datetime
    closed_at: str | None = None
    """When the lead was closed, in the format of `created_at`: 30 days after `mortgage_ready`, by your close-lead, or by our staff, for example because the borrower dropped out. From then on no milestones are recorded. Closing is no milestone: list-events has it, get-events does not. Absent while the lead is open. A custom field of this name that you stored takes its place."""
    loan_product: str | None = None
    """Type of loan product, as you sent it."""
    property_state: str | None = None
    """Two-letter state code of the property."""
    metadata: dict[str, Any]
    """Your own fields, and those that were added later."""


@dataclass(frozen=True, kw_only=True)
class LeadClosedFeedEvent(Placed):
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    event_name: Literal["lead.closed"]
    """What happened."""
    event_payload: LeadClosedPayload
    created_at: datetime
    """When it happened."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """Your own identifier for the borrower; `None` if you sent none."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""
    cursor: str
    """Send it as `after` to continue after this event, in the middle of a page."""
    webhook_body: str | None = None
    """The body of its webhook, byte for byte, if the request has `webhooks`; `None` for an event that is not sent."""


@dataclass(frozen=True, kw_only=True)
class LeadClosedPayload:
    """Why it was closed."""
    reason: CloseReason


@dataclass(frozen=True, kw_only=True)
class LeadClosing:
    """Of a lead that is closed; otherwise absent. No custom field can take its place."""
    at: datetime
    """When it was closed."""
    reason: CloseReason


@dataclass(frozen=True, kw_only=True)
class LeadReceivedEvent:
    event_name: Literal["lead_received"]
    """The milestone."""
    event_payload: LeadReceivedPayload | None
    created_at: datetime
    """When it happened."""


@dataclass(frozen=True, kw_only=True)
class LeadReceivedExportedEvent:
    event_name: Literal["lead_received"]
    """The milestone."""
    event_payload: LeadReceivedPayload | None
    created_at: datetime
    """When it happened."""
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""


@dataclass(frozen=True, kw_only=True)
class LeadReceivedFeedEvent(Placed):
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    event_name: Literal["lead_received"]
    """The milestone."""
    event_payload: LeadReceivedPayload | None
    created_at: datetime
    """When it happened."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """Your own identifier for the borrower; `None` if you sent none."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""
    cursor: str
    """Send it as `after` to continue after this event, in the middle of a page."""
    webhook_body: str | None = None
    """The body of its webhook, byte for byte, if the request has `webhooks`; `None` for an event that is not sent."""


@dataclass(frozen=True, kw_only=True)
class LeadReceivedPayload:
    """Your own identifier, as you sent it with create-lead."""
    partner_lead_id: str
    """Your own identifier for the borrower."""


@dataclass(frozen=True, kw_only=True)
class LeadReceivedWebhook:
    type: Literal["lead_received"]
    """The milestone."""
    timestamp: datetime
    """The same time as `created_at`, in ISO 8601."""
    data: LeadReceivedWebhookData


@dataclass(frozen=True, kw_only=True)
class LeadReceivedWebhookData:
    event_id: str
    """The same as the header `webhook-id`."""
    event_name: Literal["lead_received"]
    """The milestone."""
    event_payload: LeadReceivedPayload | None
    created_at: datetime
    """When it happened."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """As it was when the event was recorded."""
    sequence: int
    """Counts the lead’s webhooks from 1; it does not count other events."""
    environment: Environment


@dataclass(frozen=True, kw_only=True)
class LeadSummary:
    """A lead without personal data."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """Your own identifier for the borrower; `None` if you sent none."""
    status: LeadStatus
    closed: bool
    """Whether the lead is closed: no more milestones are recorded."""
    closed_at: datetime | None
    """When the lead was closed: 30 days after `mortgage_ready`, by your close-lead, or by our staff, for example because the borrower dropped out. From then on no milestones are recorded. Closing is no milestone: list-events has it, get-events does not. `None` while the lead is open."""
    delivery: Literal["ok", "failing", "held"]
    """Whether its webhooks are sent: `failing` if the first open one fails, `held` while your endpoint is paused."""
    open_deliveries: int
    """How many of its webhooks are pending or held."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class ListEventsResponse:
    data: list[FeedEvent]
    """In commit order; the events of one lead in theirs."""
    next: str
    """Send it as `after` in the next request."""
    has_more: bool
    """Whether there are more events already: ask again at once."""


@dataclass(frozen=True, kw_only=True)
class ListLeadsResponse:
    data: list[LeadSummary]
    """Newest first."""
    next: int | None
    """The next page’s `after`; `None` on the last page."""


@dataclass(frozen=True, kw_only=True)
class ListScenariosResponse:
    data: list[Scenario]


@dataclass(frozen=True, kw_only=True)
class MilestoneEvent:
    event_name: MilestoneEventName
    event_payload: None
    """These milestones have none."""
    created_at: datetime
    """When it happened."""


@dataclass(frozen=True, kw_only=True)
class MilestoneExportedEvent:
    event_name: MilestoneEventName
    event_payload: None
    """These milestones have none."""
    created_at: datetime
    """When it happened."""
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""


@dataclass(frozen=True, kw_only=True)
class MilestoneFeedEvent(Placed):
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    event_name: MilestoneEventName
    event_payload: None
    """These milestones have none."""
    created_at: datetime
    """When it happened."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """Your own identifier for the borrower; `None` if you sent none."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""
    cursor: str
    """Send it as `after` to continue after this event, in the middle of a page."""
    webhook_body: str | None = None
    """The body of its webhook, byte for byte, if the request has `webhooks`; `None` for an event that is not sent."""


@dataclass(frozen=True, kw_only=True)
class MilestoneSimulatedEvent:
    event_name: MilestoneEventName
    event_payload: None
    """These milestones have none."""
    created_at: datetime
    """When it happened."""
    recorded: bool
    """`False` if the lead has this event already; the other fields are that event’s."""
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""


@dataclass(frozen=True, kw_only=True)
class MilestoneWebhook:
    type: MilestoneWebhookType
    timestamp: datetime
    """The same time as `created_at`, in ISO 8601."""
    data: MilestoneWebhookData


@dataclass(frozen=True, kw_only=True)
class MilestoneWebhookData:
    event_id: str
    """The same as the header `webhook-id`."""
    event_name: MilestoneWebhookType
    event_payload: None
    """These milestones have none."""
    created_at: datetime
    """When it happened."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """As it was when the event was recorded."""
    sequence: int
    """Counts the lead’s webhooks from 1; it does not count other events."""
    environment: Environment


@dataclass(frozen=True, kw_only=True)
class OldestWaiting:
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    event_name: EventName
    lead_id: int
    """The lead: its `lead_id` in requests."""
    waiting_since: datetime
    """When the event was recorded, UTC. In a sandbox, `created_at` of the event can be later: it follows the clock of the lead."""


@dataclass(frozen=True, kw_only=True)
class OtherEvent:
    event_name: OtherName
    """One that was added later."""
    event_payload: dict[str, Any] | None
    created_at: datetime
    """When it happened."""


@dataclass(frozen=True, kw_only=True)
class OtherExportedEvent:
    event_name: OtherName
    """One that was added later."""
    event_payload: dict[str, Any] | None
    created_at: datetime
    """When it happened."""
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""


@dataclass(frozen=True, kw_only=True)
class OtherFeedEvent(Placed):
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    event_name: OtherName
    """One that was added later."""
    event_payload: dict[str, Any] | None
    created_at: datetime
    """When it happened."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """Your own identifier for the borrower; `None` if you sent none."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""
    cursor: str
    """Send it as `after` to continue after this event, in the middle of a page."""
    webhook_body: str | None = None
    """The body of its webhook, byte for byte, if the request has `webhooks`; `None` for an event that is not sent."""


@dataclass(frozen=True, kw_only=True)
class OtherSimulatedEvent:
    event_name: OtherName
    """One that was added later."""
    event_payload: dict[str, Any] | None
    created_at: datetime
    """When it happened."""
    recorded: bool
    """`False` if the lead has this event already; the other fields are that event’s."""
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""


@dataclass(frozen=True, kw_only=True)
class OtherWebhook:
    type: OtherName
    """One that was added later."""
    timestamp: datetime
    """ISO 8601."""
    data: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class OwnEndpoint:
    """Where your webhooks are sent, and where they come from."""
    url: str | None
    """`None` if none is registered."""
    health: EndpointHealth
    reason: str
    """For people."""
    since: datetime
    """Since when `health` is what it is."""
    open_deliveries: int
    """How many webhooks are not settled: neither delivered, given up nor canceled."""
    recent_attempts: RecentAttempts
    """The latest 1,000 attempts, as far as they called the current URL: retries, resends and probes too, but none that is in progress."""
    last_success_at: datetime | None
    """When your endpoint last accepted a webhook."""
    last_error: EndpointError | None
    """The latest attempt that failed. Both are about `recent_attempts`, and `None` if there is none."""
    oldest_waiting: OldestWaiting | None
    """The open delivery that has waited longest; `None` if there is none."""
    next_attempt_at: datetime | None
    """When the next open webhook is due; `None` if none is open and not being attempted now, or while your endpoint is paused."""
    next_probe_at: datetime | None
    """When the service tries the endpoint again, if it paused it; otherwise `None`."""
    candidate: EndpointCandidate | None
    """The URL that is to take the place of `url`; `None` if there is none."""
    certification: Certification | None
    """The latest certification; `None` if none was requested, or the URL that it is about has been replaced."""
    egress_addresses: list[str]
    """The IP addresses and networks that our requests to your endpoint come from, for your firewall. Empty if we promise none: then allow requests by their signature."""


@dataclass(frozen=True, kw_only=True)
class PauseEndpointResponse:
    data: Endpoint


@dataclass(frozen=True, kw_only=True)
class PingResponse:
    message: str
    """For people. Do not parse it: it may change."""
    environment: Environment
    time: datetime


@dataclass(frozen=True, kw_only=True)
class RecentAttempts:
    count: int
    """At most 1,000."""
    success_rate: float | None
    """The share that your endpoint accepted, from 0 to 1. `None` if `count` is 0."""
    duration_p50_ms: int | None
    """Half of the attempts took at most this long."""
    duration_p95_ms: int | None
    """95% of the attempts took at most this long."""


@dataclass(frozen=True, kw_only=True)
class ResendWebhookResponse:
    message: str
    """For people. Do not parse it: it may change."""


@dataclass(frozen=True, kw_only=True)
class ResumeEndpointResponse:
    data: Endpoint


@dataclass(frozen=True, kw_only=True)
class RotateEndpointSecretResponse:
    data: EndpointWithSecret


@dataclass(frozen=True, kw_only=True)
class RunScenarioResponse:
    data: ScenarioRun


@dataclass(frozen=True, kw_only=True)
class Scenario:
    scenario: ScenarioName
    about: str
    """For people."""
    email: str
    """A create-lead with such an address plays the scenario, without any other call."""
    webhooks: list[EventName]
    """The webhooks to expect, in their order."""


@dataclass(frozen=True, kw_only=True)
class ScenarioRun:
    lead_id: int
    """The lead: its `lead_id` in requests."""
    scenario: ScenarioName
    state: Literal["done", "running", "stopped", "closed"]
    """`running`: it continues on its own. `stopped`: it goes no further, because your endpoint refuses webhooks for so long that production would pause it, because the lead’s clock can run no further ahead, or because the lead has as many events as it can. `closed`: the lead was closed on the way, or our staff ended the scenario."""
    status: LeadStatus
    webhooks: list[EventName] | None = None
    """The webhooks to expect, in their order. Absent if you named a lead: what it has already does not happen again."""
    next: Due | None
    """What is due next on the lead’s clock; `None` for nothing."""


@dataclass(frozen=True, kw_only=True)
class ScoreGains:
    """The points that each bureau’s score has gained since the `score_update` before, or, the first time, since the journey began; negative if it fell."""
    experian_gain: int
    """The change of the Experian score in points; negative if it fell."""
    equifax_gain: int
    """The change of the Equifax score in points; negative if it fell."""
    transunion_gain: int
    """The change of the TransUnion score in points; negative if it fell."""
    estimated_time_remaining: str
    """In how many days the borrower will probably be mortgage-ready, as a range: `<min>-<max> days`."""


@dataclass(frozen=True, kw_only=True)
class ScoreUpdateEvent:
    event_name: Literal["score_update"]
    """The milestone."""
    event_payload: ScoreGains
    created_at: datetime
    """When it happened."""


@dataclass(frozen=True, kw_only=True)
class ScoreUpdateExportedEvent:
    event_name: Literal["score_update"]
    """The milestone."""
    event_payload: ScoreGains
    created_at: datetime
    """When it happened."""
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""


@dataclass(frozen=True, kw_only=True)
class ScoreUpdateFeedEvent(Placed):
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    event_name: Literal["score_update"]
    """The milestone."""
    event_payload: ScoreGains
    created_at: datetime
    """When it happened."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """Your own identifier for the borrower; `None` if you sent none."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""
    cursor: str
    """Send it as `after` to continue after this event, in the middle of a page."""
    webhook_body: str | None = None
    """The body of its webhook, byte for byte, if the request has `webhooks`; `None` for an event that is not sent."""


@dataclass(frozen=True, kw_only=True)
class ScoreUpdateSimulatedEvent:
    event_name: Literal["score_update"]
    """The milestone."""
    event_payload: ScoreGains
    created_at: datetime
    """When it happened."""
    recorded: bool
    """`False` if the lead has this event already; the other fields are that event’s."""
    event_id: str
    """The event. Its webhook has the same `webhook-id`."""
    sequence: int | None
    """Its place among the lead’s webhooks; `None` for an event that is not sent."""


@dataclass(frozen=True, kw_only=True)
class ScoreUpdateWebhook:
    type: Literal["score_update"]
    """The milestone."""
    timestamp: datetime
    """The same time as `created_at`, in ISO 8601."""
    data: ScoreUpdateWebhookData


@dataclass(frozen=True, kw_only=True)
class ScoreUpdateWebhookData:
    event_id: str
    """The same as the header `webhook-id`."""
    event_name: Literal["score_update"]
    """The milestone."""
    event_payload: ScoreGains
    created_at: datetime
    """When it happened."""
    lead_id: int
    """The lead: its `lead_id` in requests."""
    partner_lead_id: str | None
    """As it was when the event was recorded."""
    sequence: int
    """Counts the lead’s webhooks from 1; it does not count other events."""
    environment: Environment


@dataclass(frozen=True, kw_only=True)
class SetEndpointResponse:
    data: EndpointWithSecret


@dataclass(frozen=True, kw_only=True)
class SetSinkResponse:
    message: str
    """For people. Do not parse it: it may change."""


@dataclass(frozen=True, kw_only=True)
class SimulateEventResponse:
    data: Simulation


@dataclass(frozen=True, kw_only=True)
class Simulation:
    lead_id: int
    """The lead: its `lead_id` in requests."""
    status: LeadStatus
    events: list[SimulatedEvent]
    """In the order of the request."""
    next: Due | None
    """What is due next on the lead’s clock; `None` for nothing."""


@dataclass(frozen=True, kw_only=True)
class Sink:
    url: str
    """Where your webhooks go, until you set an endpoint of your own."""
    status: int
    """The HTTP status that it answers with."""
    times: int | None
    """For how many more webhooks it answers `status`; `None` for all."""
    delay_ms: int
    """How long it waits before it answers."""
    fault: Literal["resets", "answers_half", "answers_slowly"] | None
    """What it does instead of answering at once and as a whole; `None` if it answers."""
    retry_after: int | None
    """The seconds in its `Retry-After`; `None` for none."""
    ends_at: datetime | None
    """When it answers 200 again, whatever is left; `None` for never."""
    webhooks: list[SinkWebhook]
    """The last 100, and the last 20 whose signature is not valid; newest first."""


@dataclass(frozen=True, kw_only=True)
class SinkWebhook:
    webhook_id: str
    """The header `webhook-id`: the event’s id."""
    received_at: datetime
    attempt: int
    """Counts the requests with this `webhook-id` from 1, and anew once none of them is kept."""
    verified: bool
    """Whether its signature is valid."""
    problem: str | None
    """Why it is not valid."""
    status: int
    """What the sink answered."""
    delay_ms: int
    """How long it waited before."""
    fault: Literal["resets", "answers_half", "answers_slowly"] | None
    """What it did instead of answering at once and as a whole; `None` if it answered."""
    headers: StringMap
    body: str
    """The bytes that were signed; if the signature is not valid, their beginning."""
    event: Any
    """The body, parsed; `None` if its signature is not valid."""


@dataclass(frozen=True, kw_only=True)
class TestEndpointResponse:
    data: TestRequest


@dataclass(frozen=True, kw_only=True)
class TestRequest:
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


@dataclass(frozen=True, kw_only=True)
class UpdatePartnerInfoResponse:
    message: str
    """For people. Do not parse it: it may change."""


@dataclass(frozen=True, kw_only=True)
class UseSinkResponse:
    data: Endpoint


class _CreateLeadRequest(TypedDict):
    first_name: str
    """Borrower’s first name; trimmed."""
    last_name: str
    """Borrower’s last name; trimmed."""
    email: str
    """Borrower’s email address; trimmed."""
    phone: str
    """Digits, hyphens, spaces and `+`, with at least one digit; trimmed."""


class CreateLeadRequest(_CreateLeadRequest, total=False):
    partner_lead_id: str | None
    """Your own identifier for the borrower. Recommended: each webhook includes it, as it was when the event was recorded. `None`, the empty string and blanks count as absent."""
    fico_range: str | None
    """`<low>-<high>` between 300 and 850: `500-549`, `550-579`, `580-619`, `620-659`. `None`, the empty string and blanks count as absent."""
    loan_officer_id: str | None
    """The loan officer who handles the borrower. `None`, the empty string and blanks count as absent."""
    notes: str | None
    """Why the application was declined. Returned by export-lead only. `None`, the empty string and blanks count as absent."""


class _EventToSimulateInput(TypedDict):
    event_name: SimulatedEventName


class EventToSimulateInput(_EventToSimulateInput, total=False):
    event_payload: ScoreGainsInput | None
    """For `score_update` only. Without it, the sandbox makes up gains."""
    days_ago: int
    """Backdates the milestone: how many days ago it happened, on the lead’s clock. Dates of a lead never go back: a milestone that would be older than the lead’s last event gets the date of that."""


class ScoreGainsInput(TypedDict):
    """The points that each bureau’s score has gained since the `score_update` before, or, the first time, since the journey began; negative if it fell."""
    experian_gain: int
    """The change of the Experian score in points; negative if it fell."""
    equifax_gain: int
    """The change of the Equifax score in points; negative if it fell."""
    transunion_gain: int
    """The change of the TransUnion score in points; negative if it fell."""
    estimated_time_remaining: str
    """In how many days the borrower will probably be mortgage-ready, as a range: `<min>-<max> days`."""

Event: TypeAlias = LeadReceivedEvent | ScoreUpdateEvent | MilestoneEvent | OtherEvent

ExportedEvent: TypeAlias = LeadReceivedExportedEvent | ScoreUpdateExportedEvent | MilestoneExportedEvent | OtherExportedEvent

FeedEvent: TypeAlias = (
    LeadReceivedFeedEvent
    | ScoreUpdateFeedEvent
    | MilestoneFeedEvent
    | LeadClosedFeedEvent
    | OtherFeedEvent
)

Happened: TypeAlias = HappenedEvent | HappenedWebhook | HappenedEnd

SimulatedEvent: TypeAlias = ScoreUpdateSimulatedEvent | MilestoneSimulatedEvent | OtherSimulatedEvent

WebhookEvent: TypeAlias = (
    LeadReceivedWebhook
    | ScoreUpdateWebhook
    | MilestoneWebhook
    | EndpointPing
    | EndpointCertification
    | OtherWebhook
)
"""Any request to your endpoint. Accept and ignore a `type` that you do not know: new ones may be added."""

Handlers = TypedDict(
    "Handlers",
    {
        "lead_received": Callable[[LeadReceivedWebhook], object],
        "score_update": Callable[[ScoreUpdateWebhook], object],
        "client_account_created": Callable[[MilestoneWebhook], object],
        "credit_scan_completed": Callable[[MilestoneWebhook], object],
        "contract_signed": Callable[[MilestoneWebhook], object],
        "escrow_funded": Callable[[MilestoneWebhook], object],
        "mortgage_ready": Callable[[MilestoneWebhook], object],
        "endpoint.ping": Callable[[EndpointPing], object],
        "endpoint.certification": Callable[[EndpointCertification], object],
    },
    total=False,
)
"""What to call for each type of webhook."""

ContextHandlers = TypedDict(
    "ContextHandlers",
    {
        "lead_received": Callable[[LeadReceivedWebhook, Any], object],
        "score_update": Callable[[ScoreUpdateWebhook, Any], object],
        "client_account_created": Callable[[MilestoneWebhook, Any], object],
        "credit_scan_completed": Callable[[MilestoneWebhook, Any], object],
        "contract_signed": Callable[[MilestoneWebhook, Any], object],
        "escrow_funded": Callable[[MilestoneWebhook, Any], object],
        "mortgage_ready": Callable[[MilestoneWebhook, Any], object],
        "endpoint.ping": Callable[[EndpointPing, Any], object],
        "endpoint.certification": Callable[[EndpointCertification, Any], object],
    },
    total=False,
)
"""What to call for each type of webhook, with what `Seen.once` hands over as second argument."""
