"""Makes calls of each kind in a sandbox whose partner has an endpoint."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

from partner_referrals import ApiError, InvalidPayloadError, LeadClosedError, NotFoundError, Referrals, time_of
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
    assert pong["environment"] == "sandbox"
    assert abs(time_of(pong["time"]) - datetime.now(timezone.utc)) < timedelta(minutes=5)

    created = referrals.create_lead(LEAD, idempotency_key="loan-118")
    assert created == referrals.create_lead(LEAD, idempotency_key="loan-118")
    assert created["partner_lead_id"] == "LOAN-118" and "ignored_fields" not in created
    lead_id = created["lead_id"]
    again = referrals.create_lead({**LEAD, "favourite": "blue"})  # type: ignore[typeddict-unknown-key]
    assert (again["ignored_fields"], again["duplicate_of"]) == (["favourite"], lead_id)

    referrals.update_partner_info({"lead_id": lead_id, "loan_product": "FHA", "branchCode": "Oakland"})
    lead = referrals.get_lead({"lead_id": lead_id})["data"]
    assert (lead["first_name"], lead["loan_product"], lead.get("branchCode")) == ("Zoë", "FHA", "Oakland")

    simulated = referrals.simulate_event(
        {"lead_id": lead_id, "events": [{"event_name": "contract_signed"}]}, idempotency_key="s"
    )
    assert [event["recorded"] for event in simulated["data"]["events"]] == [True]
    history = referrals.get_events({"lead_id": lead_id})["data"]
    assert [event["event_name"] for event in history] == ["lead_received", "contract_signed"]
    received = history[0]
    assert received["event_name"] == "lead_received" and received["event_payload"]
    assert received["event_payload"]["partner_lead_id"] == "LOAN-118"
    # the feed shows an event once all that began before it has ended
    until(lambda: referrals.list_events({"limit": 1})["has_more"])
    page = referrals.list_events({"limit": 1})
    assert page["data"][0]["lead_id"] == lead_id and page["data"][0]["cursor"] == page["next"]

    assert [each["lead_id"] for each in referrals.leads({"limit": 1})] == [again["lead_id"], lead_id]
    signed = referrals.leads({"status": "contract_signed", "closed": False})
    assert [each["lead_id"] for each in signed] == [lead_id]
    [delivery] = referrals.deliveries({"event_id": page["data"][0]["event_id"]})
    assert (delivery["lead_id"], delivery["event_name"]) == (lead_id, "lead_received")

    referrals.close_lead({"lead_id": lead_id, "reason": "withdrew"})
    assert referrals.get_lead({"lead_id": lead_id})["closing"]["reason"] == "withdrew"
    assert {"chatty_borrower"} < {each["scenario"] for each in referrals.list_scenarios()["data"]}

    wrong: CreateLeadRequest = {**LEAD, "email": "no"}
    invalid = refusal(lambda: referrals.create_lead(wrong))
    assert isinstance(invalid, InvalidPayloadError) and invalid.status == 400 and invalid.request_id
    assert [each["field"] for each in invalid.fields] == ["email"]
    unknown = refusal(lambda: referrals.get_lead({"lead_id": 2_000_000_000}))
    assert isinstance(unknown, NotFoundError) and (unknown.code, unknown.status) == ("NOT_FOUND", 404)
    assert refusal(referrals.certify_endpoint).code == "NO_CANDIDATE"
    closed = refusal(lambda: referrals.simulate_event({"lead_id": lead_id, "event_name": "escrow_funded"}))
    assert isinstance(closed, LeadClosedError)
    print("done")


def refusal(call: Callable[[], object]) -> ApiError:
    try:
        call()
    except ApiError as error:
        return error
    raise AssertionError("it was not refused")


if __name__ == "__main__":
    main(Referrals(api_key=os.environ["REFERRALS_KEY"], base_url=os.environ["REFERRALS_URL"]))
