"""
Keeps one row for each event of your leads: `flask --app receiver run --port 4000`.

The row and the `webhook-id` are written in one transaction, so that a webhook that comes twice makes one row.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing

from flask import Flask, request

from partner_referrals import LeadEvent, Webhooks

app = Flask(__name__)
webhooks = Webhooks(secrets=os.environ["WEBHOOK_SECRET"].split())  # both while one is rotated

with closing(sqlite3.connect("lender.db")) as lender:
    lender.execute("create table if not exists webhooks_seen (id text primary key)")
    lender.execute("create table if not exists events (event_id, lead_id, sequence, name, happened_at, payload)")


class SeenInDatabase:
    def once(self, webhook_id: str, handle: Callable[[sqlite3.Connection], object]) -> None:
        with closing(sqlite3.connect("lender.db")) as database, database:
            if database.execute("insert or ignore into webhooks_seen values (?)", [webhook_id]).rowcount == 1:
                handle(database)


def keep(event: LeadEvent, database: sqlite3.Connection) -> None:
    data = event["data"]
    payload = json.dumps(data["event_payload"])
    row = [data["event_id"], data["lead_id"], data["sequence"], data["event_name"], data["created_at"], payload]
    database.execute("insert into events values (?, ?, ?, ?, ?, ?)", row)


@app.post("/webhooks")
def receive() -> tuple[str, int]:
    return webhooks.receive(request.get_data(), request.headers, keep, seen=SeenInDatabase())
