"""Signatures as standardwebhooks.com describes them, and secrets that are refused."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from app.core.errors import InvalidInputError
from app.webhooks.signing import read_secret, signed_headers


def test_the_example_of_the_specification() -> None:
    key = read_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    at = datetime.fromtimestamp(1614265330, UTC)
    headers = signed_headers(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", at, b'{"test": 2432232314}')
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


@pytest.mark.parametrize(
    ("zone", "body"),
    [(UTC, "{}"), (timezone(timedelta(hours=9)), "{}"), (UTC, '{"goal": "Tee für zwei ☕"}')],
    ids=["plain", "another zone", "beyond ASCII"],
)
def test_receivers_can_verify_it(zone: tzinfo, body: str) -> None:
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    headers = signed_headers(read_secret(secret), "msg_1", datetime.now(zone), body.encode())
    Webhook(secret).verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body + " ", headers)


BAD = {"none": "", "no base64": "whsec_not base64!", "too short": "whsec_c2hvcnQ=", "snow": "whsec_☃"}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_what_is_no_secret(text: str) -> None:
    with pytest.raises(InvalidInputError, match="make one with") as raised:
        read_secret(text)
    assert raised.value.field == "WEBHOOK_SECRET"
