"""Signatures of Standard Webhooks: https://www.standardwebhooks.com"""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from collections.abc import Iterable

PREFIX = "whsec_"
VERSION = "v1"


def signature_of(webhook_id: str, timestamp: str, body: bytes, secret: str) -> str:
    """The value of `webhook-signature`."""
    signed = f"{webhook_id}.{timestamp}.".encode(errors="replace") + body
    return f"{VERSION},{b64encode(hmac.digest(key_of(secret), signed, 'sha256')).decode()}"


def is_signed(webhook_id: str, timestamp: str, body: bytes, signatures: str, secrets: Iterable[str]) -> bool:
    """One valid signature of any secret is enough."""
    expected = [signature_of(webhook_id, timestamp, body, secret).encode() for secret in secrets]
    given = [each.encode(errors="replace") for each in signatures.split(" ")]
    # compared in constant time
    return any(hmac.compare_digest(each, one) for each in expected for one in given)


def key_of(secret: str) -> bytes:
    """Raises `ValueError` if it is no secret."""
    text = secret[len(PREFIX) :] if secret.startswith(PREFIX) else ""
    try:
        key = b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        key = b""
    if not key:
        # the secret itself is in no message
        raise ValueError("a webhook secret must be the whsec_… that set-endpoint showed") from None
    return key
