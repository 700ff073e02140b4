"""Words the results of a command that ran with files of the base in place of the candidate's."""

from collections.abc import Sequence
from pathlib import Path

from app.runners.evaluators.commands.overlay import Overlay
from app.runners.evaluators.protection.questions import folded
from app.runners.evaluators.protocol import EvaluationResult
from app.schemas.questions import ASKED, MAX_QUESTIONS, QUESTIONS, Question, QuestionKind

_LISTED = 5


def with_overlay(result: EvaluationResult, overlay: Overlay) -> EvaluationResult:
    """Note which files were the base's, or were left out."""
    if not overlay:
        return result
    note = f"Taken from the base or left out: {_listing(overlay.names)}."
    return result.model_copy(
        update={
            "feedback": f"{result.feedback}\n{note}",
            "metadata": {**result.metadata, "laid_over": list(overlay.names[:50])},
        }
    )


def noted(result: EvaluationResult, changed: Sequence[str]) -> EvaluationResult:
    """Note that a pass depends on changed files."""
    note = f"The command passes only with the changed {_listing(changed)}."
    return result.model_copy(update={"feedback": f"{note}\n{result.feedback}"})


def asking(
    result: EvaluationResult, own: EvaluationResult, changed: Sequence[str], base: Path, tree: Path
) -> EvaluationResult:
    """Ask a person about the changed files without which the command fails.

    Args:
        result: result with the base's files.
        own: result with the candidate's files; its questions are asked, too.
        changed: the changed files.
        base: the base's tree.
        tree: the candidate's tree.
    """
    asked = [_question(result.evaluator_name, name, base, tree) for name in changed]
    asked += [Question.model_validate(each) for each in own.metadata.get(QUESTIONS, ())]
    asked = folded(asked)
    if len(asked) > MAX_QUESTIONS:
        return result
    lines = [f"{ASKED}{each.text}" for each in asked[:_LISTED]]
    return result.model_copy(
        update={
            "feedback": "\n".join([result.feedback, *lines]),
            "metadata": {**result.metadata, QUESTIONS: [each.model_dump(mode="json") for each in asked]},
        }
    )


def _question(command: str, name: str, base: Path, tree: Path) -> Question:
    before, after = _text(base / name), _text(tree / name)
    return Question.about(
        name,
        QuestionKind.DIFFERENT if after else QuestionKind.REMOVED,
        f"`{command}` passes only with the changed `{name}`: does the goal say so?",
        why="the command fails with the base's version of this file",
        before=before,
        after=after,
    )


def _listing(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _text(path: Path) -> str:
    try:
        return "" if path.is_symlink() else path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
