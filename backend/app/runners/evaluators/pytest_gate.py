"""The test gate: pytest under a trusted runner and configuration, compared with the base's tests."""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path

from app.runners.evaluators.protocol import (
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    errored,
    skipped,
)
from app.runners.evaluators.pytest_base import BaseTests
from app.runners.evaluators.pytest_feedback import JudgedRun, result_of
from app.runners.evaluators.pytest_report import Ending
from app.runners.evaluators.pytest_run import Harness
from app.runners.evaluators.source_tree import python_files
from app.runners.evaluators.tooling import ToolTroubleError, excerpt, find_base, find_workspace, seconds_for

# Files that say a project is written in another language, whose tests are another evaluator's business.
_OTHER_LANGUAGES = (
    *("package.json", "go.mod", "Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts"),
    *("Gemfile", "composer.json", "mix.exs", "Package.swift"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PytestEvaluator:
    """Passes when the tests ran to their end, some passed, none failed, and none of the base's is lost.

    No tests at all are a failure: nothing then speaks for the code. Only a project in another language is
    skipped. A run that breaks is the candidate's fault unless the base breaks in the same way: then, or when
    the interpreter lacks what the base's own code needs, there is no verdict. The score is passed of total.

    Attributes:
        timeout: seconds for one run; where the base must be run too, it has as many again.
        python: interpreter for the tests; it needs pytest 8.4 or newer. None is the one this program runs on.
        compare_base: whether lost and newly skipped tests of the base are looked for.
    """

    timeout: float = 120.0
    python: Path | None = None
    compare_base: bool = True
    name: str = "pytest"
    category: EvaluationCategory = EvaluationCategory.FUNCTIONALITY
    version: str = "1"
    is_deterministic: bool = True

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Run the workspace's tests; `output` and `phase` play no part."""
        workspace = find_workspace(self, context, "test")
        if isinstance(workspace, EvaluationResult):
            return workspace
        try:
            base = find_base(context)
            if await asyncio.to_thread(_is_foreign_language, workspace, base):
                return skipped(self, "No Python files to test")
            harness = Harness(self.python or Path(sys.executable), base, seconds_for(context, self.timeout))
            return await self._judge(harness, workspace)
        except ToolTroubleError as trouble:
            return errored(self, str(trouble))

    async def _judge(self, harness: Harness, workspace: Path) -> EvaluationResult:
        if harness.base is None:
            return await self._compare(harness, workspace, None)
        base = BaseTests(harness, harness.base, workspace)
        try:
            if self.compare_base:
                await base.prepare()
            return await self._compare(harness, workspace, base)
        finally:
            await base.close()

    async def _compare(self, harness: Harness, workspace: Path, base: BaseTests | None) -> EvaluationResult:
        report = await harness.run(workspace)
        if report.ending is Ending.UNSTARTED:
            return errored(self, f"pytest cannot be started by {harness.python}: {excerpt(report.text, 500)}")
        trouble = await base.environment_trouble(report) if base else ""
        if trouble:
            return errored(self, trouble, ending=report.ending.value)
        compared = base if self.compare_base and report.ending is Ending.COMPLETE else None
        judged = JudgedRun(
            report=report,
            lost=await compared.lost(report) if compared else (),
            idle=await compared.newly_idle(report) if compared else (),
            compared=compared is not None,
            workspace=workspace,
        )
        return result_of(self, judged)


def _is_foreign_language(workspace: Path, base: Path | None) -> bool:
    if not any((workspace / name).is_file() for name in _OTHER_LANGUAGES):
        return False
    return not python_files(workspace) and (base is None or not python_files(base))
