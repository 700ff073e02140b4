"""Puts a test run into the words of an evaluation: what failed, and what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.runners.evaluators.protocol import CriterionResult, EvaluationResult, Evaluator
from app.runners.evaluators.pytest_report import CollectProblem, Ending, Outcome, RanTest, RunReport

_SUGGESTIONS = 8
_LISTED = 10
_LINE_CHARS = 400
_EVIDENCE_CHARS = 2000


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run, and what comparing it with the base's tests has shown.

    Attributes:
        report: the candidate's run.
        lost: ids of base tests that the candidate does not run any more.
        idle: ids of base tests that ran there and are skipped here.
        compared: whether there was a base to compare with.
        workspace: the tree, whose path is cut from messages.
    """

    report: RunReport
    lost: Sequence[str]
    idle: Sequence[str]
    compared: bool
    workspace: Path

    @property
    def ok(self) -> int:
        """Number of tests that passed, without those whose skip is under objection."""
        return sum(each.ok for each in self.report.tests.values())

    @property
    def total(self) -> int:
        """Number of tests and files that had to be all right."""
        bad = len(self.report.failures) + len(self.report.errors) + len(self.report.unfinished)
        return self.ok + bad + len(self.lost) + len(self.idle)

    @property
    def score(self) -> float:
        """Passed of total, 0.0 when there was nothing."""
        return self.ok / self.total if self.total else 0.0


def result_of(evaluator: Evaluator, verdict: JudgedRun) -> EvaluationResult:
    """Give the result: passed when the run is complete, something passed, and nothing speaks against it."""
    report = verdict.report
    objections = _objections(report) if report.ending is Ending.COMPLETE else [_trouble(report)]
    criteria = [_criterion("tests_pass", objections, verdict.score, _evidence(verdict))]
    if verdict.compared:
        criteria += [
            _criterion("base_tests_kept", _about(verdict.lost, "lost"), 0.0, None),
            _criterion("no_new_skips", _about(verdict.idle, "newly skipped or expected to fail"), 0.0, None),
        ]
    passed = all(each.passed for each in criteria)
    counts = report.count()
    return EvaluationResult(
        evaluator_name=evaluator.name,
        category=evaluator.category,
        passed=passed,
        score=verdict.score,
        feedback=_headline(verdict) if passed else _feedback(verdict, criteria),
        criteria=criteria,
        suggestions=_suggestions(verdict),
        metadata={
            "passed_tests": verdict.ok,
            "failed_tests": len(report.failures),
            "total_tests": len(report.ids),
            "skipped_tests": counts[Outcome.SKIPPED] + counts[Outcome.XFAILED],
            "collection_errors": len(report.errors),
            "failing": [each.id for each in report.failures[:50]],
            "lost_tests": list(verdict.lost[:50]),
            "newly_skipped": list(verdict.idle[:50]),
            "compared_with_base": verdict.compared,
            "ending": report.ending.value,
            "exit_code": report.code,
            "seconds": round(report.seconds, 3),
            "tool": "pytest",
        },
    )


def _objections(report: RunReport) -> list[str]:
    """What in a complete run speaks against a pass."""
    found: list[str] = []
    if report.errors:
        found.append(f"{_plural(len(report.errors), 'test file')} cannot be imported")
    if report.failures:
        found.append(f"{len(report.failures)} of {_plural(len(report.ids), 'test')} failed")
    if report.unfinished:
        found.append(
            f"{len(report.unfinished)} of {_plural(len(report.ids), 'test')} never came to an end; "
            "something stopped the run"
        )
    if not found and not report.ids:
        found.append("No tests were collected, so nothing shows that the code works")
    elif not found and not any(each.ok for each in report.tests.values()):
        found.append(f"None of {_plural(len(report.ids), 'test')} ran: all are skipped or expected to fail")
    if not found and report.code != 0:
        found.append(f"pytest ended with status {report.code} although no test failed")
    return found


def _trouble(report: RunReport) -> str:
    ended = f"{len(report.tests)} of {_plural(len(report.ids), 'test')} ended before that"
    if report.ending is Ending.TIMED_OUT:
        return f"The tests did not finish within {report.seconds:.0f} seconds; {ended}"
    if report.ending is Ending.TORN:
        return f"The test process ended before pytest could report its result; {ended}"
    return "pytest could not work: a conftest.py cannot be loaded, or a plugin or fixture breaks it"


def _suggestions(verdict: JudgedRun) -> list[str]:
    report = verdict.report
    found = [_about_problem(each, verdict.workspace) for each in report.errors]
    found += [_about_failure(each, verdict.workspace) for each in report.failures]
    if report.ending is Ending.TIMED_OUT:
        found.insert(0, f"Find what blocks or loops{_where(report)}")
    elif report.ending is Ending.TORN:
        found.insert(
            0, f"Remove what ends or kills the process (os._exit, sys.exit, a crash){_where(report)}"
        )
    elif report.ending is Ending.BROKEN:
        found.insert(0, f"Mend what pytest reports: {_short(report.text[-_LINE_CHARS:], verdict.workspace)}")
    elif report.unfinished:
        found.append(f"Remove what stops the run (pytest.exit, sys.exit){_where(report)}")
    elif not report.ids and not report.errors:
        found.append("Add tests in files named test_*.py that exercise what the goal asks for")
    elif not verdict.ok and not found:
        found.append("Let the tests run: remove the skip and xfail marks")
    found += [f"Restore the test {each}" for each in verdict.lost[:_SUGGESTIONS]]
    found += [
        f"Let {each} run as it does at base: remove what skips it" for each in verdict.idle[:_SUGGESTIONS]
    ]
    return found[:_SUGGESTIONS]


def _feedback(verdict: JudgedRun, criteria: Sequence[CriterionResult]) -> str:
    lines = [each.message for each in criteria if not each.passed]
    report = verdict.report
    lines += [f"- {_about_problem(each, verdict.workspace)}" for each in report.errors[:_LISTED]]
    lines += [f"- {_about_failure(each, verdict.workspace)}" for each in report.failures[:_LISTED]]
    more = len(report.errors[_LISTED:]) + len(report.failures[_LISTED:])
    if more:
        lines.append(f"- and {more} more")
    return "\n".join(lines)


def _headline(verdict: JudgedRun) -> str:
    counts = verdict.report.count()
    idle = counts[Outcome.SKIPPED] + counts[Outcome.XFAILED]
    return f"{_plural(verdict.ok, 'test')} passed" + (f", {idle} skipped" if idle else "")


def _criterion(name: str, objections: Sequence[str], score: float, evidence: str | None) -> CriterionResult:
    return CriterionResult(
        criterion=name,
        passed=not objections,
        score=score if objections else 1.0,
        message="; ".join(objections),
        evidence=evidence,
    )


def _about(ids: Sequence[str], what: str) -> list[str]:
    if not ids:
        return []
    more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    return [f"{_plural(len(ids), 'test')} of the base {what}: {', '.join(ids[:5])}{more}"]


def _about_failure(test: RanTest, workspace: Path) -> str:
    return f"Fix {test.id}: {_short(test.message, workspace) or test.outcome.value}"


def _about_problem(problem: CollectProblem, workspace: Path) -> str:
    return f"Make {problem.id or 'the tests'} importable: {_last_error(problem.message, workspace)}"


def _last_error(message: str, workspace: Path) -> str:
    """Give the line of a traceback that names the error."""
    lines = [line.removeprefix("E").strip() for line in message.splitlines() if line.startswith("E ")]
    return _short(lines[-1] if lines else message, workspace)


def _where(report: RunReport) -> str:
    return f"; the test that was running: {report.unfinished[0]}" if report.unfinished else ""


def _evidence(verdict: JudgedRun) -> str | None:
    return _plain(verdict.report.text, verdict.workspace)[-_EVIDENCE_CHARS:] or None


def _short(text: str, workspace: Path) -> str:
    return " ".join(_plain(text, workspace).split())[:_LINE_CHARS]


def _plain(text: str, workspace: Path) -> str:
    return text.replace(f"{workspace}/", "")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
