"""Builds the prompt of an attempt at a phase from the memory of earlier attempts."""

from collections.abc import Sequence

from app.runners.evaluators.acceptance import is_signed
from app.runners.evaluators.feedback_memory import FeedbackMemory
from app.runners.evaluators.protocol import EvaluationResult, EvaluationStatus
from app.runners.prompts.sprint import base_prompt, optimized_prompt

MAX_SUGGESTIONS = 10
"""Maximum number of suggestions of one evaluator in a prompt."""


def prompt_for(memory: FeedbackMemory) -> str:
    """Return the prompt of the next attempt: the base prompt, or a retry prompt that says what failed.

    Raises:
        ValueError: the memory's phase has no prompt.
    """
    if not memory.attempts and not memory.guidance:
        return _task(memory)
    return retry_prompt(memory)


def retry_prompt(memory: FeedbackMemory) -> str:
    """Return the prompt of a retry."""
    last = memory.latest_attempt
    return optimized_prompt(
        task=_task(memory),
        summary=memory.get_summary_for_prompt(),
        fixes=_fixes(last.evaluation_results) if last else [],
        recurring=memory.recurring_issues,
        attempt=memory.current_attempt,
        max_attempts=memory.max_attempts,
    )


def _task(memory: FeedbackMemory) -> str:
    return base_prompt(memory.phase, memory.original_goal, memory.held_out)


def _fixes(results: Sequence[EvaluationResult]) -> list[str]:
    # Errored evaluators give the agent nothing to fix. Accepted findings need no fix.
    failed = [each for each in results if each.status is EvaluationStatus.FAILED and not is_signed(each)]
    return ["\n   - ".join([each.feedback, *each.suggestions[:MAX_SUGGESTIONS]]) for each in failed]
