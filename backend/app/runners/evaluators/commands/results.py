"""Words the verdicts of commands: what failed, the evidence, and what to do about it."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from app.runners.evaluators.added_lines import ranges
from app.runners.evaluators.commands.coverage import NewLines
from app.runners.evaluators.commands.junit import Case, JUnit
from app.runners.evaluators.commands.red_at_base import Failures
from app.runners.evaluators.commands.run import CommandRun
from app.runners.evaluators.commands.taking import NoVerdictError
from app.runners.evaluators.protocol import CriterionResult, EvaluationResult, Evaluator
from app.runners.evaluators.tooling import excerpt
from app.schemas.questions import ASKED, MAX_QUESTIONS, QUESTIONS

_LISTED = 15
_SUGGESTED = 5
_RECORDED = 100
_EVIDENCE_CHARS = 4000


def plain_result(evaluator: Evaluator, run: CommandRun, *, passed: bool) -> EvaluationResult:
    """Judge by the exit status alone."""
    code = run.outcome.returncode
    said = excerpt(run.text)
    feedback = (
        f"The command passed (exit status {code})"
        if passed
        else f"The command failed with exit status {code}. The end of its output:\n{said or '(nothing)'}"
    )
    suggestion = f"Make {evaluator.name} pass: it ended with exit status {code}"
    return _result(evaluator, run, passed=passed, score=float(passed), feedback=feedback, to_do=[suggestion])


@dataclass(frozen=True, slots=True)
class TestsJudged:
    """The tests of one evaluation.

    Attributes:
        report: the candidate's tests.
        failures: the failing tests, sorted by their effect.
        ended_well: whether the exit status indicates a pass.
        lost: ids of tests that ran at the base and not here.
    """

    __test__ = False

    report: JUnit
    failures: Failures
    ended_well: bool
    lost: tuple[str, ...] = ()


def tests_result(evaluator: Evaluator, run: CommandRun, judged: TestsJudged) -> EvaluationResult:
    """Judge by a test report and the exit status. A pass needs both."""
    report, failures, ran = judged.report, judged.failures.counted, judged.report.ran
    complaint = _complaint(run, judged)
    to_do = [_suggestion(each) for each in failures[:_SUGGESTED]] or [
        f"Let {name} run again" for name in judged.lost[:_SUGGESTED]
    ]
    questions = () if complaint else judged.failures.questions[:MAX_QUESTIONS]
    feedback = complaint or f"All {ran} tests passed{_skips(report)}{_excused(judged.failures)}"
    asked = [f"{ASKED}{each.text}" for each in questions[:_LISTED]]
    extra = {QUESTIONS: [each.model_dump(mode="json") for each in questions]} if questions else {}
    return _result(
        evaluator,
        run,
        passed=not complaint and not questions,
        score=report.passed / ran if ran and (not complaint or failures) else 0.0,
        feedback="\n".join([feedback, *asked]),
        to_do=to_do or [(complaint or "Say whether the red tests belong to the goal").partition("\n")[0]],
        passed_tests=report.passed,
        failed_tests=len(report.failures),
        skipped_tests=len(report.cases) - ran,
        lost_tests=list(judged.lost[:_RECORDED]),
        flaky_tests=sorted(judged.failures.flaky)[:_RECORDED],
        **extra,
    )


def _complaint(run: CommandRun, judged: TestsJudged) -> str:
    """Return why the tests do not pass, or an empty text."""
    code, ran, failures = run.outcome.returncode, judged.report.ran, judged.failures.counted
    if failures:
        return f"{len(failures)} of {ran} tests failed. Fix:\n{_listing(failures, judged.failures.flaky)}"
    if not judged.ended_well:
        return (
            f"The report shows no failure, but the command ended with exit status {code}. "
            f"The end of its output:\n{excerpt(run.text) or '(nothing)'}"
        )
    if not ran:
        return "No test ran, so nothing shows that the code works. Write tests, and do not skip them."
    if judged.lost:
        names = "\n".join(f"- {name}" for name in judged.lost[:_LISTED])
        return f"{len(judged.lost)} tests that run at the base commit no longer run. Restore:\n{names}"
    return ""


def _excused(failures: Failures) -> str:
    parts = [f"{len(failures.red)} fail as at the base"] if failures.red else []
    parts += [f"{len(failures.flaky_at_base)} are flaky at the base"] if failures.flaky_at_base else []
    return f", except that {' and '.join(parts)}" if parts else ""


def coverage_result(
    evaluator: Evaluator, run: CommandRun, added: Sequence[NewLines], minimum: float
) -> EvaluationResult:
    """Judge by the share of new lines that were executed. `minimum` is in percent."""
    executed = sum(len(each.executed) for each in added)
    total = executed + sum(len(each.missed) for each in added)
    percent = 100 * executed / total
    passed = percent >= minimum
    feedback = (
        f"{executed} of {total} new lines were executed ({percent:.0f} %, at least {minimum:g} % wanted)"
    )
    missed = [f"{each.file}: {ranges(each.missed)}" for each in added if each.missed]
    if not passed:
        feedback += ". Test these lines:\n" + "\n".join(f"- {each}" for each in missed[:_LISTED])
    return _result(
        evaluator,
        run,
        passed=passed,
        score=executed / total,
        feedback=feedback,
        to_do=[f"Add tests that execute {each}" for each in missed[:_SUGGESTED]],
        percent=round(percent, 1),
        missed=missed[:_RECORDED],
    )


def broken_result(evaluator: Evaluator, trouble: NoVerdictError) -> EvaluationResult:
    """Judge a run without evidence, if the base's run has some."""
    feedback = f"The command {trouble}. At the base commit it works, so the change broke it."
    return EvaluationResult(
        evaluator_name=evaluator.name,
        category=evaluator.category,
        passed=False,
        feedback=feedback,
        criteria=[CriterionResult(criterion="command_works", passed=False, message=feedback)],
        suggestions=[f"Make the command of {evaluator.name} work again: it {str(trouble)[:300]}"],
        metadata={"reason": trouble.kind},
    )


def _result(
    evaluator: Evaluator,
    run: CommandRun,
    *,
    passed: bool,
    score: float,
    feedback: str,
    to_do: list[str],
    **metadata: Any,
) -> EvaluationResult:
    return EvaluationResult(
        evaluator_name=evaluator.name,
        category=evaluator.category,
        passed=passed,
        score=score,
        feedback=feedback,
        criteria=[
            CriterionResult(
                criterion="command_passes",
                passed=passed,
                score=score,
                message=feedback.partition("\n")[0],
                evidence=excerpt(run.text, _EVIDENCE_CHARS) or None,
            )
        ],
        suggestions=[] if passed else to_do,
        metadata={
            "exit_code": run.outcome.returncode,
            "seconds": round(run.outcome.seconds, 3),
            "output_cut": run.outcome.truncated,
            **metadata,
        },
    )


def _listing(failures: Sequence[Case], flaky: AbstractSet[str]) -> str:
    told = {True: " (flaky: it passed when it ran again)", False: ""}
    lines = [
        f"- {each.id}: {each.message or 'failed'}{told[each.id in flaky]}" for each in failures[:_LISTED]
    ]
    if len(failures) > _LISTED:
        lines.append(f"- and {len(failures) - _LISTED} more")
    return "\n".join(lines)


def _suggestion(case: Case) -> str:
    return f"Fix {case.id}: {case.message or 'it failed'}"


def _skips(report: JUnit) -> str:
    count = len(report.cases) - report.ran
    return f" ({count} skipped)" if count else ""
