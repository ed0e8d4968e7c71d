"""Prints where each of your leads is: `python status.py`."""

import os

from partner_referrals import Referrals

with Referrals(api_key=os.environ["REFERRALS_KEY"], base_url=os.environ["REFERRALS_URL"]) as referrals:
    for lead in referrals.leads.list():
        state = "open" if lead.closed_at is None else "closed"
        print(lead.lead_id, lead.partner_lead_id, lead.status, state, lead.updated_at.isoformat(), sep="\t")
