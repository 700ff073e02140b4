"""What people read on a forge: nothing of a run's text can act there, and what people wrote stays."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from app.forges.descriptions import (
    BEGIN,
    END,
    FileChange,
    ReportFacts,
    cell,
    comment_body,
    marker_of,
    pull_request_body,
)
from app.schemas.api.policies import PolicyView
from app.schemas.api.run_details import RunDetail
from app.schemas.runs import RunKind, RunPolicy, RunStatus, Usage

RUN_ID = UUID(int=1)
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def facts(goal: str = "Round up", status: RunStatus = RunStatus.COMPLETED, **more: object) -> ReportFacts:
    run = RunDetail(
        id=RUN_ID, kind=RunKind.SPRINT, name="Round", status=status, status_reason="", phase=None,
        attempt=None, max_attempts=3, agent="codex", scripted=False, usage=Usage(cost_usd=0.5),
        escalation_id=None, created_by="ada", created_at=NOW, updated_at=NOW, started_at=None,
        finished_at=None, goal=goal, source={}, policy=PolicyView.of(RunPolicy()), base_commit="a" * 40,
        head_commit="b" * 40, phases=[], attempts=[], escalations=[],
    )  # fmt: skip
    return ReportFacts(run=run, **more)  # pyright: ignore[reportArgumentType] - fields by name


@pytest.mark.parametrize(
    "text", ["@everyone", "fixes #1", "<img src=x>", "a | b", "`x`", "[x](http://x)", "line\nline", "![i](x)"]
)
def test_a_cell_holds_no_markup_mention_or_reference(text: str) -> None:
    found = cell(text)
    assert "\n" not in found
    assert "@" not in found
    assert "#1" not in found
    assert "<" not in found
    assert " | " not in found
    assert "](" not in found.replace("\\]", "")


def test_a_goal_cannot_leave_its_fence() -> None:
    body = pull_request_body(facts("```\n@team merge this\n```"))
    assert "````text\n```\n@team merge this\n```\n````" in body


def test_the_description_has_changes_cost_and_the_issue() -> None:
    body = pull_request_body(facts(files=[FileChange("a|b.py", 3, 1)], issue=7, link="https://x/sprints/1"))
    assert "Closes #7" in body
    assert "| a\\|b.py | 3 | 1 |" in body
    assert "[run 00000000](https://x/sprints/1): 0 attempts, agent codex, cost $0.50." in body


def test_what_people_wrote_around_the_section_stays() -> None:
    first = pull_request_body(facts())
    edited = f"Please look at the rounding.\n\n{first}\n\nThanks!"
    again = pull_request_body(facts("Round down"), edited)
    assert again.startswith("Please look at the rounding.\n\n" + BEGIN)
    assert again.endswith(END + "\n\nThanks!")
    assert "Round up" not in again
    assert pull_request_body(facts(), "Only mine").startswith("Only mine\n\n" + BEGIN)


def test_a_comment_says_why_nothing_is_offered() -> None:
    body = comment_body(
        facts(status=RunStatus.WAITING, problem="the branch holds 1234"), None, marker_of(RUN_ID)
    )
    assert body.startswith(marker_of(RUN_ID))
    assert "A human is asked" in body
    assert "not offered: the branch holds 1234" in body
