"""Events and signed requests for your own tests, without a network."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from ._webhooks import Webhooks
from .types import (
    EndpointCertification,
    EndpointCertificationData,
    EndpointPing,
    EndpointPingData,
    LeadReceivedPayload,
    LeadReceivedWebhook,
    LeadReceivedWebhookData,
    MilestoneWebhook,
    MilestoneWebhookData,
    MilestoneWebhookType,
    ScoreGains,
    ScoreUpdateWebhook,
    ScoreUpdateWebhookData,
    WebhookEvent,
)

LeadEvent = LeadReceivedWebhook | ScoreUpdateWebhook | MilestoneWebhook

START = datetime(2026, 3, 2, 15, 4, 5, tzinfo=timezone.utc)
GAINS = ScoreGains(
    experian_gain=12, equifax_gain=9, transunion_gain=14, estimated_time_remaining="30-60 days"
)
DAYS: tuple[tuple[MilestoneWebhookType, int], ...] = (
    ("client_account_created", 1),
    ("credit_scan_completed", 2),
    ("contract_signed", 5),
    ("escrow_funded", 10),
)


def events(
    *, lead_id: int = 1, partner_lead_id: str | None = "LOAN-1", start: datetime = START
) -> list[WebhookEvent]:
    """One of each type, as they arrive."""
    ping = EndpointPingData(partner_id=1, environment="sandbox")
    certification = EndpointCertificationData(partner_id=1, environment="sandbox")
    firsts: dict[str, WebhookEvent] = {}
    for event in journey(lead_id=lead_id, partner_lead_id=partner_lead_id, start=start):
        firsts.setdefault(event.type, event)
    return [
        *firsts.values(),
        EndpointPing(type="endpoint.ping", timestamp=start, data=ping),
        EndpointCertification(type="endpoint.certification", timestamp=start, data=certification),
    ]


def journey(
    *,
    lead_id: int = 1,
    partner_lead_id: str | None = "LOAN-1",
    start: datetime = START,
) -> list[LeadEvent]:
    """A whole journey, from `lead_received` by eight score updates to `mortgage_ready`, in its order."""
    lead = _Lead(lead_id, partner_lead_id, start)
    return [
        lead.received(0),
        *(lead.milestone(name, day) for name, day in DAYS),
        *(lead.score_update(10 + 45 * number) for number in range(1, 9)),
        lead.milestone("mortgage_ready", 372),
    ]


def request(event: WebhookEvent, secret: str, *, at: datetime | None = None) -> tuple[bytes, dict[str, str]]:
    """Body and headers that the service would send now."""
    return Webhooks(secrets=secret).sign(event, secret, at=at)


class _Lead:
    """Makes the events of a lead, in their order."""

    def __init__(self, lead_id: int, partner_lead_id: str | None, start: datetime) -> None:
        self._lead_id = lead_id
        self._partner_lead_id = partner_lead_id
        self._start = start
        self._sequence = 0

    def received(self, day: int) -> LeadReceivedWebhook:
        own_id = self._partner_lead_id
        payload = None if own_id is None else LeadReceivedPayload(partner_lead_id=own_id)
        data = LeadReceivedWebhookData(event_name="lead_received", event_payload=payload, **self._facts(day))
        return LeadReceivedWebhook(type="lead_received", timestamp=data.created_at, data=data)

    def milestone(self, name: MilestoneWebhookType, day: int) -> MilestoneWebhook:
        data = MilestoneWebhookData(event_name=name, event_payload=None, **self._facts(day))
        return MilestoneWebhook(type=name, timestamp=data.created_at, data=data)

    def score_update(self, day: int) -> ScoreUpdateWebhook:
        data = ScoreUpdateWebhookData(event_name="score_update", event_payload=GAINS, **self._facts(day))
        return ScoreUpdateWebhook(type="score_update", timestamp=data.created_at, data=data)

    def _facts(self, day: int) -> dict[str, Any]:
        self._sequence += 1
        return {
            "event_id": f"evt_0195550a-6b8a-7c31-9d2e-{self._lead_id:08d}{self._sequence:04d}",
            "created_at": self._start + timedelta(days=day),
            "lead_id": self._lead_id,
            "partner_lead_id": self._partner_lead_id,
            "sequence": self._sequence,
            "environment": "sandbox",
        }
