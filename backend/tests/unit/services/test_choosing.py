"""The record says why one candidate was chosen, in words that name agents, scores and reasons."""

import pytest

from app.agents.models.judge import JudgeChoice
from app.db.models import Candidate
from app.runners.evaluators.verdict import PanelVerdict, VerdictStatus
from app.services.execute.choosing import leaders, reason_of_gates, reason_of_judge
from app.services.execute.verdicts import JudgedCandidate


def judged(index: int, agent: str, status: VerdictStatus, score: float, reason: str = "") -> JudgedCandidate:
    verdict = PanelVerdict(status, score, (), (), (), reason, ())
    return JudgedCandidate(Candidate(index=index, agent=agent, model=None), [], verdict)


PASSED = judged(0, "opencode", VerdictStatus.PASSED, 1.0, "Every gate holds.")
FAILED = judged(1, "codex", VerdictStatus.FAILED, 0.5, "Failed: pytest")
ALSO_PASSED = judged(2, "claude", VerdictStatus.PASSED, 1.0)


def test_the_gates_name_all_verdicts() -> None:
    assert leaders([FAILED, PASSED]) == [PASSED]
    assert reason_of_gates([PASSED, FAILED], PASSED, 2) == (
        "The gates rank candidate 1 (opencode) first. Candidate 1 passed, score 1.00: Every gate holds; "
        "Candidate 2 failed, score 0.50: Failed: pytest."
    )


@pytest.mark.parametrize(
    ("started", "told"), [(1, ""), (2, "candidate 2 (codex) is the only one that finished.")]
)
def test_one_that_is_left(started: int, told: str) -> None:
    assert reason_of_gates([FAILED], FAILED, started) == told


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        (
            JudgeChoice(2, "It is shorter.", 0.9, model="m"),
            ". The judge (m) chose candidate 3 (claude): It is shorter.",
        ),
        (
            JudgeChoice(0, "The judge could not be asked (m: refused), so the first one counts.", model="m"),
            ". The judge could not be asked (m: refused), so the first one counts.",
        ),
        (
            JudgeChoice(0, "No judge is configured, so the first one counts."),
            ", and no judge is configured, so candidate 1 (opencode) counts.",
        ),
    ],
)
def test_between_equals_the_judge_says_why(choice: JudgeChoice, told: str) -> None:
    alike = leaders([PASSED, FAILED, ALSO_PASSED])
    assert alike == [PASSED, ALSO_PASSED]
    assert reason_of_judge(alike, choice) == f"The gates rank candidates 1, 3 alike{told}"
