"""Suggests what to do about a test run that does not pass."""

import re

from app.runners.evaluators.testing.running.report import CollectProblem, PytestEnding, RanTest, RunReport
from app.runners.evaluators.testing.sorting.judged import JudgedRun

_SUGGESTIONS = 8
_LINE_CHARS = 400
_PLACE = re.compile(r"\A.+?:\d+: ")


def suggestions_for(judged: JudgedRun) -> list[str]:
    """Return what to do about everything that prevents a pass, beginning with problems of whole runs."""
    found = [text for run in judged.runs for text in _remedies(run)]
    found += about_ignored(judged)
    report = judged.report
    found += [about_problem(each) for each in report.errors]
    found += [about_failure(each) for each in report.failures]
    if not found and judged.ok == 0:
        found.append(
            "Let the tests run: remove the skip and xfail marks"
            if report.ids
            else "Add tests in files named test_*.py that exercise what the goal asks for"
        )
    found += [f"Restore the base's version of {each}" for each in judged.replaced]
    found += [f"Restore the test {each}" for each in judged.lost[:_SUGGESTIONS]]
    found += [
        f"Let {each} run as it does at base: remove what skips it" for each in judged.idle[:_SUGGESTIONS]
    ]
    return found[:_SUGGESTIONS]


def _remedies(run: RunReport) -> list[str]:
    """Return what to do about a run as a whole."""
    if run.ending is PytestEnding.TIMED_OUT:
        return [f"Find what blocks or loops{_where(run)}"]
    if run.ending is PytestEnding.TORN:
        return [f"Remove what ends or kills the process (os._exit, sys.exit, a crash){_where(run)}"]
    if run.ending is PytestEnding.BROKEN:
        return [f"Fix what pytest reports: {_short(run.text[-_LINE_CHARS:])}"]
    found: list[str] = []
    if run.unfinished:
        found.append(f"Remove what stops the run (pytest.exit, sys.exit){_where(run)}")
    if run.forged:
        found.append(f"Remove what changes how tests are run and reported: {'; '.join(run.forged[:3])}")
    return found


def about_failure(test: RanTest) -> str:
    """Return what to do about a failed test."""
    message = f"{test.line}: {_PLACE.sub('', test.message, count=1)}" if test.line else test.message
    return f"Fix {test.id}: {_short(message) or test.outcome.value}"


def about_ignored(judged: JudgedRun) -> list[str]:
    """Return what to know about missing modules whose files git ignores."""
    return [
        f"If you wrote {file}: it is not part of the change, because git ignores it (rule {rule})"
        for file, rule in judged.ignored.items()
    ]


def about_problem(problem: CollectProblem) -> str:
    """Return what to do about a test file that cannot be imported."""
    return f"Make {problem.id or 'the tests'} importable: {_last_error(problem.message)}"


def _last_error(message: str) -> str:
    """Return the line of a traceback with the error."""
    lines = [line.removeprefix("E").strip() for line in message.splitlines() if line.startswith("E ")]
    return _short(lines[-1] if lines else message)


def _where(report: RunReport) -> str:
    return f"; the test that was running: {report.unfinished[0]}" if report.unfinished else ""


def _short(text: str) -> str:
    return " ".join(text.split())[:_LINE_CHARS]
