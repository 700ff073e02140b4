"""A project's file at the base commit chooses its evaluators, within what the operator allows."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from app.runners.evaluators.commands.command import CommandEvaluator
from app.runners.evaluators.project.project_registry import OperatorLimits
from app.runners.evaluators.protocol import (
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    EvaluationStatus,
    Evaluator,
)
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.registry import create_default_registry
from app.runners.evaluators.verdict import VerdictStatus
from app.runners.phase_panel import PhasePanel
from app.runners.phase_runner import PhaseRunner
from app.runners.project import ProjectPanel, ProjectRules, panel_for, read_from_tree
from app.schemas.runs import Phase, RunPolicy

pytestmark = pytest.mark.anyio

REQUIRED = ProjectRules(limits=OperatorLimits(required=frozenset({"pytest"})))


def panel(text: str, rules: ProjectRules | None = None) -> ProjectPanel:
    return panel_for(create_default_registry(), text.encode(), rules or ProjectRules())


def gates(text: str, phase: str = "coding") -> tuple[str, ...]:
    found = panel(text)
    assert found.problems == ()
    return found.registry.gates(phase)


def evaluator(found: ProjectPanel, name: str) -> Any:
    return next(each.evaluator for each in found.registry.all_registrations() if each.evaluator.name == name)


ALL = ("ruff_lint", "pytest", "type_check", "protected_files")


CHOICES = {
    "an empty file": ("", ALL),
    "one switched off": (
        "[evaluators.type_check]\nenabled = false",
        ("ruff_lint", "pytest", "protected_files"),
    ),
    "one made an adviser": ("evaluators.ruff_lint.gate = false", ("pytest", "type_check", "protected_files")),
    "one for another phase": (
        'evaluators.pytest.phases = ["verification"]',
        ("ruff_lint", "type_check", "protected_files"),
    ),
    "one that only a model could be": ("evaluators.security.enabled = false", ALL),
    "a command": ('[[command]]\nname = "unit"\nrun = "x"', (*ALL, "unit")),
    "a command for another phase": ('[[command]]\nname = "unit"\nrun = "x"\nphases = ["discovery"]', ALL),
    "a command that advises": ('[[command]]\nname = "unit"\nrun = "x"\ngate = false', ALL),
}


@pytest.mark.parametrize(("text", "expected"), CHOICES.values(), ids=CHOICES.keys())
def test_gates(text: str, expected: tuple[str, ...]) -> None:
    assert gates(text) == expected


UNIT = '[[command]]\nname = "unit"\nrun = "x"\n'
OBSERVED = {
    "one": ("evaluators.pytest.observe = true", {"pytest"}),
    "a command": (f"{UNIT}observe = true", {"unit"}),
    "all but what the operator requires": (f'mode = "observe"\n{UNIT}', {*ALL, "unit"} - {"protected_files"}),
    "all but one": (
        'mode = "observe"\nevaluators.pytest.observe = false',
        {"ruff_lint", "type_check"},
    ),
    "no adviser": ('mode = "observe"\nevaluators.pytest.gate = false', {"ruff_lint", "type_check"}),
}


@pytest.mark.parametrize(("text", "expected"), OBSERVED.values(), ids=OBSERVED.keys())
def test_observed_gates(text: str, expected: set[str]) -> None:
    rules = ProjectRules(limits=OperatorLimits(required=frozenset({"protected_files"})))
    found = panel(text, rules)
    assert found.problems == ()
    assert found.registry.observed("coding") == expected
    assert expected.isdisjoint(found.registry.gates("coding"))
    assert expected <= {each.name for each in found.registry.describe() if each.observed}


def test_what_is_not_said_stays() -> None:
    found = panel("[evaluators.pytest]\ntimeout = 7\noptions = { compare_base = false }")
    pytest_gate = evaluator(found, "pytest")
    assert (pytest_gate.timeout, pytest_gate.compare_base) == (7, False)
    assert evaluator(found, "ruff_lint").timeout == 30
    described = {each.name: each for each in found.registry.describe()}
    assert described["pytest"].phases == ("coding", "verification")
    assert described["pytest"].source == "built-in"


def test_a_command_is_built_as_the_file_says() -> None:
    text = """
[[command]]
name = "unit"
run = ["node", "--test"]
category = "functionality"
timeout = 9
env = { A = "b" }
working_directory = "web"
pass_codes = [0, 2]
report = { kind = "junit", path = "r.xml" }
"""
    made = evaluator(panel(text), "unit")
    assert isinstance(made, CommandEvaluator)
    assert (made.command, made.timeout, made.env, made.pass_codes) == (
        ("node", "--test"),
        9,
        {"A": "b"},
        (0, 2),
    )
    assert made.category is EvaluationCategory.FUNCTIONALITY
    assert panel(text).registry.describe()[-1].source == "phaserunner.toml"


REFUSED = {
    "a name that is not there": (
        "\n[evaluators.pytset]\nenabled = false",
        "phaserunner.toml:2: evaluators.pytset: there is no evaluator with this name; did you mean pytest?",
    ),
    "a gate that nobody can be": ("evaluators.security.gate = true", "no model is configured"),
    "a command with a name that is taken": (
        '[[command]]\nname = "pytest"\nrun = "true"',
        ":2: command[1].name: is the name of an evaluator",
    ),
    "our own name": ('[[command]]\nname = "project_file"\nrun = "true"', "is the name of an evaluator"),
    "the network": (
        '[[command]]\nname = "a"\nrun = "x"\nnetwork = true',
        "command[1].network: is not allowed",
    ),
    "an option that is none": (
        "evaluators.pytest.options.compare_bas = true",
        "compare_bas: is not an option of this evaluator; did you mean compare_base?",
    ),
    "an option of another type": ('evaluators.pytest.options.compare_base = "no"', "must be a valid boolean"),
    "an option where there are none": ("evaluators.protected_files.options.x = 1", "there are: none"),
    "time for what takes none": ("evaluators.agent_claim.timeout = 3", "has no time limit"),
    "a required one switched off": (
        "evaluators.pytest.enabled = false",
        ":1: evaluators.pytest.enabled: ",
    ),
    "a required one that advises": ("evaluators.pytest.gate = false", "EVALUATOR_REQUIRED"),
    "a required one that is observed": ("evaluators.pytest.observe = true", "EVALUATOR_REQUIRED"),
    "an adviser that is observed": (
        "[evaluators.pytest]\ngate = false\nobserve = true",
        "observe needs a gate",
    ),
    "a command that advises and is observed": (
        '[[command]]\nname = "a"\nrun = "x"\ngate = false\nobserve = true',
        "observe needs a gate",
    ),
    "a mode that does not exist": ('mode = "watch"', "mode: must be 'enforce' or 'observe'"),
    "a required one in fewer phases": ('evaluators.pytest.phases = ["coding"]', "EVALUATOR_REQUIRED"),
}


@pytest.mark.parametrize(("text", "told"), REFUSED.values(), ids=REFUSED.keys())
async def test_a_file_that_cannot_be_used_lets_nothing_pass(text: str, told: str) -> None:
    found = panel(text, REQUIRED)
    assert any(told in str(each) for each in found.problems), found.problems
    judges = PhasePanel(create_default_registry(), REQUIRED).for_project(text.encode())
    for phase in ("discovery", "coding", "verification"):
        results = await judges.evaluate_phase_output(phase, "VERIFICATION_SUCCESS", {})
        assert [(each.evaluator_name, each.status) for each in results] == [
            ("project_file", EvaluationStatus.ERRORED)
        ]
        assert told in results[0].feedback
        assert judges.judge(phase, results, RunPolicy()).status is VerdictStatus.ERRORED


def test_a_required_one_may_get_more_time_and_more_phases() -> None:
    text = '[evaluators.pytest]\ntimeout = 500\nphases = ["coding", "verification", "discovery"]'
    assert panel(text, REQUIRED).problems == ()


def test_a_file_that_is_not_honoured_changes_nothing() -> None:
    found = panel("broken = ", ProjectRules(honour=False))
    assert found.problems == ()
    assert found.registry.gates("coding") == ALL


def test_what_was_left_out_may_be_named() -> None:
    registry = create_default_registry().without(["agent_claim"])
    text = b'[evaluators.agent_claim]\ngate = true\n[[command]]\nname = "unit"\nrun = "x"'
    found = panel_for(registry, text, ProjectRules())
    assert found.problems == ()
    assert "agent_claim" not in found.registry.names()


@dataclass
class Fake:
    """Passes with a score, and remembers what it was shown."""

    score: float = 0.8
    name: str = "fake"
    category: EvaluationCategory = EvaluationCategory.CORRECTNESS
    is_deterministic: bool = True
    level: int = 0
    seen: list[EvaluationContext] = field(default_factory=list)

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        self.seen.append(context)
        return EvaluationResult(
            evaluator_name=self.name, category=self.category, passed=True, score=self.score, feedback="fine"
        )

    def with_options(self, options: Any) -> Evaluator:
        if set(options) - {"level"}:
            raise ValueError("knows only level")
        return Fake(level=options["level"])


def registry_of(fake: Fake) -> EvaluatorRegistry:
    registry = EvaluatorRegistry()
    registry.register(fake)
    return registry


def panel_with(fake: Fake) -> PhasePanel:
    return PhasePanel(registry_of(fake))


def test_an_evaluator_of_another_package_takes_options() -> None:
    found = panel_with(Fake()).for_project(b"evaluators.fake.options.level = 3").project
    assert found is not None
    assert evaluator(found, "fake").level == 3
    wrong = panel_with(Fake()).for_project(b"\nevaluators.fake.options.depth = 3").project
    assert wrong is not None
    assert [str(each) for each in wrong.problems] == [
        "phaserunner.toml:2: evaluators.fake.options: knows only level"
    ]


def test_an_evaluator_that_the_operator_made_an_adviser_is_not_observed() -> None:
    registry = EvaluatorRegistry()
    registry.register(Fake(), gate=False)
    found = panel_for(registry, b"\nevaluators.fake.observe = true", ProjectRules())
    assert [str(each) for each in found.problems] == [
        "phaserunner.toml:2: evaluators.fake.observe: needs a gate: an adviser blocks nothing anyway"
    ]
    assert panel_for(registry, b'mode = "observe"', ProjectRules()).registry.observed("coding") == set()


@pytest.mark.parametrize(
    ("theirs", "ours", "status"), [(0.9, 0.5, "failed"), (0.1, 0.85, "failed"), (0.7, 0.8, "passed")]
)
async def test_the_stricter_threshold_counts(theirs: float, ours: float, status: str) -> None:
    judges = panel_with(Fake()).for_project(f"[verdict]\npass_threshold = {theirs}".encode())
    results = await judges.evaluate_phase_output("coding", "", {})
    assert judges.judge("coding", results, RunPolicy(pass_threshold=ours)).status == status


async def test_protected_paths_are_handed_on(tmp_path: Path) -> None:
    fake = Fake()
    judges = panel_with(fake).for_project(b'[protected]\nopen = ["a/*"]\nextra = ["b/*"]')
    await judges.evaluate_phase_output("coding", "", {"open_paths": ["given"]})
    assert fake.seen[0]["open_paths"] == ["given", "a/*"]
    assert fake.seen[0]["protected_paths"] == ["b/*"]


async def test_tests_of_the_goal_and_known_failures_are_handed_on() -> None:
    fake = Fake()
    judges = panel_with(fake).for_project(b'[tests]\ngoal = ["a::*"]\nknown_failures = ["b::*"]')
    await judges.evaluate_phase_output("coding", "", {"goal_tests": ["given"]})
    assert fake.seen[0]["goal_tests"] == ["given", "a::*"]
    assert fake.seen[0]["known_failures"] == ["b::*"]


CHANGES = {
    "as it was": (b"# one", b"# one", None, None),
    "none at all": (None, None, None, None),
    "added": (None, b"# one", True, "was added"),
    "removed": (b"# one", None, True, "was removed"),
    "changed": (b"# one", b"# two", True, "judges this run"),
    "broken": (
        b"# one",
        b"[evaluators.pytest]\ntimeout = 0",
        False,
        "phaserunner.toml:2: evaluators.pytest.timeout",
    ),
}


@pytest.mark.parametrize(("base", "candidate", "passed", "told"), CHANGES.values(), ids=CHANGES.keys())
async def test_a_change_to_the_file_is_told_and_does_not_count(
    tmp_path: Path, base: bytes | None, candidate: bytes | None, passed: bool | None, told: str | None
) -> None:
    if candidate is not None:
        (tmp_path / "phaserunner.toml").write_bytes(candidate)
    heard: list[EvaluationResult] = []

    async def hear(result: EvaluationResult) -> None:
        heard.append(result)

    judges = panel_with(Fake()).for_project(base)
    results = await judges.evaluate_phase_output(
        "coding", "", {"workspace_ref": str(tmp_path)}, on_result=hear
    )
    assert heard == results
    remarks = [each for each in results if each.evaluator_name == "project_file"]
    assert [each.passed for each in remarks] == ([] if passed is None else [passed])
    if told is not None:
        assert told in remarks[0].feedback
    assert judges.judge("coding", results, RunPolicy()).passed, "the remark decides nothing"


async def test_the_file_of_a_tree(tmp_path: Path) -> None:
    assert read_from_tree(tmp_path) is None
    (tmp_path / "phaserunner.toml").symlink_to("/etc/passwd")
    assert "is a link" in str(read_from_tree(tmp_path))
    (tmp_path / "phaserunner.toml").unlink()
    (tmp_path / "phaserunner.toml").mkdir()
    assert "is not a regular file" in str(read_from_tree(tmp_path))
    judges = await panel_with(Fake()).for_tree(tmp_path)
    assert judges.get_evaluator_registry().gates("coding") == ("project_file",)


async def test_a_phase_in_memory_is_judged_as_its_base_says(tmp_path: Path) -> None:
    (tmp_path / "phaserunner.toml").write_text("[verdict]\npass_threshold = 0.9")

    async def produce(prompt: str, number: int) -> str:
        return "done"

    outcome = await PhaseRunner(registry_of(Fake())).run_phase_with_evaluation(
        Phase.CODING, "goal", produce, {"base_ref": str(tmp_path)}, policy=RunPolicy(max_attempts=1)
    )
    assert not outcome.passed
