"""Writes a line for each event of the feed, until it is ended: `lead_id event_name place`."""

from __future__ import annotations

import os
import sys

from partner_referrals import CursorLostError, Referrals

client = Referrals(api_key=os.environ["REFERRALS_KEY"], base_url=os.environ["REFERRALS_URL"], deadline=2)
try:
    for event in client.events.follow(after=sys.argv[1] if len(sys.argv) > 1 else None):
        print(event.lead_id, event.event_name, event.place, flush=True)
except CursorLostError as error:
    page = client.events.page(after=error.place)
    print("lost", page.has_more, error.place)
