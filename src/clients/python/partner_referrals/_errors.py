from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class WrongField:
    field: str
    """As the API names it, for example `event_payload.experian_gain`."""
    problem: str


class ReferralsError(Exception):
    """All errors of this package."""


class NoAnswerError(ReferralsError):
    """No answer came until the deadline. `__cause__` is the last failure."""


class ApiError(ReferralsError):
    """
    The API refused the call or failed. `code` is the API's; one that was added later is a value like any other, so go by
    `status` then. Subclasses are for what callers usually handle apart.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int,
        request_id: str | None = None,
        retry_after: int | None = None,
        fields: tuple[WrongField, ...] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.request_id = request_id
        """Quote it when you contact us."""
        self.retry_after = retry_after
        """In seconds."""
        self.fields = fields
        """For `INVALID_PAYLOAD`: which fields were wrong."""
        self.maybe_done = False
        """An earlier attempt of this call got no clear answer, and may have been carried out."""


class InvalidPayloadError(ApiError):
    """`fields` says which were wrong."""


class AuthFailedError(ApiError):
    """The key is unknown, expired or revoked."""


class NotFoundError(ApiError):
    """There is no such lead or event of yours."""


class LeadClosedError(ApiError):
    """The lead is closed."""


class IdempotencyConflictError(ApiError):
    """The Idempotency-Key was used with another body, and what that asked for is done."""


class RateLimitedError(ApiError):
    """`retry_after` says when to come back."""


class CursorLostError(InvalidPayloadError):
    """The service's database no longer has the event of your place: it was restored, or a sandbox was started anew."""

    place: str
    """Go on from here: you may get events again that you have."""


class WebhookVerificationError(ReferralsError):
    """The request is not a genuine webhook of now: answer 400, and do nothing."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        """For your log: `headers`, `too_old`, `too_new`, `signature`, `body`, `parsed_body` or `no_secret`."""


CLASSES: Mapping[str, type[ApiError]] = {
    "INVALID_PAYLOAD": InvalidPayloadError,
    "AUTH_FAILED": AuthFailedError,
    "NOT_FOUND": NotFoundError,
    "LEAD_CLOSED": LeadClosedError,
    "IDEMPOTENCY_CONFLICT": IdempotencyConflictError,
    "RATE_LIMITED": RateLimitedError,
}


def error_of(status: int, headers: Mapping[str, str], body: Any) -> ApiError:
    """What a proxy answers in the API's place has no code."""
    answer = body.get("error") if isinstance(body, dict) else None
    error: dict[str, Any] = answer if isinstance(answer, dict) else {"code": "NO_CODE"}
    code = str(error.get("code"))
    place = error.get("next")
    kind = CursorLostError if isinstance(place, str) else CLASSES.get(code, ApiError)
    found = kind(
        str(error.get("message", f"The answer had status {status} and was not the API's")),
        code=code,
        status=status,
        request_id=headers.get("x-request-id"),
        retry_after=read_retry_after(headers.get("retry-after")),
        fields=tuple(read_fields(error.get("fields"))),
    )
    if isinstance(found, CursorLostError):
        found.place = str(place)
    return found


def read_fields(fields: Any) -> list[WrongField]:
    entries = fields if isinstance(fields, list) else []
    return [WrongField(str(each.get("field")), str(each.get("problem"))) for each in entries if isinstance(each, dict)]


def read_retry_after(header: str | None) -> int | None:
    """`None` for what is not a number of seconds: HTTP allows dates, and the API sends none."""
    text = (header or "").strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
