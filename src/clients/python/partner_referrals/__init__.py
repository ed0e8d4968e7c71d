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
)
from ._seen import InMemory as InMemory, Seen as Seen
from ._values import phone_number as phone_number, time_of as time_of
from ._webhooks import LeadEvent as LeadEvent, Webhooks as Webhooks
from .types import API_VERSION as API_VERSION, FeedEvent as FeedEvent, Lead as Lead, WebhookEvent as WebhookEvent
