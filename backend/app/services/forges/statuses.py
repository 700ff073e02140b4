"""Writes a commit's status: how many gates passed it, and the findings of gates and advisers at its lines."""

from collections.abc import Iterator, Mapping

from app.forges.descriptions import ReportFacts
from app.forges.port import Annotation, CommitStatus, StatusState
from app.forges.reviews import PushVerdict
from app.runners.evaluators.protocol import EvaluationResult
from app.schemas.api.attempts import AttemptView, EvaluationView
from app.schemas.forges import PushStatus
from app.services.local.findings import findings_in
from app.services.review.rechecks import Judged

_OF_PUSH: Mapping[PushStatus, tuple[StatusState, str]] = {
    "passed": ("success", "The gates passed what was pushed"),
    "failed": ("failure", "The gates have not passed what was pushed"),
    "conflicts": ("failure", "What was pushed is not judged: it conflicts with its target"),
    "errored": ("error", "No verdict on what was pushed; a person has to decide"),
    "asks": ("error", "What was pushed raises a question; a person has to decide"),
}


def status_of(facts: ReportFacts, *, final: bool) -> CommitStatus:
    """Return the status of a run's result; `final` tells that its gates passed it."""
    newest = facts.run.attempts[-1:]
    annotations = tuple(each for attempt in newest for each in _annotations(attempt))
    if not final:
        errored = [
            each.evaluator
            for attempt in newest
            for each in attempt.evaluations
            if each.gate and each.status == "errored"
        ]
        if errored:
            said = f"No verdict of {', '.join(errored)}; a person has to decide"
            return CommitStatus(state="error", description=said, url=facts.link, annotations=annotations)
        said = "The gates have not passed it"
        return CommitStatus(state="failure", description=said, url=facts.link, annotations=annotations)
    gates = {
        each.evaluator
        for attempt in facts.run.attempts
        for each in attempt.evaluations
        if each.gate and each.passed
    }
    said = f"{len(gates)} gates passed it"
    if facts.run.accepted_by:
        said += f"; {', '.join(facts.run.accepted_by)} accepted the rest"
    return CommitStatus(state="success", description=said, url=facts.link, annotations=annotations)


def status_of_push(verdict: PushVerdict, judged: Judged | None, link: str | None) -> CommitStatus:
    """Return the status of a head that people pushed; `judged` is None if it conflicts."""
    state, said = _OF_PUSH[verdict.status]
    annotations = [
        each
        for result in (judged.results if judged else ())
        for each in _of_result(result, gate=judged is not None and result.evaluator_name in judged.gates)
    ]
    return CommitStatus(state=state, description=said, url=link, annotations=annotations)


def _annotations(attempt: AttemptView) -> Iterator[Annotation]:
    for view in attempt.evaluations:
        yield from _of_result(_result(view), gate=view.gate)


def _of_result(result: EvaluationResult, *, gate: bool) -> Iterator[Annotation]:
    for found in findings_in(result, gate=gate):
        if found.path is not None and found.line is not None:
            title = f"{found.evaluator}: {found.rule}"
            yield Annotation(found.path, found.line, title, found.message, blocks=found.level == "error")


def _result(view: EvaluationView) -> EvaluationResult:
    shown = view.model_dump()
    return EvaluationResult.model_validate(
        {**shown, "evaluator_name": view.evaluator, "evaluator_version": view.version}
    )
