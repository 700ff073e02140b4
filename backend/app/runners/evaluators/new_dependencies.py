"""Asks about the dependencies that a candidate declares and its base does not, or in other releases."""

from collections.abc import Sequence

from app.runners.evaluators.protocol import EvaluationResult, EvaluationStatus
from app.schemas.questions import ASKED, QUESTIONS, Question, QuestionKind
from app.workspaces.environments.outcome import Ready

_MISSING_MODULE = "No module named"
_LISTED = 5


def lacks_dependency(result: EvaluationResult, found: Ready) -> bool:
    """Return True if a candidate lacks a module, and declares dependencies that the base does not have."""
    return result.status is EvaluationStatus.FAILED and bool(found.missing) and _lacks_a_module(result)


def needs_other_releases(result: EvaluationResult, found: Ready) -> bool:
    """Return True if a candidate fails with the base's releases, and asks for others."""
    return result.status is EvaluationStatus.FAILED and bool(found.differing) and not result.questions


def asking_about(found: Ready, result: EvaluationResult) -> EvaluationResult:
    """Return a result that also asks about what the candidate declares, unless other findings count anyway.

    Args:
        found: the environment with the candidate's own dependencies. All that were installed are named: one
            may be a plug-in that changes what tests do.
        result: the result with them installed.
    """
    if not result.passed and not result.questions:
        return result
    questions = [*_about_new(found.added), *_about_releases(found.changed)]
    every = [*result.questions, *questions]
    told = "\n".join(f"{ASKED}{each.text}" for each in questions)
    return result.model_copy(
        update={
            "passed": False,
            "status": EvaluationStatus.FAILED,
            "feedback": f"{told}\n{result.feedback}",
            "metadata": {**result.metadata, QUESTIONS: [each.model_dump(mode="json") for each in every]},
        }
    )


def listed(requirements: Sequence[str]) -> str:
    """Return the first requirements as a text, and how many more there are."""
    shown = ", ".join(f"`{each}`" for each in requirements[:_LISTED])
    more = len(requirements) - _LISTED
    return f"{shown} and {more} more" if more > 0 else shown


def _about_new(added: Sequence[str]) -> list[Question]:
    if not added:
        return []
    one = len(added) == 1
    text = (
        f"{listed(added)} {'is a new dependency' if one else 'are new dependencies'}: may the project need "
        f"{'it' if one else 'them'}?"
    )
    why = "Tests lack a module without what is new, and were judged with it."
    return [Question.about(", ".join(added), QuestionKind.ADDED, text, why=why, after="\n".join(added))]


def _about_releases(changed: Sequence[str]) -> list[Question]:
    if not changed:
        return []
    text = f"The change asks for other releases than the base: {listed(changed)}: may it?"
    why = "It fails with the base's releases, and was judged with its own."
    name = ", ".join(changed[:_LISTED])
    return [Question.about(name, QuestionKind.DIFFERENT, text, why=why, after="\n".join(changed))]


def _lacks_a_module(result: EvaluationResult) -> bool:
    texts = [result.feedback, *result.suggestions]
    texts += [text for each in result.criteria for text in (each.message, each.evidence or "")]
    return any(_MISSING_MODULE in text for text in texts)
