"""What people read on a forge: nothing of a run's text can act there, and what people wrote stays."""

from dataclasses import replace
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
    title_of,
)
from app.schemas.api.escalations import EscalationView
from app.schemas.api.policies import PolicyView
from app.schemas.api.run_details import HeldOutView, RunDetail
from app.schemas.held_out import HiddenCases
from app.schemas.runs import EscalationDecision, EscalationReason, RunKind, RunPolicy, RunStatus, Usage
from app.services.forges.statuses import status_of

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


def accepted(by: str) -> ReportFacts:
    asked = EscalationView(
        id=UUID(int=2), run_id=RUN_ID, run_name="Round", kind=RunKind.SPRINT, phase="coding", attempt=3,
        reason_kind=EscalationReason.ATTEMPTS_EXHAUSTED, reason="3 of 3 failed", status="resolved",
        decision=EscalationDecision.ACCEPT, guidance="", line_comments=[], additional_attempts=0,
        decided_by=by, decided_at=NOW, version=2, created_at=NOW,
    )  # fmt: skip
    found = facts()
    return replace(found, run=found.run.model_copy(update={"escalations": [asked]}))


def test_what_a_person_accepted_does_not_count_as_passed_by_the_gates() -> None:
    state = "The gates did not pass all of this result. link:team &lt;b&gt; accepted it."
    found = accepted("link:team <b>")
    assert state in pull_request_body(found, template="{state}")
    assert state in comment_body(found, None, marker_of(RUN_ID))
    assert status_of(found, final=True).description == "0 gates passed it; link:team <b> accepted the rest"
    assert "The gates passed this result." in pull_request_body(facts(), template="{state}")
    assert status_of(facts(), final=True).description == "0 gates passed it"


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


def test_the_operators_template_is_filled_once() -> None:
    template = "{closes}\n\nRun {run} for #{issue}: {name}\n\n{goal}\n\nA {brace and {}: {summary}"
    body = pull_request_body(facts("Show {evidence} as it is", issue=7), template=template)
    assert body.splitlines() == [
        BEGIN,
        "Closes #7",
        "",
        "Run 00000000 for #7: Round",
        "",
        "```text",
        "Show {evidence} as it is",
        "```",
        "",
        "A {brace and {}: run 00000000: 0 attempts, agent codex, cost $0.50.",
        END,
    ]


def test_without_an_issue_the_template_has_no_gap() -> None:
    body = pull_request_body(facts(), template="{state}\n\n{closes}\n\nEnd")
    assert body.splitlines() == [BEGIN, "The gates passed this result.", "", "End", END]


def test_a_name_in_a_description_is_plain_text_and_a_title_is_one_line() -> None:
    run = facts().run.model_copy(update={"name": "Ask @team\n#1 {run}"})
    found = replace(facts(), run=run)
    assert pull_request_body(found, template="{name}").splitlines()[1] == "Ask &#64;team &#35;1 \\{run\\}"
    assert title_of(found, "{name} (#{issue})") == "Ask @team #1 {run} (#none)"
    assert len(title_of(found, "x" * 300)) == 200


def test_a_template_cannot_make_a_description_too_long_for_the_forge() -> None:
    body = pull_request_body(facts("x" * 5_000), template="{goal}\n" * 30)
    assert len(body) < 65_536
    assert body.endswith(END)


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


HIDDEN = {
    "a share": (["test_a.py"], HiddenCases(base="a" * 40, hidden=3, total=6), "3 of 6 cases are hidden"),
    "a default that hides nothing": ([], None, "secret() printed &lt;b&gt;"),
    "tests of the request": (["test_a.py"], None, ""),
}


@pytest.mark.parametrize(("files", "cases", "told"), HIDDEN.values(), ids=HIDDEN.keys())
def test_the_comment_says_what_is_hidden_but_not_what_hidden_tests_print(
    files: list[str], cases: HiddenCases | None, told: str
) -> None:
    view = HeldOutView(files=files, cases=cases, at_base=None, note="secret() printed <b>")
    known = facts()
    body = comment_body(
        replace(known, run=known.run.model_copy(update={"held_out": view})), None, marker_of(RUN_ID)
    )
    assert told in body
    assert ("secret()" in body) == (not files)
    assert "hidden" not in comment_body(known, None, marker_of(RUN_ID))
