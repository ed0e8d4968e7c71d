from __future__ import annotations

import hmac
import json
import logging
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, cast

from ._errors import WebhookVerificationError
from ._seen import InMemory, Seen
from .types import LeadReceivedWebhook, MilestoneWebhook, ScoreUpdateWebhook, WebhookEvent

LeadEvent: TypeAlias = LeadReceivedWebhook | ScoreUpdateWebhook | MilestoneWebhook

log = logging.getLogger("partner_referrals")

NAMES = ("webhook-id", "webhook-timestamp", "webhook-signature")
PARSED_BODY = (
    "The body was parsed before its signature was checked, and its bytes are gone. "
    "With Flask, give request.get_data(); with Django, request.body."
)


class Webhooks:
    """Receives webhooks. It needs no API key: a receiver may use it alone. Threads may share it."""

    def __init__(self, *, secrets: str | Iterable[str], tolerance: float = 300.0) -> None:
        """
        `secrets`: `whsec_…`, several while one is rotated. `tolerance`: how old or new a request may be, in seconds; the
        standard says five minutes.
        """
        self._keys = [key_of(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
        self._tolerance = tolerance
        self._in_memory = InMemory()

    def unwrap(self, raw_body: bytes | str, headers: Any) -> WebhookEvent:
        """
        The event of a genuine request. `raw_body` is as it came, before anybody parsed it; `headers` are a framework's, a
        dict, or the `environ` of WSGI.

        Raises a `WebhookVerificationError` if the request is forged, changed or too old.
        """
        if not self._keys:
            raise WebhookVerificationError("no_secret", "No secret is set: give secrets")
        if not isinstance(raw_body, (str, bytes, bytearray, memoryview)):
            raise WebhookVerificationError("parsed_body", PARSED_BODY)
        body = raw_body.encode(errors="replace") if isinstance(raw_body, str) else bytes(raw_body)
        webhook_id, timestamp, signatures = (header_of(headers, name) for name in NAMES)
        if not webhook_id or not timestamp or not signatures:
            raise WebhookVerificationError("headers", f"The request lacks one of {', '.join(NAMES)}")
        self._require_now(timestamp)
        expected = [signature_of(webhook_id, timestamp, body, key).encode() for key in self._keys]
        given = [each.encode(errors="replace") for each in signatures.split(" ")]
        # one valid signature of any secret is enough; compared in constant time
        if not any(hmac.compare_digest(each, one) for each in expected for one in given):
            raise WebhookVerificationError("signature", "No signature matches: another secret, or a changed body")
        return parse(body)

    def receive(
        self, raw_body: bytes | str, headers: Any, handle: Callable[[LeadEvent, Any], object], seen: Seen | None = None
    ) -> tuple[str, int]:
        """
        Handles a request, and says what to answer, as Flask takes it: 200, 400 for what is no genuine webhook, 500 if the handler failed.
        `handle` gets each event of a lead once, also of types that were added later, but no test of the endpoint. Its
        second argument is what `seen` hands over, such as its transaction. Without `seen`, ids are kept in memory, which
        is for tests.
        """
        try:
            event = self.unwrap(raw_body, headers)
        except WebhookVerificationError as refusal:
            if refusal.reason in ("parsed_body", "no_secret"):
                log.error("%s", refusal)
                return ("The receiver is not set up", 500)
            log.info("Refused a request (%s): %s", refusal.reason, refusal)
            return (str(refusal), 400)
        if not isinstance(event.get("data"), dict) or event["data"].get("lead_id") is None:
            return ("", 200)
        webhook_id = header_of(headers, NAMES[0]) or ""
        try:
            (seen or self._in_memory).once(webhook_id, lambda context: handle(cast(LeadEvent, event), context))
        except Exception:
            log.exception("The webhook %s of type %s is not handled, and will come again", webhook_id, event["type"])
            return ("The handler failed", 500)
        return ("", 200)

    def _require_now(self, timestamp: str) -> None:
        seconds = int(timestamp) if timestamp.isascii() and timestamp.isdecimal() and len(timestamp) < 13 else 0
        age = time.time() - seconds
        if age > self._tolerance:
            raise WebhookVerificationError("too_old", f"The request is older than {self._tolerance:g} s")
        if age < -self._tolerance:
            raise WebhookVerificationError("too_new", "The request is from the future: check this computer's clock")


def signature_of(webhook_id: str, timestamp: str, body: bytes, key: bytes) -> str:
    """The value of `webhook-signature`, by https://www.standardwebhooks.com."""
    content = f"{webhook_id}.{timestamp}.".encode(errors="replace") + body
    return f"v1,{b64encode(hmac.digest(key, content, 'sha256')).decode()}"


def key_of(secret: str) -> bytes:
    """Raises `ValueError` if it is no secret."""
    text = secret.removeprefix("whsec_") if secret.startswith("whsec_") else ""
    try:
        key = b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        key = b""
    if not key:
        # the secret itself is in no message
        raise ValueError("a webhook secret must be the whsec_… that set-endpoint showed") from None
    return key


def header_of(headers: Any, name: str) -> str | None:
    """Also of a dict that minds the case, and of WSGI's `environ`."""
    for spelling in (name, name.title(), f"HTTP_{name.upper().replace('-', '_')}"):
        value = headers.get(spelling)
        if isinstance(value, str):
            return value
    return None


def parse(body: bytes) -> WebhookEvent:
    try:
        event = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise WebhookVerificationError("body", "The body is not an event in JSON")
    return cast(WebhookEvent, event)
