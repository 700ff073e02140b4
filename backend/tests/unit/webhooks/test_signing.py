"""Signatures as standardwebhooks.com describes them, and secrets that are refused."""

from datetime import UTC, datetime

import pytest

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


BAD = {"none": "", "no base64": "whsec_not base64!", "too short": "whsec_c2hvcnQ=", "snow": "whsec_☃"}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_what_is_no_secret(text: str) -> None:
    with pytest.raises(InvalidInputError, match="make one with") as raised:
        read_secret(text)
    assert raised.value.field == "WEBHOOK_SECRET"
