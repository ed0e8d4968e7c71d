"""
Refers the borrowers of a CSV file: `python import_leads.py leads.csv`.

Its columns are named like the fields of create-lead; each borrower has a `partner_lead_id`. Run it again after an
interruption, or once you have corrected rows: it continues with what is not referred yet.
"""

from __future__ import annotations

import csv
import os
import sqlite3
import sys
from contextlib import closing
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from partner_referrals import IdempotencyConflictError, InvalidPayloadError, Referrals, phone_number


def import_leads(path: str, referrals: Referrals, database: sqlite3.Connection) -> bool:
    """Whether every row is referred."""
    database.execute("create table if not exists leads (partner_lead_id text primary key, lead_id integer)")
    is_done = True
    with open(path, newline="", encoding="utf-8-sig") as file:
        # the header is row 1, as in a spreadsheet
        for number, row in enumerate(csv.DictReader(file), 2):
            fields: Any = {name: value for name, value in row.items() if name and value and value.strip()}
            fields["phone"] = phone_number(fields.get("phone", ""))
            own_id = fields.get("partner_lead_id")
            if database.execute("select 1 from leads where partner_lead_id = ?", [own_id]).fetchone():
                continue
            try:
                if own_id is None:
                    raise ValueError("partner_lead_id is missing")
                # the same row has the same key, so that a repeat after a crash makes no second lead
                lead = referrals.create_lead(fields, idempotency_key=str(uuid5(NAMESPACE_OID, own_id)))
            except (ValueError, InvalidPayloadError, IdempotencyConflictError) as refusal:
                print(f"row {number}: {refusal}")
                is_done = False
                continue
            database.execute("insert into leads values (?, ?)", [own_id, lead["lead_id"]])
            print(f"row {number}: lead {lead['lead_id']}")
            if "duplicate_of" in lead:
                print(f"row {number}: may be the borrower of lead {lead['duplicate_of']}: close one of the two")
    return is_done


if __name__ == "__main__":
    client = Referrals(api_key=os.environ["REFERRALS_KEY"], base_url=os.environ["REFERRALS_URL"])
    with closing(sqlite3.connect("lender.db", isolation_level=None)) as lender:
        sys.exit(0 if import_leads(sys.argv[1], client, lender) else 1)
