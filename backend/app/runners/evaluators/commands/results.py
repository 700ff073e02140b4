"""Words the verdicts of commands: what failed, the evidence, and what to do about it."""

from collections.abc import Sequence
from typing import Any

from app.runners.evaluators.commands.coverage import NewLines, ranges
from app.runners.evaluators.commands.junit import Case, JUnit
from app.runners.evaluators.commands.run import CommandRun, NoVerdictError
from app.runners.evaluators.protocol import CriterionResult, EvaluationResult, Evaluator
from app.runners.evaluators.tooling import excerpt

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


def junit_result(
    evaluator: Evaluator, run: CommandRun, report: JUnit, *, ended_well: bool, lost: Sequence[str]
) -> EvaluationResult:
    """Judge by a report of tests and the exit status: neither is a pass without the other."""
    code, ran, failures = run.outcome.returncode, report.ran, report.failures
    complaint = ""
    if failures:
        complaint = f"{len(failures)} of {ran} tests failed. Fix:\n{_listing(failures)}"
    elif not ended_well:
        complaint = (
            f"The report shows no failure, but the command ended with exit status {code}. "
            f"The end of its output:\n{excerpt(run.text) or '(nothing)'}"
        )
    elif not ran:
        complaint = "No test ran, so nothing speaks for the code. Write tests, and do not skip them."
    elif lost:
        names = "\n".join(f"- {name}" for name in lost[:_LISTED])
        complaint = f"{len(lost)} tests that run at the base commit do not run any more. Restore:\n{names}"
    to_do = [_suggestion(each) for each in failures[:_SUGGESTED]] or [
        f"Let {name} run again" for name in lost[:_SUGGESTED]
    ]
    return _result(
        evaluator,
        run,
        passed=not complaint,
        score=report.passed / ran if ran and (not complaint or failures) else 0.0,
        feedback=complaint or f"All {ran} tests passed{_skips(report)}",
        to_do=to_do or [complaint.partition("\n")[0]],
        passed_tests=report.passed,
        failed_tests=len(failures),
        skipped_tests=len(report.cases) - ran,
        lost_tests=list(lost[:_RECORDED]),
    )


def coverage_result(
    evaluator: Evaluator, run: CommandRun, added: Sequence[NewLines], minimum: float
) -> EvaluationResult:
    """Judge by the share of new lines that were executed; `minimum` in percent."""
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
    """Judge a run that says nothing, where the base's run does."""
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


def _listing(failures: Sequence[Case]) -> str:
    lines = [f"- {each.id}: {each.message or 'failed'}" for each in failures[:_LISTED]]
    if len(failures) > _LISTED:
        lines.append(f"- and {len(failures) - _LISTED} more")
    return "\n".join(lines)


def _suggestion(case: Case) -> str:
    return f"Fix {case.id}: {case.message or 'it failed'}"


def _skips(report: JUnit) -> str:
    count = len(report.cases) - report.ran
    return f" ({count} skipped)" if count else ""
