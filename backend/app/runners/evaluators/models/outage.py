"""Notes in a result why its evaluator's model gave no answer, and reads it from results. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, cast

from app.agents.port import FailureKind
from app.runners.evaluators.protocol import EvaluationResult

MODEL_FAILURE = "model_failure"
"""Name of the note in the metadata of a result."""

MAX_TIMEOUTS = 2
"""An adviser that timed out so often in a run is not asked again in it."""


@dataclass(frozen=True, slots=True)
class ModelOutage:
    """Models of evaluators are unavailable.

    Attributes:
        evaluators: names of those that need them.
        retry_at: when the provider's limit ends, if the provider says so.
    """

    evaluators: Sequence[str]
    retry_at: datetime | None = None


class Unanswered(Protocol):
    """What is known of a question that no model answered."""

    @property
    def kind(self) -> FailureKind | None:
        """Of the failure, if the models were out."""
        ...

    @property
    def retry_at(self) -> datetime | None:
        """When the provider's limit ends, if the provider says so."""
        ...

    @property
    def exhausted(self) -> str | None:
        """Which resource was used up, if it was one; `time` is the wall clock."""
        ...


def failure_note(asked: Unanswered) -> dict[str, Any]:
    """Return the note for the metadata of a result without a verdict."""
    return {
        MODEL_FAILURE: {
            "kind": asked.kind.value if asked.kind else None,
            "timed_out": asked.exhausted == "time",
            "retry_at": asked.retry_at.isoformat() if asked.retry_at else None,
        }
    }


def outage_of(results: Sequence[EvaluationResult], gates: Collection[str]) -> ModelOutage | None:
    """Return the outage that alone keeps these gates from a verdict; None if there is another reason.

    Args:
        results: of one evaluation.
        gates: that reached no verdict.
    """
    silent = [each for each in results if each.evaluator_name in gates]
    notes = [_note(each.metadata) for each in silent]
    if not notes or len(silent) != len(gates):
        return None
    if any(each.get("kind") != FailureKind.UNAVAILABLE for each in notes):
        return None
    times = [_moment(each.get("retry_at")) for each in notes]
    known = [each for each in times if each is not None]
    # All of them have to be back; without a time from each of them, none is waited for.
    retry_at = max(known) if len(known) == len(times) else None
    return ModelOutage([each.evaluator_name for each in silent], retry_at)


def _note(metadata: Mapping[str, object]) -> Mapping[str, object]:
    found = metadata.get(MODEL_FAILURE)
    # Other packages' evaluators may keep something else under this name.
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else {}


def _moment(told: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(told) if isinstance(told, str) else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None
