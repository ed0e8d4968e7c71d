"""Events and signed requests for your own tests, without a network."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from ._calls import WEBHOOK_EVENT
from ._webhooks import LeadEvent, Webhooks
from ._wire import decode
from .types import WebhookEvent

START = datetime(2026, 3, 2, 15, 4, 5, tzinfo=timezone.utc)
GAINS = {"experian_gain": 12, "equifax_gain": 9, "transunion_gain": 14, "estimated_time_remaining": "30-60 days"}
DAYS = (
    ("lead_received", 0),
    ("client_account_created", 1),
    ("credit_scan_completed", 2),
    ("contract_signed", 5),
    ("escrow_funded", 10),
    *(("score_update", 10 + 45 * number) for number in range(1, 9)),
    ("mortgage_ready", 372),
)


def events(
    *, lead_id: int = 1, partner_lead_id: str | None = "LOAN-1", start: datetime = START
) -> list[WebhookEvent]:
    """One of each type, as they arrive."""
    firsts: dict[str, WebhookEvent] = {}
    for event in journey(lead_id=lead_id, partner_lead_id=partner_lead_id, start=start):
        firsts.setdefault(event.type, event)
    data: dict[str, object] = {"partner_id": 1, "environment": "sandbox"}
    tests = ("endpoint.ping", "endpoint.certification")
    return [*firsts.values(), *(_event(name, start, data) for name in tests)]


def journey(
    *, lead_id: int = 1, partner_lead_id: str | None = "LOAN-1", start: datetime = START
) -> list[LeadEvent]:
    """A whole journey, from `lead_received` by eight score updates to `mortgage_ready`, in its order."""
    received = None if partner_lead_id is None else {"partner_lead_id": partner_lead_id}
    payloads = {"lead_received": received, "score_update": GAINS}
    found: list[LeadEvent] = []
    for sequence, (name, day) in enumerate(DAYS, 1):
        at = start + timedelta(days=day)
        data: dict[str, object] = {
            "event_id": f"evt_0195550a-6b8a-7c31-9d2e-{lead_id:08d}{sequence:04d}",
            "event_name": name,
            "event_payload": payloads.get(name),
            "created_at": at.isoformat(),
            "lead_id": lead_id,
            "partner_lead_id": partner_lead_id,
            "sequence": sequence,
            "environment": "sandbox",
        }
        found.append(_event(name, at, data))
    return found


def request(event: WebhookEvent, secret: str, *, at: datetime | None = None) -> tuple[bytes, dict[str, str]]:
    """Body and headers that the service would send now."""
    return Webhooks(secrets=secret).sign(event, secret, at=at)


def _event(name: str, at: datetime, data: dict[str, object]) -> Any:
    return decode(WEBHOOK_EVENT, {"type": name, "timestamp": at.isoformat(), "data": data})
