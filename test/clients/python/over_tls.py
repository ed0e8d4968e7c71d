"""Calls the API at argv[1] over TLS: without, then with the certificate in argv[2]."""

from __future__ import annotations

import ssl
import sys

from partner_referrals import NoAnswerError, Referrals

url, certificate = sys.argv[1:]
try:
    Referrals(api_key="prs_test_1", base_url=url, deadline=0.2).ping()
except NoAnswerError as error:
    print(error)
trusting = ssl.create_default_context(cafile=certificate)
print(Referrals(api_key="prs_test_1", base_url=url, ssl_context=trusting).ping()["environment"])
