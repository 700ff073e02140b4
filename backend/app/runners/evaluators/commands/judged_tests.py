"""Judges the tests of a command: compares them with the base's, and runs them again if some fail."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from app.runners.evaluators.commands.junit import JUnit, ReportError, read_junit
from app.runners.evaluators.commands.lost_tests import lost_tests
from app.runners.evaluators.commands.output_tests import read_go, read_jest, read_libtest
from app.runners.evaluators.commands.red_at_base import Failures, RedAtBase, sort_failures
from app.runners.evaluators.commands.results import TestsJudged, tests_result
from app.runners.evaluators.commands.run import CommandRun
from app.runners.evaluators.commands.taking import NoVerdictError, next_step
from app.runners.evaluators.protocol import EvaluationResult, Evaluator, errored
from app.runners.evaluators.tooling import excerpt
from app.schemas.project_file import JestReport, JUnitReport, TestsReport
from app.workspaces.together import together

Launch = Callable[[], Awaitable[CommandRun]]


@dataclass(frozen=True, slots=True)
class _Tests:
    run: CommandRun
    found: JUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class TestsJudging:
    """One evaluation by tests.

    Attributes:
        evaluator: the evaluator that judges.
        report: the report that the command writes.
        pass_codes: exit statuses that indicate a pass.
        launch: runs the command on the candidate.
        launch_base: runs it at the base; None without a comparison.
        red: which failing tests of the base count.
        kept: True if the base's tests must still run. Otherwise the base only shows which failures it has,
            too.
    """

    __test__ = False

    evaluator: Evaluator
    report: TestsReport
    pass_codes: tuple[int, ...]
    launch: Launch
    launch_base: Launch | None
    red: RedAtBase
    kept: bool = True

    async def judge(self) -> EvaluationResult:
        """Run the tests and judge them.

        Raises:
            NoVerdictError: the candidate's run gives no usable evidence.
        """
        now, bases = await self._runs()
        failures = await self._sorted(now, bases)
        codes = {*self.pass_codes, *(each.run.outcome.returncode for each in bases)}
        excused = bool(now.found.failures) and not failures.counted
        if excused and not now.found.passed:
            return self._without_evidence(now.found)
        judged = TestsJudged(
            now.found,
            failures,
            ended_well=now.run.outcome.returncode in (codes if excused else self.pass_codes),
            lost=_lost(now.found, bases[0].found) if bases and self.kept else (),
        )
        return tests_result(self.evaluator, now.run, judged)

    def _without_evidence(self, found: JUnit) -> EvaluationResult:
        """Reach no verdict: what all tests lack, here and at the base, is usually a package or a service."""
        first = found.failures[0]
        trouble = NoVerdictError(
            f"has {len(found.failures)} failing tests and none that passes, at the base as well. "
            f"{first.id}: {first.message}",
            "no test passes at the base",
        )
        return errored(self.evaluator, f"The command {trouble}{next_step(trouble)}", reason=trouble.kind)

    async def _runs(self) -> tuple[_Tests, list[_Tests]]:
        """Run the candidate, and the base if there is a comparison."""
        if self.launch_base is None:
            return await self._tests(self.launch), []
        if self.kept:
            now, before = await together(self._tests(self.launch), self._at_base(self.launch_base))
        else:
            now = await self._tests(self.launch)
            before = await self._at_base(self.launch_base) if now.found.failures else None
        return now, [before] if before else []

    async def _sorted(self, now: _Tests, bases: list[_Tests]) -> Failures:
        """Sort the failures. If some are not at the base, run the candidate once more to find flaky tests."""
        first = sort_failures(now.found, [each.found for each in bases], self.red)
        if not first.counted or not bases or self.launch_base is None or not self.kept:
            return first
        try:
            again = await self._tests(self.launch)
        except NoVerdictError:
            return first
        second = sort_failures(now.found, [each.found for each in bases], self.red, again.found)
        if second.flaky and (more := await self._at_base(self.launch_base)):
            bases.append(more)
        return sort_failures(now.found, [each.found for each in bases], self.red, again.found)

    async def _at_base(self, launch: Launch) -> _Tests | None:
        """Return the base's tests, or None if they cannot be run. In that case, no tests can get lost."""
        try:
            return await self._tests(launch)
        except NoVerdictError:
            return None

    async def _tests(self, launch: Launch) -> _Tests:
        run = await launch()
        return _Tests(run, await asyncio.to_thread(read_tests, run, self.report))


def _lost(now: JUnit, base: JUnit) -> tuple[str, ...]:
    return (*lost_tests(now, base), *now.cut_short_since(base))


def read_tests(run: CommandRun, report: TestsReport) -> JUnit:
    """Return the tests in a run's report.

    Raises:
        NoVerdictError: the report cannot be read, or the run failed without running any test.
    """
    code = run.outcome.returncode
    try:
        found = _read(run, report)
    except ReportError as error:
        said = f" The end of its output: {excerpt(run.text)}" if run.text else ""
        raise NoVerdictError(
            f"produced no usable report: {error}.{said}", f"report, exit status {code}"
        ) from error
    if code != 0 and not found.cases:
        reason = f"ran no test and ended with exit status {code}: {excerpt(run.text)}"
        raise NoVerdictError(reason, f"no test, exit status {code}")
    return found


def _read(run: CommandRun, report: TestsReport) -> JUnit:
    if isinstance(report, JUnitReport):
        return read_junit(run.report, run.tree)
    if isinstance(report, JestReport):
        return read_jest(run.report, run.tree)
    if run.outcome.truncated:
        raise ReportError("the output is too long")
    if report.kind == "go-test":
        return read_go(run.outcome.stdout, run.sentinel)
    return read_libtest(run.outcome.stdout, run.tree, run.sentinel)
