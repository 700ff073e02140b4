"""Creates the row of a run that waits for its first job, for every kind."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from app.core.telemetry import current_traceparent
from app.db.models import Run
from app.schemas.runs import RunPolicy, RunStatus


def queued_run(*, phases: Sequence[str], policy: RunPolicy, base_commit: str, **columns: Any) -> Run:
    """Make the row of a run that begins with the first of its phases.

    Args:
        phases: at least one, in order.
        policy: by which the run is decided.
        base_commit: what its changes are measured against.
        columns: the others; the run begins with the files of `head_commit`, by default of `base_commit`.
    """
    return Run(
        **{
            "id": uuid4(),
            "head_commit": base_commit,
            "phases": list(phases),
            "phase": phases[0],
            "policy": policy.model_dump(mode="json"),
            "status": RunStatus.QUEUED,
            "base_commit": base_commit,
            "traceparent": current_traceparent(),
            **columns,
        }
    )
