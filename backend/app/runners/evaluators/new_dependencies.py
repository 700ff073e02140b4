"""Asks about the dependencies that a candidate declares and its base does not."""

from collections.abc import Sequence

from app.runners.evaluators.protocol import EvaluationResult, EvaluationStatus
from app.schemas.questions import QUESTIONS, Question, QuestionKind
from app.workspaces.environments.outcome import Ready

_MISSING_MODULE = "No module named"


def lacks_dependency(result: EvaluationResult, found: Ready) -> bool:
    """Return True if a candidate lacks a module, and declares dependencies that the base does not have."""
    return result.status is EvaluationStatus.FAILED and bool(found.missing) and _lacks_a_module(result)


def asking_about(added: Sequence[str], result: EvaluationResult) -> EvaluationResult:
    """Return a result that also asks about new dependencies, unless other findings count anyway.

    Args:
        added: the requirements, all that were installed: one may be a plug-in that changes what tests do.
        result: the result with them installed.
    """
    if not result.passed and not result.questions:
        return result
    listed = ", ".join(f"`{each}`" for each in added)
    what = "is a new dependency" if len(added) == 1 else "are new dependencies"
    question = Question.about(
        ", ".join(added),
        QuestionKind.ADDED,
        f"{listed} {what}: may the project need {'it' if len(added) == 1 else 'them'}?",
        why="Tests lack a module without what is new, and were judged with it.",
        after="\n".join(added),
    )
    asked = [*result.questions, question]
    return result.model_copy(
        update={
            "passed": False,
            "status": EvaluationStatus.FAILED,
            "feedback": f"A person is asked: {question.text}\n{result.feedback}",
            "metadata": {**result.metadata, QUESTIONS: [each.model_dump(mode="json") for each in asked]},
        }
    )


def _lacks_a_module(result: EvaluationResult) -> bool:
    texts = [result.feedback, *result.suggestions]
    texts += [text for each in result.criteria for text in (each.message, each.evidence or "")]
    return any(_MISSING_MODULE in text for text in texts)
