"""Words the result of a test run: what failed, and what a reader should know."""

import signal
from collections.abc import Sequence

from app.runners.evaluators.protocol import CriterionResult, EvaluationResult, EvaluatorIdentity
from app.runners.evaluators.testing.counter_tests.counter_report import CounterReport
from app.runners.evaluators.testing.pytest_outside.outside_report import OutsideReport, reasons
from app.runners.evaluators.testing.running.report import Outcome, PytestEnding, RunReport
from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.runners.evaluators.testing.sorting.left_out import notes_about
from app.runners.evaluators.testing.suggestions import (
    about_failure,
    about_ignored,
    about_problem,
    suggestions_for,
)
from app.schemas.modes import InProcessOnly
from app.schemas.questions import ASKED, QUESTIONS, Question, QuestionKind

_LISTED = 10
_EVIDENCE_CHARS = 2000
_NO_TESTS = 5


def result_of(evaluator: EvaluatorIdentity, judged: JudgedRun) -> EvaluationResult:
    """Return the result: passed if the runs are complete, something passed, and nothing prevents a pass."""
    criteria = [_criterion("tests_pass", _objections(judged), judged.score, _evidence(judged))]
    if judged.of_base is not None:
        criteria += [
            _criterion("base_tests_kept", _about(judged.lost, "lost"), 0.0, None),
            _criterion("no_new_skips", _about(judged.idle, "newly skipped or expected to fail"), 0.0, None),
        ]
    if judged.outside is not None and judged.outside.judged:
        criteria.append(_criterion("values_hold_outside", _about_outside(judged.outside), 0.0, None))
    if judged.counter is not None and judged.counter.judged and judged.counter.decides:
        criteria.append(_criterion("tests_notice", _about_counter(judged.counter), 0.0, None))
    alone = _alone(judged)
    if alone:
        criteria.append(_criterion("evidence_from_outside", [alone.text], 0.0, None))
    passed = all(each.passed for each in criteria)
    # No person may accept tests that fail away from the code.
    others = [each.passed for each in criteria[1:] if each.criterion != "evidence_from_outside"]
    questions = [*judged.questions, *_asked_alone(alone, judged)] if all(others) else []
    lines = [_headline(judged)] if passed else _feedback(judged, criteria[1:])
    return EvaluationResult(
        evaluator_name=evaluator.name,
        category=evaluator.category,
        passed=passed,
        score=judged.score,
        feedback="\n".join([*lines, *_notes(judged, are_asked=bool(questions))]),
        criteria=criteria,
        suggestions=suggestions_for(judged),
        metadata={**judged.metadata(), **_asked(questions)},
    )


def _alone(judged: JudgedRun) -> Question | None:
    """Return the question about a pass for which only the candidate's own process is evidence."""
    if judged.in_process is InProcessOnly.NOTE or not judged.in_process_only or not judged.all_well:
        return None
    return Question.about(
        "pytest",
        QuestionKind.DIFFERENT,
        "All tests pass, but none could be confirmed outside the code's own process. Is that enough?",
        why="; ".join(_reasons(judged)),
    )


def _asked_alone(alone: Question | None, judged: JudgedRun) -> list[Question]:
    return [alone] if alone is not None and judged.in_process is InProcessOnly.ASK else []


def _reasons(judged: JudgedRun) -> list[str]:
    if judged.outside is None:
        return ["the second process is switched off"]
    return [judged.outside.trouble] if judged.outside.trouble else list(reasons(judged.outside.uncarried))[:3]


def _asked(questions: Sequence[Question]) -> dict[str, object]:
    return {QUESTIONS: [each.model_dump(mode="json") for each in questions]} if questions else {}


def _objections(judged: JudgedRun) -> list[str]:
    """Return what prevents a pass."""
    found: list[str] = []
    for run in judged.runs:
        # If there are base tests, the candidate's own need not be evidence, but must not fail.
        extra = run is judged.own and judged.of_base is not None
        about = (
            [_trouble(run)]
            if run.ending is not PytestEnding.COMPLETE
            else _complaints(run, may_be_idle=extra)
        )
        name = "The added or changed tests: " if extra else ""
        found += [f"{name}{each}" for each in about]
    if judged.fewer:
        found.append(f"{_plural(len(judged.fewer), 'row')} of base tests no longer run")
    absent = {**judged.endless, **judged.left_out}
    doubted = [each for each in judged.doubted if each not in absent]
    if doubted:
        found.append(f"{_plural(len(doubted), 'failure')} may be the setting's fault")
    if waiting := [each for each in judged.doubted if each in judged.endless]:
        found.append(f"{_plural(len(waiting), 'test')} of the base never ended: {', '.join(waiting)}")
    if unrun := [each for each in judged.doubted if each in judged.left_out]:
        found.append(f"{_plural(len(unrun), 'test')} of the base did not run for lack of time")
    if judged.altered:
        found.append(f"The code changes what the tests use besides it: {', '.join(judged.altered[:5])}")
    found += judged.doubtful
    if judged.replaced:
        found.append(
            f"{_plural(len(judged.replaced), 'test')} of the base had its code replaced: "
            + ", ".join(judged.replaced[:5])
        )
    return found


def _about_outside(outside: OutsideReport) -> list[str]:
    if not outside.disagrees:
        return []
    listed = [f"{test}: {why}" for test, why in list(outside.disagrees.items())[:3]]
    return [
        f"{_plural(len(outside.disagrees), 'test')} passed only in the same process as the code: "
        f"{'; '.join(listed)}"
    ]


def _about_counter(counter: CounterReport) -> list[str]:
    if not counter.refuted:
        return []
    listed = [f"{test}: {why}" for test, why in list(counter.refuted.items())[:3]]
    return [
        f"{_plural(len(counter.refuted), 'test')} of the base cannot fail, because the code under test "
        f"controls the outcome: {'; '.join(listed)}"
    ]


def _complaints(run: RunReport, *, may_be_idle: bool) -> list[str]:
    """Return the objections to a run that finished."""
    found: list[str] = []
    if run.errors:
        found.append(f"{_plural(len(run.errors), 'test file')} cannot be imported")
    if run.failures:
        found.append(f"{len(run.failures)} of {_plural(len(run.ids), 'test')} failed")
    if run.unfinished:
        found.append(
            f"{len(run.unfinished)} of {_plural(len(run.ids), 'test')} did not finish; "
            "something stopped the run"
        )
    if not found and not may_be_idle:
        found += _silence(run)
    if not found and run.code not in ((0, _NO_TESTS) if may_be_idle else (0,)):
        found.append(f"pytest ended with status {run.code} although no test failed")
    if run.forged:
        found.append(f"The test results cannot be trusted: {'; '.join(run.forged[:3])}")
    elif not found and not run.canaries_ran:
        found.append("The run ended before its control tests; something stopped it")
    return found


def _silence(run: RunReport) -> list[str]:
    if not run.ids:
        return ["No tests were collected, so nothing shows that the code works"]
    if not any(each.ok for each in run.tests.values()):
        return [f"None of {_plural(len(run.ids), 'test')} ran: all are skipped or expected to fail"]
    return []


def _trouble(run: RunReport) -> str:
    ended = f"{len(run.tests)} of {_plural(len(run.ids), 'test')} ended before that"
    if run.ending is PytestEnding.TIMED_OUT:
        return f"The tests did not finish within {run.seconds:.0f} seconds; {ended}"
    if run.ending is PytestEnding.TORN:
        return f"The test process ended before pytest could report its result{_by_signal(run)}; {ended}"
    return "pytest could not run: a conftest.py cannot be loaded, or a plugin or fixture breaks it"


def _by_signal(run: RunReport) -> str:
    try:
        name = signal.Signals(run.signal).name if run.signal else ""
    except ValueError:
        name = f"signal {run.signal}"
    if name == "SIGKILL":
        return " (killed by SIGKILL, as when memory runs out)"
    return f" (ended by {name})" if name else ""


def _feedback(judged: JudgedRun, others: Sequence[CriterionResult]) -> list[str]:
    """Return what prevents a pass. The notes have the texts of questions."""
    asked = {each.text for each in judged.questions}
    objections = [each for each in _objections(judged) if each not in asked]
    lines = ["; ".join(objections)] if objections else []
    lines += [each.message for each in others if not each.passed]
    report = judged.report
    lines += [f"- {about_problem(each)}" for each in report.errors[:_LISTED]]
    lines += [f"- {about_failure(each)}{_known(each.id, judged)}" for each in report.failures[:_LISTED]]
    more = len(report.errors[_LISTED:]) + len(report.failures[_LISTED:])
    if more:
        lines.append(f"- and {more} more")
    lines += [f"- {each}" for each in about_ignored(judged)]
    return lines


def _known(name: str, judged: JudgedRun) -> str:
    second = judged.second
    found = ["flaky: it passed when run again"] if name in second.flaky else []
    found += ["flaky at base, too"] if name in second.flaky_at_base else []
    if name in second.at_base and name not in second.flaky_at_base:
        found.append(
            f"fails at base, too{': ' * (name in second.environment)}{second.environment.get(name, '')}"
        )
    return f" ({'; '.join(found)})" if found else ""


def _notes(judged: JudgedRun, *, are_asked: bool) -> list[str]:
    """Return what a reader should know about the runs, whether they passed or not.

    Args:
        are_asked: whether nothing but the questions prevents a pass.
    """
    found: list[str] = []
    if judged.self_written_only:
        found.append("The base has no tests: only the agent's own tests support this result.")
    if judged.known:
        listed = [f"{name} ({why})" for name, why in list(judged.known.items())[:_LISTED]]
        more = f" and {len(judged.known) - _LISTED} more" if len(judged.known) > _LISTED else ""
        count = _plural(len(judged.known), "failing test")
        found.append(f"{count} of the base did not count: {'; '.join(listed)}{more}")
    found += notes_about(judged.left_out)
    asked = ASKED if are_asked else "If that is mended, a person is asked: "
    found += [f"{asked}{each.text}" for each in judged.questions[:_LISTED]]
    if judged.laid_over:
        names = ", ".join(judged.laid_over[:5]) + (" and more" if len(judged.laid_over) > 5 else "")
        found.append(f"The base's version of these was used for its tests: {names}")
    if judged.counter is not None:
        found += _about_proof(judged.counter)
    if judged.unrun and not any(each.startswith(judged.unrun.sentence) for each in judged.doubtful):
        found.append(f"{judged.unrun.sentence}.")
    return found


def _about_proof(counter: CounterReport) -> list[str]:
    """Return how much the base's tests prove, as sentences."""
    if counter.trouble:
        return [counter.trouble]
    count = len(counter.proven) + len(counter.refuted) + len(counter.unproven)
    if not count:
        return []
    total = _plural(count, "base test")
    told = [] if counter.decides else _about_counter(counter)
    return [
        f"Proven: {len(counter.proven)} of {total}, by changed expectations, with which a test must fail.",
        *told,
    ]


def _headline(judged: JudgedRun) -> str:
    counts = judged.report.count()
    idle = counts[Outcome.SKIPPED] + counts[Outcome.XFAILED]
    counted = f"{_plural(judged.ok, 'test')} passed" + (f", {idle} skipped" if idle else "")
    counted += f", {len(judged.left_out)} left out for lack of time" if judged.left_out else ""
    if judged.in_process_only:
        return f"{counted}; all evidence comes from the code's own process"
    if judged.outside is None or not judged.outside.agrees:
        return counted
    whole = len(judged.outside.agrees) + len(judged.outside.uncarried)
    agreed = f"{len(judged.outside.agrees)} of {_plural(whole, 'base test')}"
    return f"{counted}; {agreed} also without the code in the test's process"


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


def _evidence(judged: JudgedRun) -> str | None:
    return judged.report.text[-_EVIDENCE_CHARS:] or None


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
