"""Decides which items of a project start, and why the others do not. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from app.schemas.api.backlog import ProjectLimits, Until
from app.schemas.forges import ForgeOutcome
from app.schemas.runs import RunStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """The present state of work that an item depends on.

    Attributes:
        name: the work's name; empty if the work no longer exists.
        until: how far the work must have come.
        removed: whether the work was taken off the backlog.
        status: the status of its run; None before the run starts.
        has_report: whether its run has a place on a forge.
        outcome: what became of its pull request.
    """

    name: str
    until: Until
    removed: bool = False
    status: RunStatus | None = None
    has_report: bool = False
    outcome: ForgeOutcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingItem:
    """A waiting item; candidates are given in the order in which they start."""

    id: UUID
    needs: Sequence[Needed] = ()
    next_at: datetime
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFacts:
    """How much is going on in a project now, and its limits."""

    limits: ProjectLimits
    paused: bool = False
    running: int = 0
    waiting_for_humans: int = 0
    open_pull_requests: int = 0
    started_today: int = 0


@dataclass(frozen=True, slots=True)
class BacklogPlan:
    """The items that start now, and for each other item the reason why it does not."""

    start: list[UUID] = field(default_factory=list[UUID])
    reasons: dict[UUID, str] = field(default_factory=dict[UUID, str])


def plan(candidates: Sequence[WaitingItem], facts: ProjectFacts, now: datetime) -> BacklogPlan:
    """Decide on all waiting items of one project; an item that cannot start does not hold up the others."""
    found = BacklogPlan()
    for each in candidates:
        reason = why_not(each, facts, now)
        if reason:
            found.reasons[each.id] = reason
        else:
            found.start.append(each.id)
            facts = replace(facts, running=facts.running + 1, started_today=facts.started_today + 1)
    return found


def why_not(candidate: WaitingItem, facts: ProjectFacts, now: datetime) -> str:
    """Return why an item does not start, or an empty string if it does."""
    if facts.paused:
        return "the project's backlog is paused"
    unmet = [reason for each in candidate.needs if (reason := unmet_reason(each))]
    if unmet:
        return "; ".join(unmet)
    if candidate.next_at > now:
        return candidate.problem
    return _over_limit(facts)


def unmet_reason(needed: Needed) -> str:
    """Return why other work has not come far enough, or an empty string if it has."""
    name = needed.name or "work that no longer exists"
    if needed.removed:
        return f"needs {name}, which was removed from the backlog"
    if not needed.name:
        return f"needs {name}"
    match needed.status:
        case None:
            return f"waits for {name}, which has not started"
        case RunStatus.FAILED | RunStatus.CANCELLED:
            return f"needs {name}, which {'failed' if needed.status == RunStatus.FAILED else 'was cancelled'}"
        case RunStatus.COMPLETED:
            return "" if needed.until == "accepted" else _not_merged(needed)
        case RunStatus.WAITING:
            return f"waits for {name}, which waits for a person"
        case _:
            return f"waits for {name}, which is running"


def find_cycle(needs: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the members of one cycle of dependencies in order, or an empty list."""
    done: set[str] = set()
    for start in needs:
        path: list[str] = []
        if circle := _walk(start, needs, path, done):
            return circle
    return []


def _walk(start: str, needs: Mapping[str, Sequence[str]], path: list[str], done: set[str]) -> list[str]:
    # A loop instead of recursion: a chain of thousands would be too deep.
    stack = [(start, iter(needs.get(start, ())))]
    path.append(start)
    while stack:
        name, rest = stack[-1]
        following = next(rest, None)
        if following is None:
            stack.pop()
            path.pop()
            done.add(name)
        elif following in path:
            return [*path[path.index(following) :], following]
        elif following not in done:
            stack.append((following, iter(needs.get(following, ()))))
            path.append(following)
    return []


def _not_merged(needed: Needed) -> str:
    if needed.outcome == "merged":
        return ""
    if needed.outcome == "closed":
        return f"needs {needed.name} to be merged, but its pull request was closed"
    if not needed.has_report:
        return f"needs {needed.name} to be merged, but it has no pull request"
    return f"waits until {needed.name} is merged"


def _over_limit(facts: ProjectFacts) -> str:
    limits = facts.limits
    checks = (
        (facts.waiting_for_humans, limits.waiting_for_humans, "wait for a person"),
        (facts.open_pull_requests, limits.open_pull_requests, "pull requests are open"),
        (facts.running, limits.running, "runs are under way"),
        (facts.started_today, limits.per_day, "runs started today (UTC)"),
    )
    for count, limit, what in checks:
        if limit is not None and count >= limit:
            return f"{count} {what}; the project's limit is {limit}"
    return ""
