"""Signatures of messages to other programs."""

import base64
import hashlib
import hmac

from curation.people.webhooks.signing import secret_new, signature


def test_a_signature_is_that_of_the_standard() -> None:
    """The key, id, time and body are the example of Standard Webhooks' own libraries."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    found = signature(
        secret,
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp=1614265330,
        body=b'{"test": 2432232314}',
    )

    assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_receiver_who_knows_the_secret_finds_the_same_signature() -> None:
    secret, body = secret_new(), '{"type": "test", "data": {"text": "é"}}'.encode()
    key = base64.b64decode(secret[len("whsec_") :])
    right = base64.b64encode(hmac.new(key, b"msg_1.17." + body, hashlib.sha256).digest()).decode()

    assert signature(secret, message_id="msg_1", timestamp=17, body=body) == f"v1,{right}"
    assert signature(secret, message_id="msg_1", timestamp=18, body=body) != f"v1,{right}"
    assert len(key) == 32
    assert secret_new() != secret
