"""Makes calls of each kind in a sandbox whose partner has an endpoint."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

from partner_referrals import ApiError, InvalidPayloadError, LeadClosedError, NotFoundError, Referrals
from partner_referrals.types import CreateLeadRequest

from until import until

LEAD: CreateLeadRequest = {
    "first_name": "Zoë",
    "last_name": "Müller",
    "email": "zoe@example.com",
    "phone": "555-0100",
    "partner_lead_id": "LOAN-118",
}


def main(referrals: Referrals) -> None:
    pong = referrals.ping()
    assert pong.environment == "sandbox"
    assert abs(pong.time - datetime.now(timezone.utc)) < timedelta(minutes=5)

    created = referrals.leads.create(LEAD, idempotency_key="loan-118")
    assert created == referrals.leads.create(LEAD, idempotency_key="loan-118")
    assert (created.partner_lead_id, created.ignored_fields, created.duplicate_of) == ("LOAN-118", [], None)
    lead_id = created.lead_id
    again = referrals.leads.create({**LEAD, "favourite": "blue"})  # type: ignore[typeddict-unknown-key]
    assert (again.ignored_fields, again.duplicate_of) == (["favourite"], lead_id)

    referrals.leads.update(lead_id, {"loan_product": "FHA", "branchCode": "Oakland", "my_field": "x"})
    lead = referrals.leads.get(lead_id)
    assert (lead.id, lead.first_name, lead.loan_product, lead.closed_at) == (lead_id, "Zoë", "FHA", None)
    assert lead.metadata == {"branchCode": "Oakland", "my_field": "x"}, lead.metadata
    referrals.leads.update(lead_id, {"branchCode": None})
    assert referrals.leads.get(lead_id).metadata == {"my_field": "x"}

    simulation = referrals.sandbox.simulate(lead_id, events=[{"event_name": "contract_signed"}], idempotency_key="s")
    assert [event.recorded for event in simulation.events] == [True]
    history = referrals.leads.history(lead_id)
    assert [event.event_name for event in history] == ["lead_received", "contract_signed"]
    received = history[0]
    assert received.event_name == "lead_received" and received.event_payload
    assert received.event_payload.partner_lead_id == "LOAN-118"
    # the feed shows an event once all that began before it has ended
    until(lambda: referrals.events.page(limit=1).has_more)
    page = referrals.events.page(limit=1)
    assert page.has_more and page.data[0].lead_id == lead_id and page.data[0].place == page.next

    listed = list(referrals.leads.list(limit=1))
    assert [each.lead_id for each in listed] == [again.lead_id, lead_id]
    assert [each.lead_id for each in referrals.leads.list(status="contract_signed", closed=False)] == [lead_id]
    [delivery] = referrals.deliveries.list(event_id=referrals.events.page(limit=1).data[0].event_id)
    assert (delivery.lead_id, delivery.event_name) == (lead_id, "lead_received")
    exported = referrals.leads.export(lead_id)
    assert exported.lead.metadata["my_field"] == "x"
    assert [event.event_name for event in exported.events] == ["lead_received", "contract_signed"]

    clock = referrals.sandbox.advance_clock(lead_id, days=1)
    assert referrals.sandbox.clock(lead_id).offset_seconds == 86_400 and clock.now > pong.time
    assert referrals.leads.closing(lead_id) is None
    referrals.leads.close(lead_id, "withdrew")
    closing = referrals.leads.closing(lead_id)
    assert closing is not None and closing.reason == "withdrew"
    assert {"chatty_borrower"} < {each.scenario for each in referrals.sandbox.scenarios()}

    wrong: CreateLeadRequest = {**LEAD, "email": "no"}
    invalid = refusal(lambda: referrals.leads.create(wrong))
    assert isinstance(invalid, InvalidPayloadError) and invalid.status == 400 and invalid.request_id
    assert [each.field for each in invalid.fields] == ["email"]
    unknown = refusal(lambda: referrals.leads.get(2_000_000_000))
    assert isinstance(unknown, NotFoundError) and (unknown.code, unknown.status) == ("NOT_FOUND", 404)
    assert refusal(referrals.endpoint.certify).code == "NO_CANDIDATE"
    assert isinstance(refusal(lambda: referrals.sandbox.simulate(lead_id, "escrow_funded")), LeadClosedError)
    print("done")


def refusal(call: Callable[[], object]) -> ApiError:
    try:
        call()
    except ApiError as error:
        return error
    raise AssertionError("it was not refused")


if __name__ == "__main__":
    with Referrals(api_key=os.environ["REFERRALS_KEY"], base_url=os.environ["REFERRALS_URL"]) as client:
        main(client)
