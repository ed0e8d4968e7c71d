"""Creates leads through a network that drops, delays and repeats, and follows their events. Writes what it got."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor

from partner_referrals import Referrals

LEADS = 24

client = Referrals(
    api_key=os.environ["REFERRALS_KEY"], base_url=os.environ["REFERRALS_URL"], timeout=3, deadline=60
)


def create(index: int) -> int:
    return client.create_lead(
        {
            "first_name": "Ada",
            "last_name": "Miller",
            "email": "ada@example.com",
            "phone": "555-0100",
            "partner_lead_id": f"once-{index}",
        },
        idempotency_key=f"once-{index}" if index % 2 == 0 else None,
    )["lead_id"]


with ThreadPoolExecutor(8) as pool:
    ids = list(pool.map(create, range(LEADS)))
assert create(0) == ids[0]
names = [client.get_lead({"lead_id": lead_id})["data"]["partner_lead_id"] for lead_id in ids]
followed: list[int] = []
for event in client.events():
    followed.append(event["lead_id"])
    if len(followed) == LEADS:
        break
print(json.dumps({"ids": ids, "names": names, "followed": followed}))
