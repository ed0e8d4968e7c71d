"""The Partner Referral Service for a lender's systems: calls, events and webhooks."""

from ._client import Referrals
from ._errors import (
    AuthFailedError,
    CursorLostError,
    InvalidPayloadError,
    LeadClosedError,
    NoAnswerError,
    NotFoundError,
    RateLimitedError,
    ReferralsError,
    WebhookVerificationError,
    WrongField,
)
from ._leads import CreatedLead
from ._seen import InMemory, Seen
from ._webhooks import Answer, Headers, Webhooks
from .types import API_VERSION, ContextHandlers, FeedEvent, Handlers, Lead, WebhookEvent

__all__ = [
    "API_VERSION",
    "Answer",
    "AuthFailedError",
    "ContextHandlers",
    "CreatedLead",
    "CursorLostError",
    "FeedEvent",
    "Handlers",
    "Headers",
    "InMemory",
    "InvalidPayloadError",
    "Lead",
    "LeadClosedError",
    "NoAnswerError",
    "NotFoundError",
    "RateLimitedError",
    "Referrals",
    "ReferralsError",
    "Seen",
    "WebhookEvent",
    "WebhookVerificationError",
    "Webhooks",
    "WrongField",
]
