"""Determines why a provider refused a request, and when it may be asked again."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, cast

from app.agents.gateway_port import GatewayFailure
from app.agents.models.failures import says_overflow
from app.agents.port import FailureKind
from app.gateway.upstreams import Upstream
from app.schemas.text import storable_text

_MAX_DETAIL_CHARS = 500
_LONGEST_WAIT = timedelta(days=31)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_USED_UP = ("insufficient_quota", "billing", "credit balance", "exceeded your current quota")
_NO_QUOTA = re.compile(rb"\blimit: 0\b")
_KEY_CODES = frozenset({"401", "403", "authentication_error", "invalid_api_key", "permission_error"})
_OVERFLOW_CODE = "context_length_exceeded"
_LARGER_THAN_LIMIT = "request too large for"
"""The words of a rate limit that no single request of this size can keep."""

_TRY_AGAIN = re.compile(
    r"\b(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+)(?![\w])", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Fault:
    """A request without an answer.

    Attributes:
        failure: the reason, for the agent's driver.
        status: the status for the client.
        provider_status: the provider's status; None if it did not answer.
        retryable: True if the same request may succeed soon.
        body: the provider's message, if the client should read it; it holds no key.
    """

    failure: GatewayFailure
    status: int
    provider_status: int | None = None
    retryable: bool = False
    body: bytes | None = None


def unreachable(upstream: Upstream, reason: str, *, retryable: bool) -> Fault:
    """Return the fault of a provider that did not answer, or whose answer was incomplete."""
    failure = GatewayFailure(FailureKind.UNAVAILABLE, f"{upstream.provider}: {reason}")
    return Fault(failure, 503, retryable=retryable)


def read_fault(
    upstream: Upstream, status: int, headers: Mapping[str, str], body: bytes, now: datetime
) -> Fault:
    """Read an answer with an error status.

    Args:
        upstream: the provider that answered.
        status: HTTP status, not 2xx.
        headers: of the answer, with names in lower case.
        body: the beginning of the answer's body.
        now: the time, to which pauses are added.
    """
    shown = without_key(body, upstream.key)
    said = provider_words(shown)
    name = f"{upstream.provider} (HTTP {status})"
    if status in (401, 403):
        # The provider's own message may quote a part of the key.
        what = "rejected the key" if status == 401 else "refused access"
        message = f"{name} {what}: check {upstream.key_variable}"
        return Fault(GatewayFailure(FailureKind.CONFIGURATION, message), status, status)
    if status == 402 or (status == 429 and _is_used_up(said, shown, now)):
        message = f"{name}: the account's quota or credit is used up: {said}"
        return Fault(_configuration(message), 403, status)
    if status == 429 and _LARGER_THAN_LIMIT in said.lower():
        return Fault(_overflow(name, said), 400, status, body=shown)
    if status in _AGAIN or status >= 500:
        reason = "its rate limit is reached" if status == 429 else "it failed"
        at = reset_time(headers, shown, now)
        failure = GatewayFailure(FailureKind.UNAVAILABLE, _clip(f"{name}: {reason}: {said}"), at)
        return Fault(failure, 503, status, retryable=status in _AGAIN)
    if 300 <= status < 400:
        message = f"{name} redirects to another address: check the base URL {upstream.base_url}"
        return Fault(_configuration(message), 502, status)
    if status == 413 or says_overflow(said):
        return Fault(_overflow(name, said), status, status, body=shown)
    reason = "it does not know the model or the path" if status == 404 else "it rejected the request"
    return Fault(_configuration(f"{name}: {reason}: {said}"), status, status, body=shown)


def read_error_in_answer(upstream: Upstream, error: Mapping[str, Any], now: datetime) -> Fault:
    """Read an error that an answer reports after it began, as inside a stream.

    Args:
        upstream: the provider that answered.
        error: the error's object, in any dialect.
        now: the time, to which pauses are added.
    """
    body = without_key(json.dumps({"error": error}).encode(), upstream.key)
    said, name = provider_words(body), f"{upstream.provider}: the answer reports an error"
    codes = {str(error.get(member)).lower() for member in ("code", "type", "status")}
    is_rate = any(each == "429" or "rate_limit" in each or "throttl" in each for each in codes)
    is_overflow = _LARGER_THAN_LIMIT in said.lower() if is_rate else says_overflow(said)
    if is_overflow or _OVERFLOW_CODE in codes:
        return Fault(_overflow(upstream.provider, said), 503)
    if codes & _KEY_CODES:
        # The provider's own message may quote a part of the key.
        return Fault(_configuration(f"{name} about the key: check {upstream.key_variable}"), 503)
    if "402" in codes or _is_used_up(f"{said} {' '.join(codes)}", body, now):
        message = f"{upstream.provider}: the account's quota or credit is used up: {said}"
        return Fault(_configuration(message), 503)
    failure = GatewayFailure(FailureKind.UNAVAILABLE, _clip(f"{name}: {said}"), reset_time({}, body, now))
    return Fault(failure, 503)


def _is_used_up(said: str, body: bytes, now: datetime) -> bool:
    """Return True if only a person can help, by paying.

    Google speaks of plan and billing at each of its limits. It says when one ends, unless an account has no
    quota at all.
    """
    if not any(words in said.lower() for words in _USED_UP):
        return False
    return _google_delay(body, now) is None or _NO_QUOTA.search(body) is not None


def _overflow(name: str, said: str) -> GatewayFailure:
    message = f"{name}: the conversation no longer fits the model's context: {said}"
    return GatewayFailure(FailureKind.LIMIT, _clip(message))


def _configuration(message: str) -> GatewayFailure:
    return GatewayFailure(FailureKind.CONFIGURATION, _clip(message))


def without_key(content: bytes, key: str | None) -> bytes:
    """Replace the key, in case a provider repeats it."""
    return content.replace(key.encode(), b"[key]") if key else content


def provider_words(body: bytes) -> str:
    """Return the message in the body of an error, in any dialect."""
    content: object = _parsed(body)
    if isinstance(content, list) and content:
        content = cast("list[object]", content)[0]
    while isinstance(content, Mapping):
        words = cast("Mapping[str, object]", content)
        content = words.get("error") or words.get("message") or words.get("detail")
    text = content if isinstance(content, str) else body[:_MAX_DETAIL_CHARS].decode("utf-8", "replace")
    return _clip(text.strip() or "no reason given")


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _clip(text: str) -> str:
    text = storable_text(text)
    return text if len(text) <= _MAX_DETAIL_CHARS else text[:_MAX_DETAIL_CHARS] + " …"


def reset_time(headers: Mapping[str, str], body: bytes, now: datetime) -> datetime | None:
    """Return when the provider's limit ends, if it says so. The time is never before `now`.

    `Retry-After` takes precedence, then Google's `retryDelay`, then the latest reset of an exhausted limit,
    then the words of the message. A time more than a month away does not help, so it is ignored.
    """
    found = (
        _pause(headers.get("retry-after-ms", ""), now, unit=0.001)
        or _retry_after(headers.get("retry-after", ""), now)
        or _google_delay(body, now)
        or _spent_reset(headers, now)
        or _named_in(provider_words(body), now)
    )
    if found is None or found - now > _LONGEST_WAIT:
        return None
    return max(found, now)


def _pause(text: str, now: datetime, unit: float = 1.0) -> datetime | None:
    try:
        seconds = float(text) * unit
    except ValueError:
        return None
    if not math.isfinite(seconds) or not 0 <= seconds <= _LONGEST_WAIT.total_seconds():
        return None
    return now + timedelta(seconds=seconds)


def _retry_after(text: str, now: datetime) -> datetime | None:
    by_seconds = _pause(text, now)
    if by_seconds is not None or not text:
        return by_seconds
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _google_delay(body: bytes, now: datetime) -> datetime | None:
    content = _parsed(body)
    if isinstance(content, list) and content:
        content = cast("list[object]", content)[0]
    error: object = cast("Mapping[str, Any]", content).get("error") if isinstance(content, Mapping) else None
    details: object = cast("Mapping[str, Any]", error).get("details") if isinstance(error, Mapping) else None
    for each in cast("Iterable[object]", details) if isinstance(details, list) else ():
        delay = cast("Mapping[str, Any]", each).get("retryDelay") if isinstance(each, Mapping) else None
        if isinstance(delay, str):
            return _after(delay, now)
    return None


def _named_in(said: str, now: datetime) -> datetime | None:
    """Return the time in a message such as "Please try again in 11.05s"."""
    found = _TRY_AGAIN.search(said)
    return _after(found[1], now) if found else None


def _spent_reset(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """Return the latest reset of an exhausted limit, from the headers that providers send for each limit."""
    resets = [
        headers.get(name.replace("remaining", "reset"), "")
        for name, value in headers.items()
        if "ratelimit" in name and "remaining" in name and value.strip() in ("0", "0.0")
    ]
    times = [at for text in resets if (at := _after(text, now) or _moment(text)) is not None]
    return max(times, default=None)


def _after(text: str, now: datetime) -> datetime | None:
    parts = _DURATION.findall(text)
    if not parts or "".join(f"{number}{unit}" for number, unit in parts) != text:
        return None
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    return _pause(str(seconds), now)


def _moment(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
