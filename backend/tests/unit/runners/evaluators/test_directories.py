"""An evaluator judges directories of a repository: paths, globs, and one result of several."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.runners.evaluators.directories import InDirectories
from app.runners.evaluators.protocol import (
    CriterionResult,
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    EvaluationStatus,
)
from app.schemas.questions import QUESTIONS, Question, QuestionKind

pytestmark = pytest.mark.anyio

ASKED = Question.about(
    "tests/test_a.py::test_a", QuestionKind.WEAKER, "Is tests/test_a.py right?", before="a.py"
)
STATES = {each.value: each for each in EvaluationStatus}


@dataclass(frozen=True)
class Saying:
    """Says a status for each directory, by its name; `asks` is a failure with a question."""

    states: Mapping[str, str]
    seen: list[EvaluationContext]
    feedback: str = "a.py:3: wrong. See a.py."
    name: str = "pytest"
    category: EvaluationCategory = EvaluationCategory.TESTING
    is_deterministic: bool = True

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Say it."""
        self.seen.append(context)
        said = self.states[Path(context.get("workspace_ref", "")).name]
        status = STATES["failed" if said == "asks" else said]
        passed = status in (EvaluationStatus.PASSED, EvaluationStatus.SKIPPED)
        metadata: dict[str, Any] = {"tests": 2, "failing": ["tests/test_a.py::test_a[x]"], "sandbox": "off"}
        if said == "asks":
            metadata[QUESTIONS] = [ASKED.model_dump(mode="json")]
        return EvaluationResult(
            evaluator_name=self.name,
            category=self.category,
            passed=passed,
            score=float(passed),
            status=status,
            feedback=self.feedback,
            criteria=[
                CriterionResult(criterion="tests", passed=passed, message="Fix tests/test_a.py::test_a")
            ],
            suggestions=["Fix b.py, not other/a.py"],
            metadata=metadata,
        )


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Path, Path]:
    made = (tmp_path / "base", tmp_path / "candidate")
    for tree in made:
        for directory in ("api", "jobs/mail"):
            (tree / directory / "tests").mkdir(parents=True)
            (tree / directory / "a.py").touch()
            (tree / directory / "tests" / "test_a.py").touch()
    return made


async def judge(trees: tuple[Path, Path], api: str, mail: str, **context: Any) -> EvaluationResult:
    seen: list[EvaluationContext] = context.pop("seen", [])
    evaluator = InDirectories(
        inner=Saying({"api": api, "mail": mail}, seen), directories=("api", "jobs/mail")
    )
    given: Any = {"base_ref": str(trees[0]), "workspace_ref": str(trees[1]), **context}
    return await evaluator.evaluate("coding", "", given)


@pytest.mark.parametrize(
    ("api", "mail", "status", "questions"),
    [
        ("passed", "passed", "passed", 0),
        ("passed", "skipped", "passed", 0),
        ("skipped", "skipped", "skipped", 0),
        ("passed", "failed", "failed", 0),
        ("errored", "failed", "failed", 0),
        ("passed", "errored", "errored", 0),
        ("asks", "passed", "failed", 1),
        ("asks", "asks", "failed", 2),
        ("asks", "failed", "failed", 0),
        ("asks", "errored", "errored", 0),
    ],
)
async def test_one_result_of_several(
    trees: tuple[Path, Path], api: str, mail: str, status: str, questions: int
) -> None:
    result = await judge(trees, api, mail)
    assert (result.status, len(result.questions)) == (status, questions)
    assert result.metadata["tests"] == 4


async def test_paths_are_meant_from_the_root(trees: tuple[Path, Path]) -> None:
    result = await judge(trees, "asks", "passed")
    assert result.feedback.splitlines()[0] == "In api: api/a.py:3: wrong. See api/a.py."
    assert result.suggestions[1] == "Fix b.py, not other/a.py"
    assert result.criteria[1].criterion == "jobs/mail: tests"
    assert result.criteria[1].message == "Fix jobs/mail/tests/test_a.py::test_a"
    assert result.metadata["failing"] == [
        "api/tests/test_a.py::test_a[x]",
        "jobs/mail/tests/test_a.py::test_a[x]",
    ]
    (question,) = result.questions
    assert (question.id, question.before, question.key) == ("api/tests/test_a.py::test_a", "a.py", ASKED.key)


@pytest.mark.parametrize("word", ["a." + "x" * 300, "a.b/" * 2000])
async def test_a_long_word_is_no_path(trees: tuple[Path, Path], word: str) -> None:
    inner = Saying({"api": "failed"}, [], feedback=f"{word} is not a.py")
    given: Any = {"base_ref": str(trees[0]), "workspace_ref": str(trees[1])}
    result = await InDirectories(inner=inner, directories=("api",)).evaluate("coding", "", given)
    assert result.feedback == f"In api: {word} is not api/a.py"


async def test_each_directory_gets_its_trees_and_its_globs(trees: tuple[Path, Path]) -> None:
    seen: list[EvaluationContext] = []
    await judge(trees, "passed", "passed", seen=seen, open_paths=["api/tests/*", "*/b.py", "jobs", "web/*"])
    assert [each.get("open_paths") for each in seen] == [["tests/*", "*/b.py"], ["*/b.py", "*"]]
    assert [each.get("base_ref") for each in seen] == [str(trees[0] / each) for each in ("api", "jobs/mail")]


@pytest.mark.parametrize(
    ("tree", "status", "told"), [(1, "failed", "is gone"), (0, "errored", "no directory api")]
)
async def test_a_directory_that_is_missing_never_passes(
    trees: tuple[Path, Path], tree: int, status: str, told: str
) -> None:
    (trees[tree] / "api").rename(trees[tree] / "elsewhere")
    result = await judge(trees, "passed", "passed")
    assert (result.status, told in result.feedback) == (status, True), result.feedback


async def test_a_link_that_leads_out_of_the_project_is_not_judged(trees: tuple[Path, Path]) -> None:
    (trees[1] / "api").rename(trees[1].parent / "outside")
    (trees[1] / "api").symlink_to(trees[1].parent / "outside")
    assert (await judge(trees, "passed", "passed")).status == "failed"
