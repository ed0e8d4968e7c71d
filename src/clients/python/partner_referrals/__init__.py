"""The Partner Referral Service for a lender's systems: calls, events and webhooks."""

from ._client import Referrals as Referrals
from ._errors import (
    ApiError as ApiError,
    AuthFailedError as AuthFailedError,
    CursorLostError as CursorLostError,
    IdempotencyConflictError as IdempotencyConflictError,
    InvalidPayloadError as InvalidPayloadError,
    LeadClosedError as LeadClosedError,
    NoAnswerError as NoAnswerError,
    NotFoundError as NotFoundError,
    RateLimitedError as RateLimitedError,
    ReferralsError as ReferralsError,
    WebhookVerificationError as WebhookVerificationError,
    WrongField as WrongField,
)
from ._leads import CreatedLead as CreatedLead
from ._seen import InMemory as InMemory, Seen as Seen
from ._webhooks import Answer as Answer, Headers as Headers, LeadEvent as LeadEvent, Webhooks as Webhooks
from .types import (
    API_VERSION as API_VERSION,
    ContextHandlers as ContextHandlers,
    FeedEvent as FeedEvent,
    Handlers as Handlers,
    Lead as Lead,
    WebhookEvent as WebhookEvent,
)
