"""Prints where each of your leads is: `python status.py`."""

import os

from partner_referrals import Referrals

referrals = Referrals(api_key=os.environ["REFERRALS_KEY"], base_url=os.environ["REFERRALS_URL"])
for lead in referrals.leads():
    state = "open" if lead["closed_at"] is None else "closed"
    print(lead["lead_id"], lead["partner_lead_id"], lead["status"], state, lead["updated_at"], sep="\t")
