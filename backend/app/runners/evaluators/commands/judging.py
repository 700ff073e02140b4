"""Judges a command's run by its exit status, its report, and a run of the same command at the base."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from app.runners.evaluators.commands.coverage import new_lines, read_coverage
from app.runners.evaluators.commands.judged_tests import TestsJudging, read_tests
from app.runners.evaluators.commands.junit import ReportError
from app.runners.evaluators.commands.known_silencers import known_comments, suppressed_as_at_base
from app.runners.evaluators.commands.language_setting import LanguageSetting
from app.runners.evaluators.commands.line_findings import SILENCED, read_eslint, read_lines
from app.runners.evaluators.commands.overlaid import asking, noted, with_overlay
from app.runners.evaluators.commands.overlay import Overlay, Overlays
from app.runners.evaluators.commands.red_at_base import RedAtBase
from app.runners.evaluators.commands.results import broken_result, coverage_result, plain_result
from app.runners.evaluators.commands.run import CommandRun, Launcher
from app.runners.evaluators.commands.sarif import Sarif, read_sarif
from app.runners.evaluators.commands.setting import overlays_for
from app.runners.evaluators.commands.taking import NoVerdictError, next_step
from app.runners.evaluators.protocol import (
    EvaluationResult,
    EvaluationStatus,
    Evaluator,
    errored,
    skipped,
)
from app.runners.evaluators.static.baseline import Comparison, Wording, compare
from app.runners.evaluators.static.baseline import result_of as result_of_findings
from app.runners.evaluators.tooling import ToolTroubleError, excerpt
from app.schemas.project_file import (
    CoverageReport,
    EslintReport,
    FindingsReport,
    JestReport,
    JUnitReport,
    LinesReport,
    OutputReport,
    SarifReport,
    TestsReport,
)
from app.schemas.questions import QUESTIONS, ProtectedPolicy

ReportKind = TestsReport | FindingsReport | CoverageReport
Content = TypeVar("Content")

_NOT_FOUND = (126, 127)
"""Exit statuses of a shell that could not find or run a program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandJudging:
    """One evaluation by a command.

    Attributes:
        evaluator: the evaluator that judges.
        launcher: runs the command on a tree.
        report: the report that it writes.
        pass_codes: exit statuses that indicate a pass.
        workspace: the judged tree.
        base: the tree at the base commit.
        opened: globs of paths that the candidate may change.
        protected: what happens to a pass that depends on changed tests and settings.
        setting: the files of the command's language that are taken from the base.
        red: which failing tests of the base count.
    """

    evaluator: Evaluator
    launcher: Launcher
    report: ReportKind | None
    pass_codes: tuple[int, ...]
    workspace: Path
    base: Path | None
    opened: Sequence[str] = ()
    protected: ProtectedPolicy = ProtectedPolicy.ASK
    setting: LanguageSetting = field(default_factory=LanguageSetting)
    red: RedAtBase = field(default_factory=RedAtBase)

    async def judge(self) -> EvaluationResult:
        """Run the command and judge it.

        The base's tests and settings decide. If the candidate has others, a run with its own must pass, too.
        If only that run passes, a person is asked. That includes the case that the base's tests no longer
        compile, and that a checker has nothing to report under the candidate's own settings.

        Raises:
            ToolTroubleError: there is no verdict, whatever the candidate did.
            SandboxUnavailableError: the command cannot be confined.
        """
        overlays = await asyncio.to_thread(self._overlays)
        if not overlays.strict:
            result = with_overlay(await self._judged(overlays.own), overlays.own)
            return await self._under_own_settings(result, overlays)
        result = with_overlay(await self._judged(overlays.strict), overlays.strict)
        if _holds(result):
            own = await self._judged(overlays.own, kept=False)
            return result if _holds(own) else with_overlay(own, overlays.own)
        left_out = [each for each in overlays.strict.added if self.setting.holds(each)]
        changed = [*overlays.strict.changed, *overlays.strict.texts, *left_out]
        if not changed or self.protected is ProtectedPolicy.FAIL:
            return result
        return self._settled(result, await self._judged(overlays.own, kept=False), changed)

    async def _under_own_settings(self, result: EvaluationResult, overlays: Overlays) -> EvaluationResult:
        """Check once more with the candidate's settings if a checker fails and the settings differ."""
        is_open = result.status is EvaluationStatus.FAILED and self.protected is not ProtectedPolicy.FAIL
        if overlays.free is None or not overlays.settings or not is_open:
            return result
        return self._settled(result, await self._judged(overlays.free), overlays.settings)

    def _settled(
        self, result: EvaluationResult, own: EvaluationResult, changed: Sequence[str]
    ) -> EvaluationResult:
        """Return a failed result; with a question or a note if the candidate's own files make it pass."""
        if not _holds(own):
            return result
        if self.protected is ProtectedPolicy.NOTE:
            return noted(own, changed)
        return asking(result, own, changed, self.base or self.workspace, self.workspace)

    def _overlays(self) -> Overlays:
        if self.base is None:
            return Overlays(Overlay(), Overlay())
        return overlays_for(
            self.base,
            self.workspace,
            self.launcher.command,
            self.launcher.working_directory,
            self.opened,
            measures=isinstance(self.report, FindingsReport | CoverageReport),
            setting=self.setting,
        )

    async def _judged(self, overlay: Overlay, *, kept: bool = True) -> EvaluationResult:
        try:
            match self.report:
                case JUnitReport() | OutputReport() | JestReport() as report:
                    return await self._tests(report, overlay, kept=kept)
                case SarifReport() | LinesReport() | EslintReport() as report:
                    return await self._findings(report, overlay)
                case CoverageReport():
                    return await self._coverage(self.report, overlay)
                case None:
                    run = await self._run(overlay)
                    return plain_result(self.evaluator, run, passed=self._ended_well(run))
        except NoVerdictError as trouble:
            return await self._blame(trouble)

    async def _run(self, overlay: Overlay) -> CommandRun:
        return self._checked(await self.launcher.run(self.workspace, self.base, overlay))

    async def _tests(self, report: TestsReport, overlay: Overlay, *, kept: bool) -> EvaluationResult:
        base = self.base if report.compare_base else None
        return await TestsJudging(
            evaluator=self.evaluator,
            report=report,
            pass_codes=self.pass_codes,
            launch=partial(self._run, overlay),
            launch_base=None if base is None else partial(self.launcher.run, base, base),
            red=self.red,
            kept=kept,
        ).judge()

    async def _findings(self, report: FindingsReport, overlay: Overlay) -> EvaluationResult:
        run = await self._run(overlay)
        found = await asyncio.to_thread(self._scanned, run, report, self.workspace)
        comparison = Comparison(found.findings, ())
        if found.findings and self.base is not None:
            comparison = await self._against_base(found, report, self.base)
        wording = Wording("finding", f"{self.evaluator.name} found nothing new", "no_new_findings")
        return result_of_findings(self.evaluator, comparison, wording)

    async def _against_base(self, found: Sarif, report: FindingsReport, base: Path) -> Comparison:
        try:
            run = self._checked(await self.launcher.run(base, base))
            at_base = await asyncio.to_thread(self._scanned, run, report, base)
        except NoVerdictError as trouble:
            raise ToolTroubleError(f"The base cannot be scanned: the command {trouble}") from trouble
        return await asyncio.to_thread(self._compared, found, at_base)

    def _compared(self, found: Sarif, at_base: Sarif) -> Comparison:
        gone = {each.file for each in at_base.findings if not (self.workspace / each.file).is_file()}
        comparison = compare(found.findings, at_base.findings, gone=gone)
        comments, here = (
            [each for each in side.findings if each.rule == SILENCED] for side in (at_base, found)
        )
        excused = known_comments(comparison.new, comments, here)
        excused |= suppressed_as_at_base(found.suppressed, at_base.suppressed)
        new = tuple(each for each in comparison.new if each not in excused)
        return replace(comparison, new=new)

    def _scanned(self, run: CommandRun, report: FindingsReport, tree: Path) -> Sarif:
        found = _readable(run, lambda: _read_findings(run, report, self.launcher.working_directory, tree))
        code = run.outcome.returncode
        if code not in self.pass_codes or (code != 0 and not found.results):
            # A scanner that ends with an error and without a finding has not scanned.
            reason = f"ended with exit status {code} and reported {found.results} results"
            raise NoVerdictError(f"{reason}: {excerpt(run.text, 500)}", f"exit status {code}")
        return replace(found, findings=(*found.findings, *self.setting.silenced(tree)))

    async def _coverage(self, report: CoverageReport, overlay: Overlay) -> EvaluationResult:
        run = await self._run(overlay)
        if not self._ended_well(run):
            return plain_result(self.evaluator, run, passed=False)
        measured = await asyncio.to_thread(_measured, run, self.workspace)
        added = await asyncio.to_thread(new_lines, measured, self.workspace, self.base)
        if not added:
            return skipped(self.evaluator, "There are no new executable lines", files_measured=len(measured))
        return coverage_result(self.evaluator, run, added, report.minimum)

    async def _blame(self, trouble: NoVerdictError) -> EvaluationResult:
        """Decide who is to blame for a run without evidence: the candidate, if the base reaches a verdict."""
        if self.base is None or not await self._gives_verdict(self.base):
            return errored(self.evaluator, f"The command {trouble}{next_step(trouble)}", reason=trouble.kind)
        return broken_result(self.evaluator, trouble)

    async def _gives_verdict(self, base: Path) -> bool:
        try:
            run = self._checked(await self.launcher.run(base, base))
            match self.report:
                case JUnitReport() | OutputReport() | JestReport() as report:
                    return bool((await asyncio.to_thread(read_tests, run, report)).ran)
                case SarifReport() | LinesReport() | EslintReport() as report:
                    await asyncio.to_thread(self._scanned, run, report, base)
                case CoverageReport():
                    await asyncio.to_thread(_measured, run, base)
                    return self._ended_well(run)
                case None:
                    pass
        except NoVerdictError:
            return False
        return True

    def _checked(self, run: CommandRun) -> CommandRun:
        code = run.outcome.returncode
        if code in _NOT_FOUND and code not in self.pass_codes:
            reason = f"could not find or run a program (exit status {code}): {excerpt(run.text, 500)}"
            raise NoVerdictError(reason, f"exit status {code}")
        return run

    def _ended_well(self, run: CommandRun) -> bool:
        return run.outcome.returncode in self.pass_codes


def _holds(result: EvaluationResult) -> bool:
    """Return True if a result passes, or fails only with questions about tests that fail at the base."""
    return result.passed or QUESTIONS in result.metadata


def _read_findings(run: CommandRun, report: FindingsReport, directory: str, here: Path) -> Sarif:
    match report:
        case SarifReport():
            return read_sarif(run.report, run.tree, report.level)
        case LinesReport():
            return read_lines(run.text, run.tree, report.pattern, directory, here)
        case EslintReport():
            return read_eslint(run.report, run.tree)


def _measured(run: CommandRun, tree: Path) -> dict[str, dict[int, bool]]:
    return _readable(run, lambda: read_coverage(run.report, run.tree, tree))


def _readable(run: CommandRun, read: Callable[[], Content]) -> Content:
    try:
        return read()
    except ReportError as error:
        kind = f"report, exit status {run.outcome.returncode}"
        raise NoVerdictError(f"produced no usable report: {error}", kind) from error
