"""A workspace is judged as it lies on the disk, and nothing is written to it."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from app.core.errors import BusyError, InvalidInputError, PhaseRunnerError
from app.runners.evaluators.protocol import EvaluationCategory, EvaluationContext, EvaluationResult
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.static.ruff_lint import RuffLintEvaluator
from app.schemas.api.workspace_reports import EvaluateRequest, EvaluationReport
from app.workspaces.sources.inspection import SourcePolicy
from tests.integration.services.support import evaluations, git, make_repository
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

FAULTY = "print(gone)\n"


def registry() -> EvaluatorRegistry:
    found = EvaluatorRegistry()
    found.register(RuffLintEvaluator(timeout=PATIENCE))
    return found


async def judge(path: Path, **fields: Any) -> EvaluationReport:
    return await evaluations(registry()).judge(EvaluateRequest(path=str(path), **fields))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "my project")


def listing(root: Path) -> dict[str, bytes]:
    return {str(each.relative_to(root)): each.read_bytes() for each in root.rglob("*") if each.is_file()}


async def test_uncommitted_changes_are_judged_and_nothing_is_touched(repo: Path) -> None:
    (repo / "new.py").write_text(FAULTY)
    before = listing(repo)
    report = await judge(repo)
    assert (report.verdict, report.base_commit) == ("failed", None)
    assert [each.result["evaluator_name"] for each in report.evaluations] == ["ruff_lint"]
    assert report.evaluations[0].gate
    assert listing(repo) == before


async def test_what_was_wrong_before_does_not_count_against_a_base(repo: Path) -> None:
    (repo / "old.py").write_text(FAULTY)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "second")
    assert (await judge(repo)).verdict == "failed"
    report = await judge(repo, base="HEAD")
    assert (report.verdict, report.base_commit) == ("passed", git(repo, "rev-parse", "HEAD"))
    (repo / "old.py").write_text(FAULTY + "print(other)\n")
    assert (await judge(repo, base="HEAD")).verdict == "failed"


class Held:
    """An evaluator that holds until it is let go."""

    name = "held"
    version = "1"
    category = EvaluationCategory.TESTING
    is_deterministic = True

    def __init__(self) -> None:
        self.begun, self.go = anyio.Event(), anyio.Event()

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        self.begun.set()
        await self.go.wait()
        return EvaluationResult(
            evaluator_name=self.name, category=self.category, passed=True, score=1.0, feedback="fine"
        )


async def test_more_at_once_than_may_be_are_refused(repo: Path) -> None:
    held, found = Held(), EvaluatorRegistry()
    found.register(held)
    service = evaluations(found, at_once=1)
    reports: list[EvaluationReport] = []

    async def judge_it() -> None:
        reports.append(await service.judge(EvaluateRequest(path=str(repo))))

    async with anyio.create_task_group() as group:
        group.start_soon(judge_it)
        await held.begun.wait()
        with pytest.raises(BusyError, match="1 evaluations are running") as raised:
            await judge_it()
        assert (raised.value.status, raised.value.retry_after) == (503, 5)
        held.go.set()
    await judge_it()
    assert [each.verdict for each in reports] == ["passed", "passed"]
    with pytest.raises(PhaseRunnerError):
        await service.judge(EvaluateRequest(path=str(repo / "nowhere")))
    await judge_it()


async def test_a_directory_that_is_new_since_the_base(repo: Path) -> None:
    (repo / "package").mkdir()
    (repo / "package" / "new.py").write_text("y = 1\n")
    assert (await judge(repo / "package", base="HEAD")).verdict == "passed"


async def test_a_directory_without_git(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    assert (await judge(tmp_path)).verdict == "passed"


async def test_nothing_to_check_is_not_a_pass(tmp_path: Path) -> None:
    report = await judge(tmp_path)
    assert (report.verdict, report.score) == ("errored", None)


WRONG = {
    "relative": ("here", None, "path"),
    "missing": ("{here}/missing", None, "path"),
    "a file": ("{here}/a.py", None, "path"),
    "a loop": ("{here}/loop/x", None, "path"),
    "unknown base": ("{here}", "nope", "base"),
    "an option as base": ("{here}", "--exec=id", "base"),
}


@pytest.mark.parametrize(("path", "base", "field"), WRONG.values(), ids=WRONG.keys())
async def test_what_cannot_be_judged(repo: Path, path: str, base: str | None, field: str) -> None:
    (repo / "loop").symlink_to("loop")
    request = EvaluateRequest(path=path.format(here=repo), base=base)
    with pytest.raises(PhaseRunnerError) as raised:
        await evaluations(registry()).judge(request)
    assert raised.value.field == field


async def test_only_below_the_allowed_directories(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "link").symlink_to(repo)
    service = evaluations(registry(), SourcePolicy(allowed_roots=(tmp_path / "open",)))
    for path in (repo, tmp_path / "open" / "link", tmp_path / "missing"):
        with pytest.raises(InvalidInputError, match="outside the allowed directories"):
            await service.judge(EvaluateRequest(path=str(path)))
