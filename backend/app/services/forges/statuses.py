"""Writes a commit's status: how many gates passed it, and the findings of gates and advisers at its lines."""

from collections.abc import Iterator

from app.forges.descriptions import ReportFacts
from app.forges.port import Annotation, CommitStatus
from app.runners.evaluators.protocol import EvaluationResult
from app.schemas.api.attempts import AttemptView, EvaluationView
from app.services.local.findings import findings_in


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
    return CommitStatus(state="success", description=said, url=facts.link, annotations=annotations)


def _annotations(attempt: AttemptView) -> Iterator[Annotation]:
    for view in attempt.evaluations:
        for found in findings_in(_result(view), gate=view.gate):
            if found.path is not None and found.line is not None:
                yield Annotation(
                    found.path,
                    found.line,
                    f"{found.evaluator}: {found.rule}",
                    found.message,
                    blocks=found.level == "error",
                )


def _result(view: EvaluationView) -> EvaluationResult:
    shown = view.model_dump()
    return EvaluationResult.model_validate(
        {**shown, "evaluator_name": view.evaluator, "evaluator_version": view.version}
    )
