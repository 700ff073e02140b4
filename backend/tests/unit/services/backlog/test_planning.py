"""Which items of a backlog start, and the reasons of the others."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.schemas.api.backlog import ProjectLimits
from app.schemas.runs import RunStatus
from app.services.backlog.planning import Needed, ProjectFacts, WaitingItem, find_cycle, plan, why_not

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FREE = ProjectFacts(limits=ProjectLimits())


def candidate(number: int, *needs: Needed) -> WaitingItem:
    return WaitingItem(id=UUID(int=number), needs=needs, next_at=NOW)


def test_a_free_project_starts_everything_in_order() -> None:
    found = plan([candidate(2), candidate(1)], FREE, NOW)
    assert found.start == [UUID(int=2), UUID(int=1)]


def test_the_limit_of_running_counts_what_this_plan_starts() -> None:
    facts = ProjectFacts(limits=ProjectLimits(running=2), running=1)
    found = plan([candidate(1), candidate(2)], facts, NOW)
    assert found.start == [UUID(int=1)]
    assert found.reasons == {UUID(int=2): "2 runs are under way; the project's limit is 2"}


LIMITED = {
    "humans": (
        ProjectFacts(limits=ProjectLimits(waiting_for_humans=3), waiting_for_humans=3),
        "3 wait for a person; the project's limit is 3",
    ),
    "pull requests": (
        ProjectFacts(limits=ProjectLimits(open_pull_requests=1), open_pull_requests=2),
        "2 pull requests are open; the project's limit is 1",
    ),
    "a day": (
        ProjectFacts(limits=ProjectLimits(per_day=5), started_today=5),
        "5 runs started today (UTC); the project's limit is 5",
    ),
    "paused": (ProjectFacts(limits=ProjectLimits(), paused=True), "the project's backlog is paused"),
}


@pytest.mark.parametrize(("facts", "reason"), LIMITED.values(), ids=LIMITED.keys())
def test_a_limit_is_named(facts: ProjectFacts, reason: str) -> None:
    assert why_not(candidate(1), facts, NOW) == reason


NEEDED = {
    "not started": (Needed(name="x", until="accepted"), "waits for x, which has not started"),
    "running": (Needed(name="x", until="accepted", status=RunStatus.ACTIVE), "waits for x, which is running"),
    "failed": (Needed(name="x", until="accepted", status=RunStatus.FAILED), "needs x, which failed"),
    "cancelled": (
        Needed(name="x", until="merged", status=RunStatus.CANCELLED),
        "needs x, which was cancelled",
    ),
    "removed": (
        Needed(name="x", until="accepted", removed=True),
        "needs x, which was removed from the backlog",
    ),
    "gone": (Needed(name="", until="accepted"), "needs work that no longer exists"),
    "accepted": (Needed(name="x", until="accepted", status=RunStatus.COMPLETED), ""),
    "not merged": (
        Needed(name="x", until="merged", status=RunStatus.COMPLETED, has_report=True),
        "waits until x is merged",
    ),
    "closed": (
        Needed(name="x", until="merged", status=RunStatus.COMPLETED, has_report=True, outcome="closed"),
        "needs x to be merged, but its pull request was closed",
    ),
    "nowhere to merge": (
        Needed(name="x", until="merged", status=RunStatus.COMPLETED),
        "needs x to be merged, but it has no pull request",
    ),
    "merged": (
        Needed(name="x", until="merged", status=RunStatus.COMPLETED, has_report=True, outcome="merged"),
        "",
    ),
}


@pytest.mark.parametrize(("needed", "reason"), NEEDED.values(), ids=NEEDED.keys())
def test_a_dependency_says_why_it_holds_an_item_up(needed: Needed, reason: str) -> None:
    assert why_not(candidate(1, needed), FREE, NOW) == reason


def test_an_item_that_is_held_up_holds_up_no_other() -> None:
    held = candidate(1, Needed(name="x", until="accepted", status=RunStatus.FAILED))
    assert plan([held, candidate(2)], FREE, NOW).start == [UUID(int=2)]


def test_a_start_that_failed_is_tried_later() -> None:
    later = WaitingItem(
        id=UUID(int=1), next_at=NOW + timedelta(minutes=1), problem="it could not start: away"
    )
    assert why_not(later, FREE, NOW) == "it could not start: away"
    assert why_not(later, FREE, NOW + timedelta(minutes=2)) == ""


def test_a_circle_is_found_and_a_diamond_is_none() -> None:
    assert find_cycle({"a": ["b"], "b": ["c"], "c": ["b"]}) == ["b", "c", "b"]
    assert find_cycle({"a": ["a"]}) == ["a", "a"]
    assert find_cycle({"a": ["b", "c"], "b": ["d"], "c": ["d"]}) == []
    assert find_cycle({str(n): [str(n + 1)] for n in range(2_000)}) == []


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=20))
def test_without_a_circle_everything_can_start_in_some_order(edges: list[tuple[int, int]]) -> None:
    needs: dict[str, list[str]] = {}
    for item, other in edges:
        needs.setdefault(str(item), []).append(str(other))
    started: set[str] = set()
    waiting = {str(number) for number in range(9)}
    while ready := {each for each in waiting if set(needs.get(each, ())) <= started}:
        started |= ready
        waiting -= ready
    assert bool(find_cycle(needs)) == bool(waiting)
