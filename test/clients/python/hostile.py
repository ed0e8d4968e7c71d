"""Sends an application of Flask in this folder, named by the first argument, genuine requests and all others."""

from __future__ import annotations

import importlib
import os
import sys

from partner_referrals.fixtures import events, request

app = importlib.import_module(sys.argv[1]).app
secret = os.environ["WEBHOOK_SECRET"]
genuine = [request(event, secret) for event in events()]


def status(body: bytes, headers: dict[str, str]) -> int:
    return int(app.test_client().post("/webhooks", data=body, headers=headers).status_code)


for each in genuine * 2:
    assert status(*each) == 200
body, headers = genuine[0]
others = [(body + b" ", headers), (b"\xff", headers), (b"", {}), (body, {**headers, "webhook-timestamp": "x"})]
for signature in ("v1", ",", "v1,a,b", "v1,é", "é", "v1,="):
    others.append((body, {**headers, "webhook-signature": signature}))
for other in others:
    assert 400 <= status(*other) < 500, other
print("done")
