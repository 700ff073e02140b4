"""The gate of the held-out tests: the test gate, on a base to which these tests are added."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.core.errors import WorkspaceError
from app.runners.evaluators.held_out.held_out_files import HeldOutTests, held_out_again
from app.runners.evaluators.held_out.wording import for_agents
from app.runners.evaluators.interpreter import EnvironmentTroubleError, interpreter_for
from app.runners.evaluators.protocol import EvaluationCategory, EvaluationContext, EvaluationResult, errored
from app.runners.evaluators.testing.gate import PytestEvaluator
from app.runners.evaluators.testing.layout.trees import Layout, whole_tree
from app.runners.evaluators.testing.running.report import PytestEnding, RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.runners.evaluators.tooling import ToolTroubleError, excerpt, find_base, stretched
from app.schemas.held_out import HELD_OUT_TESTS, HeldOutAtBase
from app.schemas.questions import BaseFailures, ProtectedPolicy
from app.schemas.runs import HeldOutFeedback
from app.workspaces.confine.sandbox import SandboxUnavailableError
from app.workspaces.files.origin import origin_of, write_origin
from app.workspaces.files.temporary import in_thread, temporary_directory


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutEvaluator:
    """Passes if the held-out tests pass with the candidate's code.

    They are judged like the base's own tests: they and the base's test setting replace whatever the
    candidate's tree has at these paths, and the candidate's own conftests and helpers are removed. All must
    pass, even those that fail at the base. It is a failure if none is collected.

    Attributes:
        files: the texts of the held-out files by their paths.
        told: how much the feedback reveals of a failure.
        tests: runs them. It is the operator's test gate, whatever a project's file makes of that.
    """

    files: Mapping[str, str] = field(repr=False)
    told: HeldOutFeedback = HeldOutFeedback.NAMES
    tests: PytestEvaluator = field(default_factory=PytestEvaluator)
    name: str = HELD_OUT_TESTS
    category: EvaluationCategory = EvaluationCategory.FUNCTIONALITY
    version: str = "2"
    is_deterministic: bool = True

    @property
    def timeout(self) -> float:
        """Seconds for one test, and for all waiting of tests that do not pass."""
        return self.tests.timeout

    @property
    def longest(self) -> float:
        """Seconds for one run of the tests."""
        return self.tests.longest

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Run the held-out tests on the workspace. `output` and `phase` are not used."""
        try:
            base = find_base(context)
            if base is None:
                return errored(self, "Held-out tests need a base", reason="environment")
            async with _extended(base, self.files) as (tree, held_out):
                result = await self._inner(held_out).evaluate(phase, output, _strict(context, tree))
        except (ToolTroubleError, WorkspaceError, OSError) as trouble:
            return errored(self, str(trouble), reason="environment")
        return for_agents(result, self.told, self.files).model_copy(
            update={"evaluator_name": self.name, "evaluator_version": self.version}
        )

    async def at_base(self, base: Path) -> HeldOutAtBase:
        """Run the held-out tests on the base's own code."""
        tests = self.tests
        try:
            async with (
                _extended(base, self.files) as (tree, held_out),
                interpreter_for(
                    tests.interpreters, tests.python, tree, tree, extensions=tests.extensions
                ) as found,
            ):
                harness = Harness(
                    python=found.python,
                    base=tree,
                    seconds=stretched(tests.longest),
                    sandbox=tests.sandbox,
                    limits=tests.limits,
                    patience=tests.timeout,
                    built=found.built,
                )
                whole = await asyncio.to_thread(whole_tree, tree, tests.limits)
                return _told_of(await harness.run(replace(whole, only=held_out.tests)))
        except (
            EnvironmentTroubleError,
            SandboxUnavailableError,
            ToolTroubleError,
            WorkspaceError,
            OSError,
        ) as error:
            return HeldOutAtBase(trouble=excerpt(str(error), 500))

    def _inner(self, held_out: HeldOutTests) -> PytestEvaluator:
        def narrowed(layout: Layout) -> Layout:
            run = layout.base_run
            return replace(
                layout,
                base_tests=tuple(name for name in layout.base_tests if name in held_out.tests),
                laid_over=(),
                own_tests=(),
                own_run=None,
                base_run=None if run is None else replace(run, only=held_out.tests),
            )

        return replace(
            self.tests, name=self.name, compare_base=True, narrowed=narrowed, asks_about_dependencies=False
        )


def _strict(context: EvaluationContext, base: Path) -> EvaluationContext:
    """Return a context in which every held-out test counts, and the candidate may change no path."""
    return {
        **context,
        "base_ref": str(base),
        "open_paths": [],
        "protected_policy": ProtectedPolicy.FAIL,
        "base_failures": BaseFailures.MUST_PASS,
    }


@asynccontextmanager
async def _extended(base: Path, files: Mapping[str, str]) -> AsyncGenerator[tuple[Path, HeldOutTests]]:
    """Yield a copy of the base with the held-out files added. Remove it at the end of the block."""
    async with temporary_directory(lambda: tempfile.mkdtemp(prefix="held-out-")) as place:
        tree = place / "base"
        yield tree, await in_thread(_lay, base, tree, files)


def _lay(base: Path, tree: Path, files: Mapping[str, str]) -> HeldOutTests:
    shutil.copytree(base, tree, symlinks=True)
    write_origin(tree, origin_of(base))
    for name, text in files.items():
        target = tree / name
        _clear_way(tree, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="")
    return held_out_again(files, tree)


def _clear_way(tree: Path, name: str) -> None:
    """Remove links and files of the base that are in the place of a held-out file or its directories."""
    place = tree
    for part in name.split("/"):
        place /= part
        if place.is_symlink() or (place.is_file() and place != tree / name):
            place.unlink()


def _told_of(report: RunReport) -> HeldOutAtBase:
    if report.ending is not PytestEnding.COMPLETE:
        told = f"the run stopped early ({report.ending.value}): {excerpt(report.text, 300)}"
        return HeldOutAtBase(trouble=told)
    passing = [each.id for each in report.tests.values() if each.ok]
    return HeldOutAtBase(
        passing=passing[:200],
        failing=len(report.tests) - len(passing),
        unreadable=[each.id for each in report.errors[:50]],
    )
