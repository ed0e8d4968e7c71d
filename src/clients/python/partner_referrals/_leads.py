from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ._calls import (
    CLOSE_LEAD,
    CREATE_LEAD,
    ERASE_LEAD,
    EXPORT_LEAD,
    GET_EVENTS,
    GET_LEAD,
    LIST_LEADS,
    UPDATE_PARTNER_INFO,
)
from ._phone import phone_number
from ._transport import Transport, given
from .types import (
    CloseLeadReason,
    Closing,
    CreateLeadRequest,
    EraseLeadReason,
    Erasure,
    Event,
    ExportedLead,
    Lead,
    LeadClosing,
    LeadSummary,
    ListLeadsDelivery,
    ListLeadsStatus,
)


@dataclass(frozen=True, kw_only=True)
class CreatedLead:
    lead_id: int
    """Store it with your application."""
    partner_lead_id: str | None
    ignored_fields: Sequence[str]
    """Fields of the request that the API does not know: they were not stored."""
    duplicate_of: int | None
    """An open lead of yours with the same `partner_lead_id` or address: you may have referred this borrower twice."""


class Leads:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, lead: CreateLeadRequest, *, idempotency_key: str | None = None) -> CreatedLead:
        """
        Refers a borrower. Give the loan application's id as `idempotency_key`, so that a repeat after a crash makes no
        second lead. `phone` may have dots, brackets and an extension, which are left out.
        """
        if lead.get("phone"):
            lead = {**lead, "phone": phone_number(lead["phone"])}
        answer = self._transport.call(CREATE_LEAD, lead, idempotency_key=idempotency_key)
        return CreatedLead(
            lead_id=answer.lead_id,
            partner_lead_id=answer.partner_lead_id,
            ignored_fields=answer.ignored_fields or [],
            duplicate_of=answer.duplicate_of,
        )

    def get(self, lead_id: int) -> Lead:
        return self._transport.call(GET_LEAD, {"lead_id": lead_id}).data

    def closing(self, lead_id: int) -> LeadClosing | None:
        """When the lead was closed, and why; `None` while it is open."""
        return self._transport.call(GET_LEAD, {"lead_id": lead_id}).closing

    def history(self, lead_id: int) -> Sequence[Event]:
        """Its events, oldest first."""
        return self._transport.call(GET_EVENTS, {"lead_id": lead_id}).data

    def update(self, lead_id: int, fields: Mapping[str, str | None]) -> None:
        """Fields that are not named stay, and `None` removes one. A name that the API does not know is a field of yours."""
        self._transport.call(UPDATE_PARTNER_INFO, {**fields, "lead_id": lead_id})

    def list(
        self,
        *,
        status: ListLeadsStatus | None = None,
        partner_lead_id: str | None = None,
        partner_lead_id_prefix: str | None = None,
        closed: bool | None = None,
        delivery: ListLeadsDelivery | None = None,
        limit: int | None = None,
    ) -> Iterator[LeadSummary]:
        """Without personal data, newest first; read page by page, `limit` being the length of a page."""
        filters = given(
            status=status,
            partner_lead_id=partner_lead_id,
            partner_lead_id_prefix=partner_lead_id_prefix,
            closed=closed,
            delivery=delivery,
            limit=limit,
        )
        return self._transport.pages(LIST_LEADS, filters)

    def export(self, lead_id: int) -> ExportedLead:
        """Everything that is kept of a borrower, to answer a request for access."""
        return self._transport.call(EXPORT_LEAD, {"lead_id": lead_id}).data

    def close(self, lead_id: int, reason: CloseLeadReason, *, idempotency_key: str | None = None) -> Closing:
        """Closes a lead for good."""
        body = given(lead_id=lead_id, reason=reason)
        return self._transport.call(CLOSE_LEAD, body, idempotency_key=idempotency_key).data

    def erase(
        self, lead_id: int, *, reason: EraseLeadReason | None = None, idempotency_key: str | None = None
    ) -> Erasure:
        """Erases a borrower's data at once and for good."""
        body = given(lead_id=lead_id, reason=reason)
        return self._transport.call(ERASE_LEAD, body, idempotency_key=idempotency_key).data
