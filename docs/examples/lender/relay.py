"""
Relays webhooks to a URL that accepts everything, such as a hook of Zapier, Make or a CRM:
`HOOK_URL=https://… flask --app relay run --port 4000`. It refuses what is not genuine, so it can be certified.
"""

import os
from urllib.request import Request, urlopen

from flask import Flask, request
from partner_referrals import Webhooks

app = Flask(__name__)
webhooks = Webhooks(secrets=os.environ["WEBHOOK_SECRET"].split())


@app.post("/webhooks")
def receive() -> tuple[str, int]:
    body = request.get_data()
    hook = Request(os.environ["HOOK_URL"], body, {"Content-Type": "application/json"})
    # an error of the hook is answered 500, so the webhook comes again
    return webhooks.receive(body, request.headers, lambda *_: urlopen(hook, timeout=10).close())
