"""Words the results of held-out tests: for the agent as much as the policy allows, for reviewers all."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import cast

from app.runners.evaluators.issues import HIDDEN_FINDING, issue_key
from app.runners.evaluators.protocol import FOR_REVIEWERS, CriterionResult, EvaluationResult, EvaluationStatus
from app.runners.evaluators.testing.layout.inventory import function_of
from app.schemas.runs import HeldOutFeedback

_NAMED = 10
_WORD = re.compile(r"\w+")
_FAILING = ("unreadable", "failing", "lost_tests", "newly_skipped")
_COUNTS = (
    *("passed_tests", "failed_tests", "total_tests", "collection_errors"),
    *("sandbox", "ending", "seconds", "tool", "reason"),
)
_FAILED = (
    "Held-out tests fail: tests that you cannot see and that the goal asks for. "
    "Make the code right for all inputs, not only for those of the tests that you see."
)
_NO_VERDICT = "The held-out tests reached no verdict."


def for_agents(
    result: EvaluationResult, told: HeldOutFeedback, sources: Mapping[str, str]
) -> EvaluationResult:
    """Return a result that reveals no more than an agent may know. The rest is kept for reviewers.

    Args:
        result: the full result of the tests.
        told: how much the agent learns of a failure.
        sources: the test files by path; only names that occur in them are passed on.
    """
    if told is HeldOutFeedback.MESSAGES or result.status is EvaluationStatus.SKIPPED:
        return result
    names = failing_names(result, sources) if told is HeldOutFeedback.NAMES else []
    counts = {name: result.metadata[name] for name in _COUNTS if name in result.metadata}
    words = _words(result, names)
    return result.model_copy(
        update={
            "feedback": words,
            "criteria": [_criterion(each, words) for each in result.criteria],
            "suggestions": [f"Make the held-out test {name} pass" for name in names],
            "metadata": {
                **counts,
                FOR_REVIEWERS: _everything(result),
                **({HIDDEN_FINDING: _digest(result)} if not result.passed else {}),
            },
        }
    )


def failing_names(result: EvaluationResult, sources: Mapping[str, str]) -> list[str]:
    """Return the names of failing tests, without their parameters, which may hold expected values.

    The candidate's code runs beside the tests and could report a test with any name. So only names are passed
    on whose file and words occur in the held-out tests.
    """
    found = [name for key in _FAILING for name in cast("list[str]", result.metadata.get(key, []))]
    names = dict.fromkeys(function_of(each) for each in found)
    return [each for each in names if _is_written(each, sources)][:_NAMED]


def _is_written(name: str, sources: Mapping[str, str]) -> bool:
    path, *parts = name.split("::")
    source = sources.get(path)
    return source is not None and set(parts) <= set(_WORD.findall(source))


def _words(result: EvaluationResult, names: Iterable[str]) -> str:
    if result.passed:
        return result.feedback.partition("\n")[0]
    if result.status is EvaluationStatus.ERRORED:
        reason = str(result.metadata.get("reason", "")).replace("_", " ")
        return f"{_NO_VERDICT[:-1]}: {reason}" if reason else _NO_VERDICT
    return "\n".join([_FAILED, *(f"- {name}" for name in names)])


def _criterion(criterion: CriterionResult, words: str) -> CriterionResult:
    message = "" if criterion.passed else words.partition("\n")[0]
    return criterion.model_copy(update={"message": message, "evidence": None})


def _everything(result: EvaluationResult) -> dict[str, object]:
    return {
        "feedback": result.feedback,
        "suggestions": list(result.suggestions),
        "evidence": "\n".join(each.evidence for each in result.criteria if each.evidence),
        "failing": [name for key in _FAILING for name in result.metadata.get(key, [])],
    }


def _digest(result: EvaluationResult) -> str:
    """Return a digest that distinguishes failures with equal words, so that an acceptance covers only one."""
    parts = [issue_key(each) for each in (result.feedback, *result.suggestions)]
    return hashlib.sha256("\x1e".join(parts).encode()).hexdigest()
