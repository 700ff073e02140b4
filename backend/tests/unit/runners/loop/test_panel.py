"""Registered evaluators as the judge of a loop: what they see, and what becomes of their verdict."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.runners.director_evaluator import DirectorEvaluator
from app.runners.evaluators.protocol import (
    CriterionResult,
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    EvaluationStatus,
    skipped,
)
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.registry import EvaluatorConfig, create_default_registry
from app.runners.loop.panel import EvaluatorOrPanel, PanelJudge, gates_of
from app.runners.loop.roles import RoleTask, Trouble
from app.runners.project import ProjectPanel, ProjectRules, panel_for
from app.schemas.loop.results import FailureReason, LoopEnd, LoopResult, TaskFailure, TaskResult
from tests.unit.runners.loop.fakes import Came, Part, definition, judged

pytestmark = pytest.mark.anyio

Say = Callable[[str, EvaluationContext], dict[str, Any]]


@dataclass
class Told:
    """An evaluator that says what a function makes of the output and the context."""

    say: Say
    name: str = "told"
    category: EvaluationCategory = EvaluationCategory.CORRECTNESS
    is_deterministic: bool = True

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        said = {"feedback": "f", "score": 1.0, **self.say(output, context)}
        return EvaluationResult(evaluator_name=self.name, category=self.category, **said)


def panel(*evaluators: Told, workspace: Path | None = None) -> PanelJudge:
    registry = EvaluatorRegistry()
    for each in evaluators:
        registry.register(each, ["verification"], gate=False)
    return PanelJudge(panel=ProjectPanel(registry), workspace=workspace)


def task(*names: str, **more: Any) -> RoleTask:
    return RoleTask(role="evaluator", iteration=2, description="Judge", evaluators=names or ("told",), **more)


async def said(judge: PanelJudge, *names: str, **more: Any) -> TaskResult:
    came = await judge(task(*names, **more))
    assert isinstance(came, TaskResult)
    return came


async def test_a_pass_is_a_success_with_a_record() -> None:
    came = await said(panel(Told(lambda output, _: {"passed": output == "good"})), output="good")
    assert (came.notes["success"], came.notes["feedback"]) == (True, "Every gate holds")
    assert came.notes["details"]["metrics"] == {"score": 1.0, "told": 1.0}
    assert came.notes["details"]["evaluators"][0]["status"] == "passed"
    assert came.usage is None


async def test_a_failure_says_what_is_wrong() -> None:
    criterion = CriterionResult(criterion="length", passed=False, score=0.6, message="too long")
    failing = Told(
        lambda *_: {
            "passed": False,
            "score": 0.6,
            "feedback": "No.",
            "criteria": [criterion],
            "suggestions": ["Cut it"],
        }
    )
    came = await said(panel(failing))
    assert came.notes["success"] is False
    assert came.content == "Failed: told\ntold: No.\n- Cut it"
    assert came.notes["details"]["violations"] == ["too long"]
    assert came.notes["details"]["suggestions"] == ["Cut it"]


async def test_every_named_evaluator_is_a_gate_and_no_other_is_asked() -> None:
    asked: list[str] = []

    def say(name: str, passed: bool) -> Say:
        return lambda *_: asked.append(name) or {"passed": passed}

    judge = panel(Told(say("a", True), "a"), Told(say("b", False), "b"), Told(say("c", False), "c"))
    assert (await said(judge, "a")).notes["success"] is True
    assert (await said(judge, "a", "b", "a")).notes["success"] is False
    assert asked == ["a", "a", "b"]


@pytest.mark.parametrize(
    ("say", "words"),
    [
        pytest.param(lambda *_: {"passed": False, "status": "errored"}, "told reached no", id="errored"),
        pytest.param(lambda *_: 1 / 0, "crashed: ZeroDivisionError", id="crash"),
        pytest.param(
            lambda *_: {"passed": True, "status": EvaluationStatus.SKIPPED},
            "No gate checked anything",
            id="skipped",
        ),
    ],
)
async def test_no_verdict_is_trouble_and_never_a_success(say: Say, words: str) -> None:
    came = await panel(Told(say))(task())
    assert isinstance(came, Trouble)
    assert came.reason is FailureReason.EXECUTION_HALTED
    assert words in came.message


async def test_unknown_names_are_named_with_those_there_are() -> None:
    came = await panel(Told(lambda *_: {"passed": True}))(task("told", "tidy", "tidy"))
    assert isinstance(came, Trouble)
    assert came.reason is FailureReason.INPUT_VALIDATION_FAILURE
    assert came.message == "evaluator/evaluators: there is no tidy; there are told"


async def test_what_evaluators_see_is_a_copy_with_the_output_in_its_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("before")
    seen: list[tuple[str, str, str]] = []

    def look(output: str, context: EvaluationContext) -> dict[str, Any]:
        work, base = Path(context.get("workspace_ref", "")), Path(context.get("base_ref") or "")
        seen.append((output, (work / "a.txt").read_text(), (base / "a.txt").read_text()))
        (work / "a.txt").write_text("spoilt")
        return {"passed": True}

    judge = panel(Told(look), workspace=tmp_path)
    await said(judge, output="after", files={"a.txt": "after"})
    await said(judge, output="only said")
    assert seen == [("after", "after", "before"), ("only said", "before", "before")]
    assert (tmp_path / "a.txt").read_text() == "before"


@pytest.mark.parametrize("path", ["link/a.txt", "directory"])
async def test_an_output_file_that_cannot_be_written_is_trouble(tmp_path: Path, path: str) -> None:
    (tmp_path / "directory").mkdir()
    (tmp_path / "link").symlink_to("/tmp")
    came = await panel(Told(lambda *_: {"passed": True}), workspace=tmp_path)(task(files={path: "x"}))
    assert isinstance(came, Trouble)
    assert came.message.startswith(f"output_file: {path}")


async def test_without_a_workspace_and_a_file_there_is_none() -> None:
    def look(_: str, context: EvaluationContext) -> dict[str, Any]:
        assert "workspace_ref" not in context
        return {"passed": True}

    assert (await said(panel(Told(look)))).notes["success"] is True


async def test_what_judges_cost_is_told() -> None:
    usage = {"requests": 2, "input_tokens": 7, "cost_usd": 0.5}
    came = await said(panel(Told(lambda *_: {"passed": True, "metadata": {"usage": usage}})))
    assert came.usage is not None
    assert (came.usage.requests, came.usage.input_tokens, came.usage.cost_usd) == (2, 7, 0.5)


def test_of_several_the_one_for_coding_judges() -> None:
    registry = EvaluatorRegistry()
    first, second = Told(lambda *_: {}), Told(lambda *_: {})
    registry.register(first, ["discovery"])
    registry.register(second, ["coding"])
    assert gates_of(registry, ["told"]).get_evaluators("anything") == [second]


async def test_agent_or_panel() -> None:
    asked: list[str] = []

    def part(name: str) -> Part:
        def work(_: RoleTask) -> Came:
            asked.append(name)
            return judged(True)

        return Part(work)

    both = EvaluatorOrPanel(part("agent"), part("panel"))
    await both(task())
    await both(RoleTask(role="evaluator", iteration=1, description="Judge"))
    assert asked == ["panel", "agent"]


CLEAN = "def add(a, b):\n    return a + b\n"
WRONG = "import os\ndef add(a, b):\n    return a - b\n"
TEST = "from sums import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n"


async def loop_over(workspace: Path, *outputs: str, **changed: Any) -> LoopResult:
    registry = create_default_registry(EvaluatorConfig(model=None))
    judge = PanelJudge(panel=panel_for(registry, None, ProjectRules()), workspace=workspace)
    door = DirectorEvaluator(
        director=Part(lambda task: TaskResult(content=outputs[task.iteration - 1])), evaluator=judge
    )
    loop = definition(
        output_file="sums.py",
        max_iterations=len(outputs),
        evaluator={"description": "Judge", "evaluators": ["ruff_lint", "pytest"]},
        **changed,
    )
    return await door.run(loop)


async def test_a_loop_over_a_workspace_is_judged_by_ruff_and_pytest(tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text("def add(a, b):\n    return 0\n")
    (tmp_path / "test_sums.py").write_text(TEST)
    (tmp_path / "ruff.toml").write_text('lint.select = ["F"]\n')
    result = await loop_over(
        tmp_path, WRONG, CLEAN, termination_condition={"condition": "evaluation.details.metrics.score > 2.0"}
    )
    assert (result.ended_by, result.success, result.iterations_completed) == (LoopEnd.SUCCESS, True, 2)
    first = result.iteration_history[0].evaluation
    assert first is not None
    assert "ruff_lint" in first.feedback
    assert first.feedback.count("test_add: test_sums.py:5") == 1
    assert result.iteration_history[0].condition_trouble == ""
    assert (tmp_path / "sums.py").read_text() == "def add(a, b):\n    return 0\n"


async def test_a_panel_that_can_check_nothing_ends_the_loop(tmp_path: Path) -> None:
    registry = EvaluatorRegistry()

    @dataclass
    class Nothing(Told):
        async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
            return skipped(self, "nothing to check")

    registry.register(Nothing(lambda *_: {}))
    door = DirectorEvaluator(
        director=Part(lambda _: TaskResult(content="x")),
        evaluator=PanelJudge(panel=ProjectPanel(registry), workspace=tmp_path),
    )
    result = await door.run(definition(evaluator={"description": "Judge", "evaluators": ["told"]}))
    assert isinstance(result.error, TaskFailure)
    assert not result.success
    assert result.final_output == "x"
