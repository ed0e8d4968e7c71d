"""Writes a line for each event of the feed, until it is ended: `lead_id event_name cursor`."""

from __future__ import annotations

import os
import sys

from partner_referrals import CursorLostError, Referrals

client = Referrals(api_key=os.environ["REFERRALS_KEY"], base_url=os.environ["REFERRALS_URL"], deadline=2)
try:
    for event in client.events(after=sys.argv[1] if len(sys.argv) > 1 else None):
        print(event["lead_id"], event["event_name"], event["cursor"], flush=True)
except CursorLostError as error:
    page = client.list_events({"after": error.cursor})
    print("lost", page["has_more"], error.cursor)
