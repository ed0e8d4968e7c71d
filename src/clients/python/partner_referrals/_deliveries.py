from __future__ import annotations

from collections.abc import Iterator, Sequence

from ._calls import GET_DELIVERIES, RESEND_WEBHOOK
from ._transport import Transport, given
from .types import Delivery, DeliveryState


class Deliveries:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        event_id: str | None = None,
        lead_id: int | None = None,
        states: Sequence[DeliveryState] | None = None,
        limit: int | None = None,
    ) -> Iterator[Delivery]:
        """Your webhooks with their attempts, newest first; read page by page."""
        filters = given(event_id=event_id, lead_id=lead_id, states=states, limit=limit)
        return self._transport.pages(GET_DELIVERIES, filters)

    def resend(self, event_id: str) -> None:
        """Sends a webhook again."""
        self._transport.call(RESEND_WEBHOOK, {"event_id": event_id})
