"""Classifies errors of a model run, and decides whether an immediate retry may help."""

import asyncio
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import httpx
from pydantic_ai import ModelRequestContext, RetryModelRequest, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    OutputTokenLimitExceeded,
    RunTimedOut,
    UnexpectedModelBehavior,
    UsageLimitExceeded,
    UserError,
)
from pydantic_ai.messages import ModelResponse

from app.agents.port import FailureKind
from app.schemas.text import storable_text

MAX_QUICK_RETRIES = 2
MAX_QUICK_PAUSE_SECONDS = 5.0
_FIRST_PAUSE_SECONDS = 0.5
_MAX_DETAIL_CHARS = 500

# The library has no special type for a stream that ends before its first part.
_EMPTY_STREAM = "ended without content"

# Nor does it have one for some of the ways in which providers say that a request does not fit.
_TOO_LARGE = 413
_REFUSED = (400, 422)
_OVERFLOW = (
    "exceed context limit",
    "exceeds the context",
    "context window",
    "context length",
    "context size",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "maximum number of tokens",
    "maximum prompt length",
    "exceeded model token limit",
)

_LONGEST_WAIT_SECONDS = 31 * 86_400.0
"""Longer waits that a provider asks for are ignored, because they do not help."""

_Reading = tuple[FailureKind, str]


class BudgetReachedError(AgentRunError):
    """A budget is spent, so the model was not asked. The message says which budget and what to do."""


# The first matching entry counts, so special cases come before general ones.
_API_ERRORS: tuple[tuple[type[ModelAPIError], FailureKind, str], ...] = (
    (ModelAuthenticationError, FailureKind.CONFIGURATION, "the provider rejected the key"),
    (ModelNotFoundError, FailureKind.CONFIGURATION, "the provider does not know the model"),
    (ModelQuotaExceededError, FailureKind.CONFIGURATION, "the account's quota or credit is used up"),
    (ModelRequestRejectedError, FailureKind.CONFIGURATION, "the provider rejected the request"),
    (ModelRateLimitError, FailureKind.UNAVAILABLE, "the provider's rate limit is reached"),
    (ModelTimeoutError, FailureKind.UNAVAILABLE, "the provider did not answer in time"),
    (ModelRequestTimeout, FailureKind.UNAVAILABLE, "the provider did not answer in time"),
    (ModelConnectionError, FailureKind.UNAVAILABLE, "the connection to the provider failed"),
    (ModelUnavailableError, FailureKind.UNAVAILABLE, "the provider is unavailable"),
    (ModelServerError, FailureKind.UNAVAILABLE, "the provider failed"),
)


def read_failure(error: AgentRunError | UserError) -> _Reading:
    """Return the kind of failure and a message for users. The message never holds a key."""
    match error:
        case BudgetReachedError():
            return FailureKind.BUDGET, str(error)
        case RunTimedOut():
            return FailureKind.LIMIT, "the time limit is reached"
        case UsageLimitExceeded():
            return FailureKind.LIMIT, _without_advice(error)
        case OutputTokenLimitExceeded():
            return FailureKind.LIMIT, "the model's answer was cut off at its output limit"
        case UnexpectedModelBehavior():
            return _read_answer(error)
        case ModelAPIError():
            return _read_api_error(error)
        case UserError():
            return FailureKind.CONFIGURATION, _clip(str(error))
        case _:
            return FailureKind.CRASH, _clip(f"{type(error).__name__}: {error}")


def reset_of(error: AgentRunError | UserError, now: datetime) -> datetime | None:
    """Return when the provider's limit ends, if the error says so, else None."""
    seconds = error.retry_after if isinstance(error, ModelAPIError) else None
    if seconds is None or not 0 < seconds <= _LONGEST_WAIT_SECONDS:
        return None
    return now + timedelta(seconds=seconds)


def _read_answer(error: UnexpectedModelBehavior) -> _Reading:
    if isinstance(error, ContentFilterError):
        # The error's text repeats the whole answer.
        return FailureKind.PROTOCOL, "the provider's content filter stopped the model's answer"
    if _EMPTY_STREAM in str(error):
        return FailureKind.UNAVAILABLE, "the model's answer broke off before it began"
    return FailureKind.PROTOCOL, f"the model's answer cannot be read: {_without_advice(error)}"


def is_context_overflow(error: AgentRunError | UserError) -> bool:
    """Return True if a request was refused because it is too large for the model or its server."""
    if isinstance(error, ModelContextWindowExceededError):
        return True
    if not isinstance(error, ModelHTTPError):
        return False
    refused = error.status_code in _REFUSED
    return error.status_code == _TOO_LARGE or (refused and says_overflow(_detail(error)))


def says_overflow(text: str) -> bool:
    """Return True if a provider's message means that a request is too large for the model."""
    said = text.lower()
    return any(words in said for words in _OVERFLOW)


def _read_api_error(error: ModelAPIError) -> _Reading:
    if is_context_overflow(error):
        return FailureKind.LIMIT, _message("the conversation no longer fits the model's context", error)
    for kind_of_error, kind, words in _API_ERRORS:
        if isinstance(error, kind_of_error):
            return kind, _message(words, error)
    if isinstance(error.__cause__, json.JSONDecodeError | UnicodeDecodeError):
        return FailureKind.PROTOCOL, _message("the provider's answer cannot be read", error)
    if isinstance(error, ModelHTTPError) and error.status_code < 500:
        return FailureKind.CONFIGURATION, _message("the provider rejected the request", error)
    return FailureKind.UNAVAILABLE, _message("the request to the provider failed", error)


def _message(words: str, error: ModelAPIError) -> str:
    status = f" (HTTP {error.status_code})" if isinstance(error, ModelHTTPError) else ""
    # A provider's message about a rejected key may quote the key.
    detail = "" if isinstance(error, ModelAuthenticationError) else f": {_detail(error)}"
    return _clip(f"{error.model_name}: {words}{status}{detail}")


def _detail(error: ModelAPIError) -> str:
    body: Any = error.body
    while isinstance(body, dict):
        body = body.get("error") or body.get("message")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return body if isinstance(body, str) else str(error)


def _without_advice(error: AgentRunError) -> str:
    # After the first sentence, the library adds advice for its own users.
    return _clip(str(error).partition(". Consider")[0])


def _clip(text: str) -> str:
    text = storable_text(text)
    return text if len(text) <= _MAX_DETAIL_CHARS else text[:_MAX_DETAIL_CHARS] + " …"


@dataclass
class QuickRetry(AbstractCapability[Any]):
    """Asks a model again, at most twice and within seconds, if a request was refused for the moment.

    This covers rate limits, server errors and refused connections. The provider's `Retry-After` is honoured.
    If it asks for a longer pause, the error is raised, and the caller repeats the request later. A stream
    that had begun is never repeated.
    """

    first_pause: float = _FIRST_PAUSE_SECONDS

    async def on_model_request_error(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, error: Exception
    ) -> ModelResponse:
        """Pause and ask again, or re-raise the error."""
        pause = self._pause(error, request_context.attempt)
        if pause is None:
            raise error
        await asyncio.sleep(pause)
        raise RetryModelRequest

    def _pause(self, error: Exception, attempt: int) -> float | None:
        refused = (ModelRateLimitError, ModelUnavailableError, ModelServerError, ModelConnectionError)
        if not isinstance(error, refused) or error.in_stream or attempt > MAX_QUICK_RETRIES:
            return None
        if isinstance(error, ModelConnectionError) and not _was_refused(error):
            return None  # it has waited long enough, or the answer had begun
        wanted = error.retry_after if error.retry_after is not None else 0.0
        if wanted > MAX_QUICK_PAUSE_SECONDS:
            return None
        return max(wanted, self.first_pause * 2 ** (attempt - 1))


def _was_refused(error: BaseException) -> bool:
    """Return True if no connection was made, according to the HTTP library's error in the chain of causes."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, httpx.ConnectError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False
