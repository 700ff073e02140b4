"""What a provider's refusal means, and when its limit ends."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from app.agents.gateway_port import Dialect
from app.agents.port import FailureKind
from app.gateway.asking import RetryRules
from app.gateway.provider_faults import provider_words, read_error_in_answer, read_fault, reset_time
from app.gateway.upstreams import Upstream

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
UPSTREAM = Upstream(
    Dialect.OPENAI_CHAT, "openai", "https://models.test/v1", "sk-secret", "OPENAI_API_KEY", "openai"
)


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        pytest.param({"retry-after": "30"}, {}, 30, id="seconds"),
        pytest.param({"retry-after-ms": "1500", "retry-after": "2"}, {}, 1.5, id="milliseconds first"),
        pytest.param({"retry-after": "Fri, 01 May 2026 12:01:00 GMT"}, {}, 60, id="a date"),
        pytest.param({"retry-after": "Fri, 01 May 2026 11:00:00 GMT"}, {}, 0, id="a date in the past"),
        pytest.param({"retry-after": "soon"}, {}, None, id="a word"),
        pytest.param({"retry-after": "-5"}, {}, None, id="negative"),
        pytest.param({"retry-after": "inf"}, {}, None, id="for ever"),
        pytest.param({"retry-after": "99999999999"}, {}, None, id="in three thousand years"),
        pytest.param({}, {"error": {"message": "Please try again in 11.05s."}}, 11.05, id="in words"),
        pytest.param({}, {"error": {"details": [{}, {"retryDelay": "34.5s"}]}}, 34.5, id="Google"),
        pytest.param({}, {"error": {"details": [3, {"retryDelay": 9}]}}, None, id="Google, unreadable"),
        pytest.param(
            {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"}, {}, 360, id="OpenAI"
        ),
        pytest.param(
            {"x-ratelimit-remaining-tokens": "9", "x-ratelimit-reset-tokens": "6m0s"},
            {},
            None,
            id="a limit that is not spent",
        ),
        pytest.param(
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-05-01T12:00:10Z",
                "anthropic-ratelimit-tokens-remaining": "0",
                "anthropic-ratelimit-tokens-reset": "2026-05-01T12:00:40Z",
            },
            {},
            40,
            id="Anthropic, the later of two",
        ),
        pytest.param({}, {}, None, id="nothing"),
    ],
)
def test_reset_times(headers: Mapping[str, str], body: object, seconds: float | None) -> None:
    expected = None if seconds is None else NOW + timedelta(seconds=seconds)
    assert reset_time(headers, json.dumps(body).encode(), NOW) == expected


@pytest.mark.parametrize(
    ("status", "message", "kind", "answered"),
    [
        (401, "bad key sk-secret", FailureKind.CONFIGURATION, 401),
        (403, "no", FailureKind.CONFIGURATION, 403),
        (402, "pay", FailureKind.CONFIGURATION, 403),
        (429, "You exceeded your current quota", FailureKind.CONFIGURATION, 403),
        (429, "slow down", FailureKind.UNAVAILABLE, 503),
        (429, "Request too large for gpt-5.1 on tokens per min", FailureKind.LIMIT, 400),
        (500, "oops", FailureKind.UNAVAILABLE, 503),
        (529, "overloaded", FailureKind.UNAVAILABLE, 503),
        (302, "", FailureKind.CONFIGURATION, 502),
        (404, "no such model", FailureKind.CONFIGURATION, 404),
        (400, "prompt is too long: 300000 tokens", FailureKind.LIMIT, 400),
        (400, "The input token count (9) exceeds the maximum number of tokens", FailureKind.LIMIT, 400),
        (413, "large", FailureKind.LIMIT, 413),
        (400, "unknown field", FailureKind.CONFIGURATION, 400),
    ],
)
def test_kinds(status: int, message: str, kind: FailureKind, answered: int) -> None:
    body = json.dumps({"error": {"message": message}}).encode()
    fault = read_fault(UPSTREAM, status, {}, body, NOW)
    assert (fault.failure.kind, fault.status) == (kind, answered)
    assert "sk-secret" not in fault.failure.message
    assert fault.body is None or b"sk-secret" not in fault.body


GOOGLES_LIMIT = (
    "You exceeded your current quota, please check your plan and billing details.\n"
    "* Quota exceeded for metric: generate_content_free_tier_requests, limit: {limit}\nPlease retry in 26s."
)


@pytest.mark.parametrize(
    ("limit", "kind", "seconds"),
    [
        pytest.param(15, FailureKind.UNAVAILABLE, 26, id="a limit of a minute"),
        pytest.param(0, FailureKind.CONFIGURATION, None, id="no quota at all"),
    ],
)
def test_google_speaks_of_billing_at_each_limit(limit: int, kind: FailureKind, seconds: int | None) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "26s"}]
    error = {"code": 429, "message": GOOGLES_LIMIT.format(limit=limit), "details": details}
    expected = None if seconds is None else NOW + timedelta(seconds=seconds)
    for fault in (
        read_fault(UPSTREAM, 429, {}, json.dumps({"error": error}).encode(), NOW),
        read_error_in_answer(UPSTREAM, error, NOW),
    ):
        assert (fault.failure.kind, fault.failure.retry_at) == (kind, expected)


RATE = "Rate limit reached for gpt-5.1 on tokens per min (TPM): Limit 30000. Please try again in 1m2.5s."
TOO_LARGE = "Request too large for gpt-5.1 on tokens per min (TPM): Limit 30000, Requested 40000."


@pytest.mark.parametrize(
    ("error", "kind", "seconds"),
    [
        ({"code": "rate_limit_exceeded", "message": RATE}, FailureKind.UNAVAILABLE, 62.5),
        ({"code": "rate_limit_exceeded", "message": TOO_LARGE}, FailureKind.LIMIT, None),
        ({"code": 429, "message": "Too many tokens, please wait"}, FailureKind.UNAVAILABLE, None),
        ({"type": "overloaded_error", "message": "Overloaded"}, FailureKind.UNAVAILABLE, None),
        ({"code": "context_length_exceeded", "message": "no"}, FailureKind.LIMIT, None),
        ({"message": "Your input exceeds the context window of this model."}, FailureKind.LIMIT, None),
        ({"code": "insufficient_quota", "message": "no"}, FailureKind.CONFIGURATION, None),
        ({"code": 402, "message": "no credits"}, FailureKind.CONFIGURATION, None),
        ({"type": "authentication_error", "message": "bad key sk-secret"}, FailureKind.CONFIGURATION, None),
        ({"type": "error", "message": None}, FailureKind.UNAVAILABLE, None),
    ],
)
def test_errors_in_an_answer(error: Mapping[str, object], kind: FailureKind, seconds: float | None) -> None:
    fault = read_error_in_answer(UPSTREAM, error, NOW)
    expected = None if seconds is None else NOW + timedelta(seconds=seconds)
    assert (fault.failure.kind, fault.failure.retry_at, fault.status) == (kind, expected, 503)
    assert "sk-secret" not in fault.failure.message


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error": {"message": "m"}}', "m"),
        (b'[{"error": {"message": "m"}}]', "m"),
        (b'{"detail": "m"}', "m"),
        (b"<html>m</html>", "<html>m</html>"),
        (b"", "no reason given"),
        (b'{"error": 5}', '{"error": 5}'),
        (b"\xff", "\ufffd"),
    ],
)
def test_words(body: bytes, words: str) -> None:
    assert provider_words(body) == words


def test_long_words_are_cut() -> None:
    assert len(provider_words(b"x" * 10_000)) < 600


@pytest.mark.parametrize(
    ("failed", "reset", "pause"),
    [(1, None, 0.5), (2, None, 1.0), (3, None, None), (1, 4.0, 4.0), (1, 31.0, None), (2, 0.1, 1.0)],
)
def test_pauses(failed: int, reset: float | None, pause: float | None) -> None:
    at = None if reset is None else NOW + timedelta(seconds=reset)
    assert RetryRules().pause(failed, at, NOW) == pause
