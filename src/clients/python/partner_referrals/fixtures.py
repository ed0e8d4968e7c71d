"""Events and signed requests for your own tests, without a network."""

from __future__ import annotations

import json
import uuid
from datetime import datetime, timedelta, timezone
from typing import cast

from ._webhooks import NAMES, LeadEvent, key_of, signature_of
from .types import WEBHOOK_TYPES, WebhookEvent

START = datetime(2026, 3, 2, 15, 4, 5, tzinfo=timezone.utc)
GAINS = {"experian_gain": 12, "equifax_gain": 9, "transunion_gain": 14, "estimated_time_remaining": "30-60 days"}
TESTS = [name for name in WEBHOOK_TYPES if name.startswith("endpoint.")]
MILESTONES = [name for name in WEBHOOK_TYPES if name not in TESTS for _ in range(8 if name == "score_update" else 1)]


def events(*, lead_id: int = 1, partner_lead_id: str | None = "LOAN-1", start: datetime = START) -> list[WebhookEvent]:
    """One of each type, as they arrive."""
    firsts: dict[str, WebhookEvent] = {}
    for event in journey(lead_id=lead_id, partner_lead_id=partner_lead_id, start=start):
        firsts.setdefault(event["type"], event)
    test = {"timestamp": f"{start:%Y-%m-%dT%H:%M:%SZ}", "data": {"partner_id": 1, "environment": "sandbox"}}
    return [*firsts.values(), *(cast(WebhookEvent, {"type": name, **test}) for name in TESTS)]


def journey(*, lead_id: int = 1, partner_lead_id: str | None = "LOAN-1", start: datetime = START) -> list[LeadEvent]:
    """A whole journey, from `lead_received` by eight score updates to `mortgage_ready`, in its order."""
    received = None if partner_lead_id is None else {"partner_lead_id": partner_lead_id}
    payloads = {"lead_received": received, "score_update": GAINS}
    found: list[LeadEvent] = []
    day = -2
    for sequence, name in enumerate(MILESTONES, 1):
        day += 45 if name == "score_update" else 2
        at = (start + timedelta(days=day)).astimezone(timezone.utc)
        data = {
            "event_id": f"evt_0195550a-6b8a-7c31-9d2e-{lead_id:08d}{sequence:04d}",
            "event_name": name,
            "event_payload": payloads.get(name),
            "created_at": f"{at:%Y-%m-%d %H:%M:%S}",
            "lead_id": lead_id,
            "partner_lead_id": partner_lead_id,
            "sequence": sequence,
            "environment": "sandbox",
        }
        found.append(cast(LeadEvent, {"type": name, "timestamp": f"{at:%Y-%m-%dT%H:%M:%SZ}", "data": data}))
    return found


def request(event: WebhookEvent, secret: str, *, at: datetime | None = None) -> tuple[bytes, dict[str, str]]:
    """Body and headers that the service would send now."""
    webhook_id = str(event["data"].get("event_id") or f"msg_{uuid.uuid4()}")
    timestamp = str(int((at or datetime.now(timezone.utc)).timestamp()))
    body = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
    values = (webhook_id, timestamp, signature_of(webhook_id, timestamp, body, key_of(secret)))
    return body, {"content-type": "application/json", **dict(zip(NAMES, values))}
