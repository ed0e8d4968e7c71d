from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ReferralsError(Exception):
    """All errors of this package."""


class NoAnswerError(ReferralsError):
    """No answer came until the deadline. `__cause__` is the last failure."""


class ApiError(ReferralsError):
    """The API refused the call or failed. Subclasses, named after their `code`, are for what callers usually handle separately."""

    def __init__(self, message: str, *, code: str, status: int, headers: Mapping[str, str], error: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.request_id = headers.get("x-request-id")
        """Quote it when you contact us."""
        self.retry_after = read_retry_after(headers.get("retry-after"))
        """In seconds."""
        fields = error.get("fields")
        self.fields: list[dict[str, str]] = fields if isinstance(fields, list) else []
        """For `INVALID_PAYLOAD`: which were wrong, each with `field` and `problem`."""
        self.cursor = str(error.get("next"))
        """Of a `CursorLostError`: continue after it. Some events may come again."""
        self.maybe_done = False
        """An earlier attempt of this call got no clear answer, and may have been carried out."""


class InvalidPayloadError(ApiError): ...
class AuthFailedError(ApiError): ...
class NotFoundError(ApiError): ...
class LeadClosedError(ApiError): ...
class IdempotencyConflictError(ApiError): ...
class RateLimitedError(ApiError): ...


class CursorLostError(InvalidPayloadError):
    """The service's database no longer has the event of your cursor: it was restored, or a sandbox was started anew."""


class WebhookVerificationError(ReferralsError):
    """The request is not a genuine and recent webhook: answer 400, and do nothing."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        """For your log: `headers`, `too_old`, `too_new`, `signature`, `body`, `parsed_body` or `no_secret`."""


def error_of(status: int, headers: Mapping[str, str], body: Any) -> ApiError:
    """The error of a response; a proxy's own response has no code."""
    answer = body.get("error") if isinstance(body, dict) else None
    error: dict[str, Any] = answer if isinstance(answer, dict) else {"code": "NO_CODE"}
    code = str(error.get("code"))
    name = f"{code.title().replace('_', '')}Error"
    kind = next((each for each in ApiError.__subclasses__() if each.__name__ == name), ApiError)
    kind = CursorLostError if isinstance(error.get("next"), str) else kind
    message = str(error.get("message", f"The answer had status {status} and was not the API's"))
    return kind(message, code=code, status=status, headers=headers, error=error)


def read_retry_after(header: str | None) -> int | None:
    """`None` for what is not a number of seconds: HTTP allows dates, and the API sends none."""
    text = (header or "").strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
