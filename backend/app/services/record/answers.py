"""Stores attempts at answers in rows, and reads them back."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from app.agents.port import AgentUsage
from app.db.models import Attempt, Run
from app.runners.answer.steps import AnswerAttempt, outcome_of
from app.runners.answer.synthesizer import Synthesis
from app.runners.evaluators.response_evaluator import ResponseJudgement
from app.schemas.api.answers import AnswerResult
from app.schemas.response_evaluation import Analysis, EvaluatorOutput
from app.schemas.runs import AttemptClosing, AttemptState
from app.schemas.text import storable_json, storable_text


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """The question of an answer; `rules` are all the rules that the answer must keep."""

    query: str
    entries: tuple[str, ...]
    domains: tuple[str, ...]
    rules: tuple[str, ...]


def question_document(question: AnswerQuestion) -> dict[str, Any]:
    """Return an answer's question as it is stored; `question_of` reads it back."""
    return storable_json(asdict(question))


def question_of(run: Run) -> AnswerQuestion:
    """Return the question of an answer."""
    kept = run.definition or {}
    lists = {name: tuple(kept[name]) for name in ("entries", "domains", "rules")}
    return AnswerQuestion(query=kept["query"], **lists)


def keep_attempt(row: Attempt, attempt: AnswerAttempt, given: int) -> None:
    """Write the state of an attempt into its row; the first `given` entries belong to the question."""
    synthesis, judged = attempt.synthesis, attempt.judged
    row.output = synthesis.answer or ""
    row.status = attempt.state
    row.closing = AttemptClosing.ERROR if attempt.trouble else None
    row.last_error = storable_text(attempt.trouble)
    row.usage = attempt.usage.model_dump(mode="json")
    row.details = storable_json(
        {
            "has_answer": synthesis.answer is not None,
            "found": list(attempt.entries[given:]),
            "analysis": synthesis.analysis.model_dump(mode="json"),
            "synthesis": _asked(synthesis),
            "judged": None
            if judged is None
            else {
                **_asked(judged),
                "output": judged.output.model_dump(mode="json") if judged.output else None,
            },
        }
    )


def attempt_of(row: Attempt, entries: Sequence[str]) -> AnswerAttempt:
    """Return the stored attempt, which has no text if it only started; `entries` are the question's."""
    kept = row.details or {}
    judged = kept.get("judged")
    synthesis: dict[str, Any] = kept.get("synthesis") or {}
    return AnswerAttempt(
        number=row.number,
        entries=(*entries, *kept.get("found", ())),
        synthesis=Synthesis(
            answer=row.output if kept.get("has_answer") else None,
            analysis=Analysis.model_validate(kept.get("analysis") or {}),
            **_told(synthesis),
        ),
        judged=ResponseJudgement(output=_output(judged), **_told(judged)) if judged else None,
    )


def result_of(
    rows: Sequence[Attempt], attempts: Sequence[AnswerAttempt], *, accepted: bool
) -> AnswerResult | None:
    """Return the result of an answer if no further attempt follows; None if no attempt is over.

    With `accepted`, a text that was never judged is a result, too: a person can accept it if its evaluator
    is unavailable or a budget is spent.
    """
    states = {AttemptState.PASSED, AttemptState.FAILED}
    if accepted:
        states |= {AttemptState.PRODUCED, AttemptState.EVALUATING}
    over = [attempt for row, attempt in zip(rows, attempts, strict=True) if row.status in states]
    if not over:
        return None
    outcome = outcome_of(over)
    return AnswerResult(
        status=outcome.status.value,
        answer=outcome.answer,
        gaps=list(outcome.gaps),
        withheld=outcome.withheld,
        reason=outcome.reason,
    )


def _asked(what: Synthesis | ResponseJudgement) -> dict[str, Any]:
    return {"model": what.model, "reasons": list(what.reasons), "usage": asdict(what.usage)}


def _told(kept: dict[str, Any]) -> dict[str, Any]:
    usage = AgentUsage(**kept["usage"]) if kept.get("usage") else AgentUsage()
    return {"model": kept.get("model", ""), "reasons": tuple(kept.get("reasons", ())), "usage": usage}


def _output(judged: dict[str, Any]) -> EvaluatorOutput | None:
    output = judged.get("output")
    return None if output is None else EvaluatorOutput.model_validate(output)
