"""Decides what an agent's ending means. Pure: the facts come from others.

Neither an exit status nor an agent's own words say reliably why it failed, so the gateway's account comes
first.
"""

import re
from dataclasses import dataclass, replace

from app.agents.external.events import AgentEnding
from app.agents.gateway_port import GatewayFailure
from app.agents.port import AgentFailure, AgentOutcome, AgentResult, AgentUsage, FailureKind

MAX_FINAL_CHARS = 50_000
_STDERR_CHARS = 500
_NOT_STARTED = (126, 127)


@dataclass(frozen=True, slots=True)
class ObservedWork:
    """Facts about an agent's work that do not come from the agent.

    Attributes:
        agent: its name.
        model: the model that it was asked to use.
        usage: the tokens and cost that the gateway measured.
        failure: why its last model request failed.
        has_final_event: whether its output format has an event for the end.
        is_metered: whether its model requests go through the gateway.
    """

    agent: str
    model: str | None
    usage: AgentUsage
    failure: GatewayFailure | None = None
    has_final_event: bool = True
    is_metered: bool = True


def outcome_of(ending: AgentEnding, account: ObservedWork) -> AgentOutcome:
    """Return the result of work that ended by itself, or the failure."""
    if _succeeded(ending, account):
        if account.is_metered and not account.usage.requests:
            told = f"{account.agent} ended without asking a model{_last_words(ending)}"
            return _failure(FailureKind.PROTOCOL, told, account)
        return AgentResult((ending.final or "")[-MAX_FINAL_CHARS:], account.usage, account.model)
    if account.failure is not None:
        failed = _failure(account.failure.kind, account.failure.message, account)
        return replace(failed, retry_at=account.failure.retry_at)
    if ending.error is not None:
        return _failure(ending.error_kind, f"{account.agent} failed: {ending.error[:2_000]}", account)
    if ending.status in _NOT_STARTED:
        told = f"{account.agent} could not be started{_last_words(ending)}"
        return _failure(FailureKind.CONFIGURATION, told, account)
    if ending.status == 0:
        told = f"{account.agent} ended without a final message{_last_words(ending)}"
        return _failure(FailureKind.PROTOCOL, told, account)
    how = "did not end by itself" if ending.status is None else f"ended with status {ending.status}"
    return _failure(FailureKind.CRASH, f"{account.agent} {how}{_last_words(ending)}", account)


def _succeeded(ending: AgentEnding, account: ObservedWork) -> bool:
    if ending.error is not None or ending.final is None:
        return False
    if account.failure is not None and (
        not account.usage.requests or account.failure.kind is FailureKind.UNAVAILABLE
    ):
        # No model answered, or the model broke off. Some agents then end as if all were well.
        return False
    # Without a final event, only the exit status and the model's last answer show success.
    return account.has_final_event or (
        ending.status == 0 and account.failure is None and bool(ending.final.strip())
    )


def _last_words(ending: AgentEnding) -> str:
    words = re.sub(r"\s+", " ", ending.stderr.strip())[-_STDERR_CHARS:]
    return f": {words}" if words else ""


def _failure(kind: FailureKind, message: str, account: ObservedWork) -> AgentFailure:
    return AgentFailure(kind, message, account.usage, account.model)
