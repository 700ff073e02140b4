"""What `phaserunner show` says about a pull request."""

import pytest

from app.cli.view.forge_lines import outcome_words, push_lines, share_of_lines
from app.schemas.forges import ForgeView, ReviewView


def view(**known: object) -> ForgeView:
    nothing = dict.fromkeys(
        ("issue", "branch", "pull_number", "pull_url", "outcome", "outcome_by", "outcome_at")
    )
    return ForgeView.model_validate({"forge": "github", "repository": "acme/widgets", **nothing, **known})


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({}, "open"),
        ({"outcome": "closed", "ended_as": "closed"}, "closed"),
        ({"outcome": "merged"}, "merged"),
        ({"outcome": "merged", "ended_as": "merged_unchanged"}, "merged unchanged"),
        (
            {"outcome": "merged", "ended_as": "merged_edited", "edited_share": 0.124},
            "merged, 12 % of the lines edited after this run",
        ),
        (
            {"outcome": "merged", "outcome_by": "ada", "ended_as": "merged_edited", "edited_share": 0.6},
            "merged by ada, 60 % of the lines edited after this run",
        ),
        (
            {"outcome": "merged", "outcome_by": "ada", "ended_as": "merged_unchanged"},
            "merged unchanged by ada",
        ),
        ({"outcome": "merged", "ended_as": "reverted"}, "merged, later reverted"),
        (
            {"outcome": "merged", "outcome_by": "ada", "ended_as": "reverted"},
            "merged by ada, later reverted",
        ),
    ],
)
def test_an_outcome_in_words(known: dict[str, object], words: str) -> None:
    assert outcome_words(view(**known)) == words


def test_a_share_that_is_not_zero_is_never_shown_as_zero() -> None:
    assert [share_of_lines(each) for each in (0.0, 0.001, 0.5)] == ["0 %", "less than 1 %", "50 %"]


@pytest.mark.parametrize(
    ("status", "reason", "line"),
    [
        ("passed", "Every gate holds", "  pushed by others  aaaaaaaaaaaa passed the gates"),
        ("failed", "Failed: pytest", "  pushed by others  aaaaaaaaaaaa failed the gates: Failed: pytest"),
        ("conflicts", "It conflicts", "  pushed by others  aaaaaaaaaaaa is not judged: It conflicts"),
    ],
)
def test_a_verdict_on_what_others_pushed(status: str, reason: str, line: str) -> None:
    push = {"commit": "a" * 40, "status": status, "reason": reason, "judged_at": "2026-11-25T10:00:00Z"}
    review = {"state": "watching", "reason": "waits", "rounds": 0, "round_run_id": None, "push": push}
    ((text, _),) = push_lines(ReviewView.model_validate(review))
    assert text == line
