from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any, NamedTuple, Protocol, TypeAlias, overload

from ._calls import WEBHOOK_EVENT
from ._errors import WebhookVerificationError
from ._seen import InMemory, Seen
from ._signatures import is_signed, key_of, signature_of
from ._turns import Turns
from ._wire import decode, encode
from .types import (
    ContextHandlers,
    Handlers,
    LeadReceivedWebhook,
    MilestoneWebhook,
    MilestoneWebhookData,
    ScoreUpdateWebhook,
    WebhookEvent,
)

LeadEvent: TypeAlias = LeadReceivedWebhook | ScoreUpdateWebhook | MilestoneWebhook

log = logging.getLogger("partner_referrals")

NAMES = ("webhook-id", "webhook-timestamp", "webhook-signature")
OWN_FAULTS = ("parsed_body", "no_secret")
PARSED_BODY = (
    "The body was parsed before its signature was checked, and its bytes are gone. "
    "With Flask, give request.get_data(); with Django, request.body."
)


class Headers(Protocol):
    """The headers of a request: a framework's, a dict, or the `environ` of WSGI."""

    def get(self, name: str, /) -> Any: ...


class Answer(NamedTuple):
    """What to answer: Flask takes it as it is."""

    body: str
    status: int


class Webhooks:
    """Receives webhooks. It needs no API key: a receiver may use it alone. Threads may share it."""

    def __init__(self, *, secrets: str | Iterable[str], tolerance: float = 300.0) -> None:
        """
        `secrets`: `whsec_…`, several while one is rotated. `tolerance`: how old or new a request may be, in seconds; the
        standard says five minutes.
        """
        self._secrets = (secrets,) if isinstance(secrets, str) else tuple(secrets)
        for secret in self._secrets:
            key_of(secret)
        self._tolerance = tolerance
        self._turns = Turns()
        self._in_memory = InMemory()

    def unwrap(self, raw_body: bytes | str, headers: Headers) -> WebhookEvent:
        """
        The event of a genuine request; `type` tells the kinds apart, and may be one that was added later. `raw_body` is
        as it came, before anybody parsed it.

        Raises a `WebhookVerificationError` if the request is forged, changed or too old.
        """
        if not self._secrets:
            raise WebhookVerificationError("no_secret", "No secret is set: give secrets")
        if not isinstance(raw_body, (str, bytes, bytearray, memoryview)):
            raise WebhookVerificationError("parsed_body", PARSED_BODY)
        body = raw_body.encode(errors="replace") if isinstance(raw_body, str) else bytes(raw_body)
        webhook_id, timestamp, signatures = (header_of(headers, name) for name in NAMES)
        if not webhook_id or not timestamp or not signatures:
            raise WebhookVerificationError("headers", f"The request lacks one of {', '.join(NAMES)}")
        self._require_now(timestamp)
        if not is_signed(webhook_id, timestamp, body, signatures, self._secrets):
            raise WebhookVerificationError("signature", "No signature fits: another secret, or a changed body")
        event: WebhookEvent = decode(WEBHOOK_EVENT, parse(body))
        return event

    def sign(
        self, event: WebhookEvent, secret: str, *, webhook_id: str | None = None, at: datetime | None = None
    ) -> tuple[bytes, dict[str, str]]:
        """Body and headers of a genuine request, for your own tests. `at` is now by default."""
        event_id = getattr(event.data, "event_id", None)
        webhook_id = webhook_id or event_id or f"msg_{uuid.uuid4()}"
        timestamp = str(int((at or datetime.now(timezone.utc)).timestamp()))
        body = json.dumps(encode(event), ensure_ascii=False, separators=(",", ":")).encode()
        values = (webhook_id, timestamp, signature_of(webhook_id, timestamp, body, secret))
        return body, {"content-type": "application/json", **dict(zip(NAMES, values))}

    @overload
    def receive(
        self,
        raw_body: bytes | str,
        headers: Headers,
        handlers: Handlers,
        *,
        on_event: Callable[[LeadEvent], object] | None = None,
    ) -> Answer: ...

    @overload
    def receive(
        self,
        raw_body: bytes | str,
        headers: Headers,
        handlers: ContextHandlers,
        *,
        seen: Seen,
        on_event: Callable[[LeadEvent, Any], object] | None = None,
    ) -> Answer: ...

    def receive(
        self,
        raw_body: bytes | str,
        headers: Headers,
        handlers: Any,
        *,
        seen: Seen | None = None,
        on_event: Callable[..., object] | None = None,
    ) -> Answer:
        """
        Handles a request, and says what to answer: 200, 400 for what is no genuine webhook, 500 if the handler failed.

        Each webhook is handled once: a repeat is answered 200 and not handled, and one whose handler failed is handled
        when it comes again. A type without a handler is accepted and left alone. One that is repeated while its handler
        still runs waits for that, and so do others of its lead.

        `on_event` gets each event of a lead, before the handler of its type, also of types that were added later: one
        that writes a row gets no test of the endpoint.

        `seen` remembers what was handled, and has the handlers called with a second argument, such as its transaction.
        Without it, ids are kept in memory: that is for tests.
        """
        try:
            event = self.unwrap(raw_body, headers)
        except WebhookVerificationError as refusal:
            if refusal.reason in OWN_FAULTS:
                log.error("%s", refusal)
                return Answer("The receiver is not set up", 500)
            log.info("Refused a request (%s): %s", refusal.reason, refusal)
            return Answer(str(refusal), 400)
        webhook_id = header_of(headers, NAMES[0]) or ""
        of_lead = lead_event_of(event)
        calls = ((on_event if of_lead else None, of_lead), (handlers.get(event.type), event))

        def handle(context: Any) -> None:
            for call, argument in calls:
                if call is not None:
                    call(argument) if seen is None else call(argument, context)

        try:
            with self._turns.of(str(of_lead.data.lead_id) if of_lead else webhook_id):
                (seen or self._in_memory).once(webhook_id, handle)
        except Exception:
            log.exception("The webhook %s of type %s is not handled, and will come again", webhook_id, event.type)
            return Answer("The handler failed", 500)
        return Answer("", 200)

    def _require_now(self, timestamp: str) -> None:
        seconds = int(timestamp) if timestamp.isascii() and timestamp.isdecimal() and len(timestamp) < 13 else 0
        age = datetime.now(timezone.utc).timestamp() - seconds
        if age > self._tolerance:
            raise WebhookVerificationError("too_old", f"The request is older than {self._tolerance:g} s")
        if age < -self._tolerance:
            raise WebhookVerificationError(
                "too_new", "The request is from the future: check this computer's clock"
            )


def header_of(headers: Headers, name: str) -> str | None:
    """Also of a dict that minds the case, and of WSGI's `environ`."""
    for spelling in (name, name.title(), f"HTTP_{name.upper().replace('-', '_')}"):
        value = headers.get(spelling)
        if isinstance(value, str):
            return value
    return None


def lead_event_of(event: Any) -> Any:
    """A `LeadEvent`; one of a type that was added later has the fields of the others. `None` for what is of no lead."""
    data = decode(MilestoneWebhookData, event.data)
    return None if getattr(data, "lead_id", None) is None else replace(event, data=data)


def parse(body: bytes) -> Any:
    try:
        event = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise WebhookVerificationError("body", "The body is no event in JSON")
    return event
