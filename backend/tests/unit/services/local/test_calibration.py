"""Cases are judged through the git history they would have in a sprint."""

import asyncio
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.core.errors import InvalidInputError
from app.corpora.format import CorpusCase, Files, SymbolicLink
from app.runners.evaluators.evaluator_config import CODING
from app.runners.evaluators.protocol import (
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    errored,
)
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.project import ProjectRules
from app.schemas.calibration import CaseOutcome, Label
from app.schemas.runs import Phase, RunPolicy
from app.services.local.calibration import CalibrationService, Panel
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.history.git import Git

pytestmark = pytest.mark.anyio

Look = Callable[[Path, Path], bool]


@dataclass
class Looks:
    """Judges the two trees by a function of their paths."""

    look: Look
    name: str = "looks"
    is_deterministic: bool = True
    category: EvaluationCategory = EvaluationCategory.CORRECTNESS
    version: str = "3"

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        candidate, base = context.get("workspace_ref", ""), context.get("base_ref")
        assert base is not None
        passed = self.look(Path(candidate), Path(base))
        return EvaluationResult(
            evaluator_name=self.name,
            category=self.category,
            passed=passed,
            score=float(passed),
            feedback=f"goal: {context.get('goal')}",
        )


def solved(candidate: Path, base: Path) -> bool:
    return (candidate / "a.py").read_text() == "solved"


def case(name: str, label: Label, candidate: Files, base: Files | None = None, **more: str) -> CorpusCase:
    return CorpusCase(name=name, label=label, about="x", base=base or {}, candidate=candidate, **more)


GOOD = case("good", Label.GOOD, {"a.py": b"solved"}, goal="Solve it")
BAD = case("bad", Label.BAD, {"a.py": b"no"})


def service(*looks: Looks, limits: WorkspaceLimits | None = None) -> CalibrationService:
    registry = EvaluatorRegistry()
    for each in looks:
        registry.register(each, [CODING])
    return CalibrationService(registry, RunPolicy(), Git.find(), limits or WorkspaceLimits(), ProjectRules())


def left(scratch: Path) -> list[Path]:
    return list(scratch.iterdir())


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary directories are made, so that what is left of them shows."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


async def test_right_verdicts_surprise_nobody(scratch: Path) -> None:
    told: list[CaseOutcome] = []
    report = await service(Looks(solved)).calibrate("mine", [GOOD, BAD], Panel(), told.append)
    assert (report.corpus, report.surprises, len(told)) == ("mine", [], 2)
    assert [(each.name, each.verdict) for each in report.outcomes] == [("bad", "failed"), ("good", "passed")]
    assert report.outcomes[1].said[0].feedback == "goal: Solve it"
    assert report.evaluators[0].version == "3"
    assert left(scratch) == []


async def test_wrong_verdicts_are_told_with_the_words_of_the_gate() -> None:
    wrong = Looks(lambda candidate, base: not solved(candidate, base))
    report = await service(wrong).calibrate("mine", [GOOD, BAD], Panel())
    assert [(each.name, each.verdict) for each in report.surprises] == [("bad", "passed"), ("good", "failed")]
    assert report.panel.failed[0].reason == "looks: goal: Solve it"


async def test_trees_are_what_git_makes_of_them() -> None:
    seen: dict[str, list[str]] = {}

    def look(candidate: Path, base: Path) -> bool:
        for name, tree in (("candidate", candidate), ("base", base)):
            seen[name] = sorted(str(each.relative_to(tree)) for each in tree.rglob("*"))
        return True

    candidate: Files = {
        "a.py": b"",
        "inside": SymbolicLink("a.py"),
        "outside": SymbolicLink("/etc/passwd"),
        ".git/hooks/post-checkout": b"#!/bin/sh\nexit 1\n",
        ".gitignore": b"secret.txt\n",
        "secret.txt": b"",
        "old.py": b"old",
        os.fsdecode(b"n\xe9"): b"",
    }
    await service(Looks(look)).calibrate(
        "mine", [case("odd", Label.GOOD, candidate, {"old.py": b"old", "gone.py": b""})], Panel()
    )
    assert seen["base"] == ["gone.py", "old.py"]
    assert seen["candidate"] == [".gitignore", "a.py", "inside", os.fsdecode(b"n\xe9"), "old.py"]


@pytest.mark.parametrize(
    "candidate",
    [
        pytest.param({f"{n}.py": b"" for n in range(9)}, id="more files than are allowed"),
        pytest.param({"a" * 300: b""}, id="a name longer than a name may be"),
        pytest.param({"../a": b""}, id="a path that climbs out"),
    ],
)
async def test_what_cannot_become_a_commit_has_no_verdict(candidate: Files, scratch: Path) -> None:
    judged = await service(Looks(solved), limits=WorkspaceLimits(max_files=5)).calibrate(
        "mine", [case("odd", Label.BAD, candidate), GOOD], Panel()
    )
    odd = next(each for each in judged.outcomes if each.name == "odd")
    assert (odd.verdict, odd.said) == ("errored", [])
    assert odd.reason.startswith("The case cannot be judged: ")
    assert (judged.panel.errored.count, judged.panel.bad_passed.of, judged.surprises) == (1, 1, [])
    assert left(scratch) == []


async def test_an_evaluator_that_crashes_gives_no_verdict() -> None:
    def crash(candidate: Path, base: Path) -> bool:
        raise RuntimeError("no verdict today")

    report = await service(Looks(crash)).calibrate("mine", [GOOD, BAD], Panel())
    assert [each.verdict for each in report.outcomes] == ["errored", "errored"]
    assert report.evaluators[0].errored.count == 2
    assert "no verdict today" in report.panel.unjudged[0].reason


async def test_one_evaluator_is_measured_alone_and_decides() -> None:
    registry = EvaluatorRegistry()
    registry.register(Looks(lambda *_: False, name="strict"), [CODING])
    registry.register(Looks(solved, name="adviser"), [CODING], gate=False)
    measured = CalibrationService(registry, RunPolicy(), Git.find(), WorkspaceLimits(), ProjectRules())
    report = await measured.calibrate("mine", [GOOD, BAD], Panel(evaluators=["adviser"]))
    assert ([each.name for each in report.evaluators], report.surprises) == (["adviser"], [])


def projects(text: str) -> list[CorpusCase]:
    """The two cases in a project whose file says this."""
    file = {"phaserunner.toml": text.encode()}
    return [replace(each, base=file, candidate={**each.candidate, **file}) for each in (GOOD, BAD)]


async def test_a_case_is_judged_as_its_project_says() -> None:
    command = '[[command]]\nname = "grep"\nrun = ["grep", "-q", "solved", "a.py"]\n'
    report = await service(Looks(lambda *_: True)).calibrate("mine", projects(command), Panel())
    assert report.surprises == []
    assert {each.name for each in report.evaluators} == {"grep", "looks"}
    switched_off = projects("[evaluators.looks]\nenabled = false\n" + command)
    report = await service(Looks(lambda *_: False)).calibrate("mine", switched_off, Panel())
    assert ([each.name for each in report.evaluators], report.surprises) == (["grep"], [])


async def test_a_project_file_that_cannot_be_used_lets_no_case_pass() -> None:
    for panel in (Panel(), Panel(evaluators=["looks"])):
        report = await service(Looks(solved)).calibrate("mine", projects("[evaluators.look]\n"), panel)
        assert [each.verdict for each in report.outcomes] == ["errored", "errored"]


async def test_one_evaluator_alone_is_not_joined_by_the_commands_of_a_project() -> None:
    refuse = projects('[evaluators.other]\ngate = false\n[[command]]\nname = "no"\nrun = ["false"]\n')
    measured = service(Looks(solved), Looks(lambda *_: False, name="other"))
    report = await measured.calibrate("mine", refuse, Panel(evaluators=["looks"]))
    assert ([each.name for each in report.evaluators], report.surprises) == (["looks"], [])


@dataclass
class Model(Looks):
    """Stands for an evaluator that asks a model."""

    is_deterministic: bool = False

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        return errored(self, "asked")


@pytest.mark.parametrize(
    ("panel", "asked"),
    [
        pytest.param(Panel(), False, id="not as a matter of course"),
        pytest.param(Panel(models=True), True, id="when models are wanted"),
        pytest.param(Panel(evaluators=["model"]), True, id="when it is named"),
    ],
)
async def test_models_cost_money(panel: Panel, asked: bool) -> None:
    measured = service(Looks(solved), Model(solved, name="model"))
    report = await measured.calibrate("mine", [GOOD], panel)
    said = {each.evaluator: each.feedback for each in report.outcomes[0].said}
    assert (said.get("model") == "asked") is asked


@pytest.mark.parametrize(
    ("panel", "phase", "says"),
    [
        pytest.param(
            Panel(evaluators=["look"]), Phase.CODING, "there is no 'look'; there are looks", id="name"
        ),
        pytest.param(Panel(), Phase.DISCOVERY, "none of these evaluators judges", id="phase"),
    ],
)
async def test_an_evaluator_that_cannot_be_measured_is_named(panel: Panel, phase: Phase, says: str) -> None:
    cases = [CorpusCase(name="a", label=Label.GOOD, about="x", candidate={}, phase=phase)]
    with pytest.raises(InvalidInputError, match=says):
        await service(Looks(solved)).calibrate("mine", cases, panel)


@dataclass
class Waits(Looks):
    """Judges when it is let go, and notes how many were judged at once."""

    running: int = 0
    most: int = 0

    def __post_init__(self) -> None:
        self.full = asyncio.Event()
        self.go = asyncio.Event()

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        self.running += 1
        self.most = max(self.most, self.running)
        if self.running == 3:
            self.full.set()
        await self.go.wait()
        self.running -= 1
        return await Looks.evaluate(self, phase, output, context)


async def test_so_many_are_judged_at_once_and_no_more() -> None:
    waits = Waits(solved)
    cases = [case(f"case-{n}", Label.GOOD, {"a.py": b"solved"}) for n in range(7)]
    judging = asyncio.create_task(service(waits).calibrate("mine", cases, Panel(workers=3)))
    await asyncio.wait_for(waits.full.wait(), 60)
    waits.go.set()
    report = await judging
    assert (waits.most, len(report.outcomes), report.surprises) == (3, 7, [])


async def test_an_interruption_leaves_no_file(scratch: Path) -> None:
    waits = Waits(solved)
    cases = [case(f"case-{n}", Label.GOOD, {"a.py": b"solved"}) for n in range(7)]
    judging = asyncio.create_task(service(waits).calibrate("mine", cases, Panel(workers=3)))
    await asyncio.wait_for(waits.full.wait(), 60)
    judging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await judging
    assert left(scratch) == []


async def test_only_a_case_with_a_message_is_judged_by_what_judges_messages() -> None:
    registry = EvaluatorRegistry()
    registry.register(Looks(solved), [CODING])
    registry.register(Looks(lambda *_: False, name="claims"), [CODING])
    measured = CalibrationService(
        registry, RunPolicy(), Git.find(), WorkspaceLimits(), ProjectRules(), {"claims"}
    )
    speaking = case("speaking", Label.BAD, {"a.py": b"solved"}, output="It is done.")
    report = await measured.calibrate("two", [GOOD, speaking], Panel())
    assert {each.name: [said.evaluator for said in each.said] for each in report.outcomes} == {
        "good": ["looks"],
        "speaking": ["looks", "claims"],
    }
    assert {each.name: each.verdict for each in report.outcomes} == {"good": "passed", "speaking": "failed"}
