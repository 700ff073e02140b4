"""Which errors are worth another try, which need a human, and what is said of them."""

import json

import pytest
from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    OutputTokenLimitExceeded,
    RunTimedOut,
    UnexpectedModelBehavior,
    UsageLimitExceeded,
    UserError,
)

from app.agents.models.failures import is_context_overflow, read_failure
from app.agents.port import FailureKind


def http(status: int, category: type[ModelAPIError] | None = None, body: object = None) -> ModelHTTPError:
    return ModelHTTPError.for_category(category, status_code=status, model_name="m", body=body)  # type: ignore[arg-type]


def undecodable() -> ModelAPIError:
    error = ModelAPIError("m", "Failed to decode")
    error.__cause__ = json.JSONDecodeError("x", "y", 0)
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        # The key is wrong, or may not do this.
        (http(401, ModelAuthenticationError), FailureKind.CONFIGURATION),
        (http(403, ModelAuthenticationError), FailureKind.CONFIGURATION),
        (http(404, ModelNotFoundError), FailureKind.CONFIGURATION),
        # Waiting does not fill an empty account.
        (http(429, ModelQuotaExceededError), FailureKind.CONFIGURATION),
        (http(400, ModelRequestRejectedError), FailureKind.CONFIGURATION),
        (http(418), FailureKind.CONFIGURATION),
        (UserError("a setting that does not exist"), FailureKind.CONFIGURATION),
        (http(429, ModelRateLimitError), FailureKind.UNAVAILABLE),
        (http(500, ModelServerError), FailureKind.UNAVAILABLE),
        (http(529, ModelOverloadedError), FailureKind.UNAVAILABLE),
        (http(599), FailureKind.UNAVAILABLE),
        (ModelConnectionError("m", "refused", phase="connect"), FailureKind.UNAVAILABLE),
        (ModelTimeoutError("m", "read"), FailureKind.UNAVAILABLE),
        (ModelRequestTimeout("m", 3.0), FailureKind.UNAVAILABLE),
        # A stream that ended without a finish reason.
        (ModelAPIError("m", "Streamed response ended"), FailureKind.UNAVAILABLE),
        (
            UnexpectedModelBehavior("Streamed response ended without content or tool calls"),
            FailureKind.UNAVAILABLE,
        ),
        (undecodable(), FailureKind.PROTOCOL),
        (UnexpectedModelBehavior("x"), FailureKind.PROTOCOL),
        (ContentFilterError("x"), FailureKind.PROTOCOL),
        (OutputTokenLimitExceeded("x"), FailureKind.LIMIT),
        (UsageLimitExceeded("x"), FailureKind.LIMIT),
        (RunTimedOut("x"), FailureKind.LIMIT),
        # An overflow is a 400 too; it stands before the general case.
        (http(400, ModelContextWindowExceededError), FailureKind.LIMIT),
        (AgentRunError("something new"), FailureKind.CRASH),
    ],
    ids=lambda each: each.value if isinstance(each, FailureKind) else f"{type(each).__name__}-{each}"[:60],
)
def test_kinds(error: AgentRunError | UserError, kind: FailureKind) -> None:
    assert read_failure(error)[0] is kind


def test_says_what_the_provider_said() -> None:
    error = http(429, ModelRateLimitError, {"type": "error", "error": {"type": "x", "message": "Slow down."}})
    assert read_failure(error)[1] == "m: the provider's rate limit is reached (HTTP 429): Slow down."


def test_a_rejected_key_is_not_repeated() -> None:
    error = http(401, ModelAuthenticationError, {"error": {"message": "Incorrect API key: sk-abc123"}})
    assert read_failure(error)[1] == "m: the provider rejected the key (HTTP 401)"


@pytest.mark.parametrize("body", [None, "x" * 10_000, "a\0b", {"error": {"error": {}}}, {"message": 3}, [1]])
def test_messages_are_short_whatever_the_body(body: object) -> None:
    message = read_failure(http(500, ModelServerError, body))[1]
    assert len(message) < 600
    assert "\0" not in message


@pytest.mark.parametrize(
    ("status", "message", "overflows"),
    [
        (400, "prompt is too long: 210000 tokens > 200000 maximum", True),
        (400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", True),
        (400, "This model's maximum context length is 8192 tokens", True),
        (400, "the request exceeds the available context size", True),
        (413, "Request exceeds the maximum size", True),
        (400, "tools.0.name: invalid", False),
        (429, "too many tokens per minute", False),
        (500, "context length", False),
    ],
)
def test_a_request_that_does_not_fit_is_a_limit(status: int, message: str, overflows: bool) -> None:
    error = http(status, None, {"error": {"type": "invalid_request_error", "message": message}})
    assert is_context_overflow(error) is overflows
    assert (read_failure(error)[0] is FailureKind.LIMIT) is overflows


def test_a_filtered_answer_is_not_repeated_in_the_message() -> None:
    error = ContentFilterError("Content filter triggered.", body='[{"parts": ["a secret"]}]')
    kind, message = read_failure(error)
    assert kind is FailureKind.PROTOCOL
    assert "secret" not in message
