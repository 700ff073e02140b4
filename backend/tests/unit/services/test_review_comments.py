"""What the comment on a pull request says of its review."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from app.services.forges.review_comments import DueReview, comment_on

ROOT, ROUND = UUID(int=1), UUID(int=2)
WATCHING = DueReview(
    run_id=ROOT,
    state="watching",
    reason="waits for a review",
    rounds=0,
    round_run_id=None,
    asked=[],
    answered=[],
    look_at=datetime(2026, 1, 1, tzinfo=UTC),
    tries=1,
    comment_id=None,
    judged_commit="a" * 40,
    judged_status="failed",
    judged_reason="Failed: pytest\npytest: <b>@ada</b> broke it",
    judged_at=None,
    judged_tries=1,
)


def test_a_push_is_told_of_by_itself() -> None:
    assert comment_on(WATCHING, "a" * 40, None).splitlines() == [
        f"<!-- phaserunner:review:{ROOT} -->",
        "**PhaseRunner**: Commit aaaaaaaaaaaa, which other people pushed: the gates have not passed it: "
        "Failed: pytest pytest: &lt;b&gt;&#64;ada&lt;/b&gt; broke it",
    ]


def test_a_round_stands_before_the_push_that_it_is_told_of() -> None:
    working = replace(WATCHING, state="working", reason="round 1 of 2", round_run_id=ROUND, asked=["a", "b"])
    lines = comment_on(working, "a" * 40, "https://page.example/").splitlines()
    assert lines[1] == "**PhaseRunner**: round 1 of 2"
    shown = f"[run {str(ROUND)[:8]}](https://page.example/sprints/{ROUND})"
    assert lines[3] == f"2 things to answer, in {shown}."
    assert lines[5].startswith("Commit aaaaaaaaaaaa")


def test_a_verdict_on_an_earlier_head_is_left_out() -> None:
    spent = replace(WATCHING, state="spent", reason="all 2 rounds are used; a person has to go on")
    assert "Commit" not in comment_on(spent, "b" * 40, None)
