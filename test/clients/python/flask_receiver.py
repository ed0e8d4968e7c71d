"""
Runs the README's receiver with Flask, from `receiver.py` in this folder, as the endpoint of a partner: it is certified,
and gets the webhooks of a lead.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing

from partner_referrals import Referrals
from partner_referrals.types import ScoreGains

from until import until

GAINS: ScoreGains = {
    "experian_gain": 0,
    "equifax_gain": 9,
    "transunion_gain": 14,
    "estimated_time_remaining": "30-60 days",
}
PORT = os.environ["RECEIVER_PORT"]


def main(referrals: Referrals) -> None:
    with closing(sqlite3.connect("lender.db")) as database:
        database.executescript(
            "create table webhooks_seen (id text primary key);"
            "create table score_updates (lead_id integer, points integer)"
        )
    secret = referrals.set_endpoint({"url": f"http://127.0.0.1:{PORT}/webhooks"})["data"]["secret"]
    flask = [sys.executable, "-m", "flask", "--app", "receiver", "run", "--port", PORT]
    server = subprocess.Popen(flask, env={**os.environ, "WEBHOOK_SECRET": secret})
    try:
        until(is_up)
        report = referrals.certify()["certification"]
        assert report and report["state"] == "passed", report
        lead_id = referrals.create_lead(
            {"first_name": "Ada", "last_name": "Miller", "email": "ada@example.com", "phone": "555-0100"}
        )["lead_id"]
        referrals.simulate_event({"lead_id": lead_id, "event_name": "contract_signed"})
        for points in (12, -3):
            gains: ScoreGains = {**GAINS, "experian_gain": points}
            referrals.simulate_event({"lead_id": lead_id, "event_name": "score_update", "event_payload": gains})
        until(lambda: states(referrals, lead_id) == ["delivered"] * 4)
        assert rows("select lead_id, points from score_updates") == [(lead_id, 12), (lead_id, -3)]
        # a webhook that is sent again is not handled again
        update = next(referrals.deliveries({"lead_id": lead_id}))["event_id"]
        referrals.resend_webhook({"event_id": update})
        until(lambda: statuses(referrals, update) == [200, 200])
        assert len(rows("select * from score_updates")) == 2
    finally:
        server.terminate()
        server.wait()
    print("done")


def states(referrals: Referrals, lead_id: int) -> list[str]:
    return [each["state"] for each in referrals.deliveries({"lead_id": lead_id})]


def statuses(referrals: Referrals, event_id: str) -> list[int | None]:
    return [each["status"] for each in next(referrals.deliveries({"event_id": event_id}))["attempts"]]


def rows(query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect("lender.db")) as database:
        return database.execute(query).fetchall()


def is_up() -> bool:
    try:
        socket.create_connection(("127.0.0.1", int(PORT))).close()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main(Referrals(api_key=os.environ["REFERRALS_KEY"], base_url=os.environ["REFERRALS_URL"]))
