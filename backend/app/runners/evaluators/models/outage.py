"""Notes in a result why its evaluator's model gave no answer, and reads such notes. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, cast

from app.agents.port import FailureKind
from app.runners.evaluators.protocol import EvaluationResult

MODEL_FAILURE = "model_failure"
"""Name of the note in a result's metadata."""

MAX_TIMEOUTS = 2
"""An adviser that timed out this often in a run is not asked again in that run."""


@dataclass(frozen=True, slots=True)
class ModelOutage:
    """An outage of evaluators' models.

    Attributes:
        evaluators: names of the evaluators that need them.
        retry_at: when the provider's limit ends, if the provider says so.
    """

    evaluators: Sequence[str]
    retry_at: datetime | None = None


class Unanswered(Protocol):
    """The reason why no model answered a question."""

    @property
    def kind(self) -> FailureKind | None:
        """Kind of the failure, if the models were unavailable."""
        ...

    @property
    def retry_at(self) -> datetime | None:
        """When the provider's limit ends, if the provider says so."""
        ...

    @property
    def exhausted(self) -> str | None:
        """The resource that was used up, if any; `time` is the wall clock."""
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
    """Return the outage if it alone keeps these gates from a verdict, else None.

    Args:
        results: of one evaluation.
        gates: the gates that reached no verdict.
    """
    silent = [each for each in results if each.evaluator_name in gates]
    notes = [_note(each.metadata) for each in silent]
    if not notes or len(silent) != len(gates):
        return None
    if any(each.get("kind") != FailureKind.UNAVAILABLE for each in notes):
        return None
    times = [_moment(each.get("retry_at")) for each in notes]
    known = [each for each in times if each is not None]
    # All models must be available again. Without a time from each of them, the run does not wait for a time.
    retry_at = max(known) if len(known) == len(times) else None
    return ModelOutage([each.evaluator_name for each in silent], retry_at)


def _note(metadata: Mapping[str, object]) -> Mapping[str, object]:
    found = metadata.get(MODEL_FAILURE)
    # Evaluators of other packages may store something else under this name.
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else {}


def _moment(told: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(told) if isinstance(told, str) else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None
