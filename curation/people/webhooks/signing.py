"""Signatures by which a receiver knows who sent a message: Standard Webhooks (standardwebhooks.com), version 1."""

import base64
import hashlib
import hmac
import secrets

PREFIX = "whsec_"
BYTES = 32


def secret_new() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(BYTES)).decode()


def signature(secret: str, *, message_id: str, timestamp: int, body: bytes) -> str:
    """`v1,` and the HMAC-SHA256 of id, time (in whole seconds) and body with points between, in base64.

    secret: as `secret_new` gives it; its bytes in base64 are the key.
    """
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = b".".join((message_id.encode(), str(timestamp).encode(), body))
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
