"""Creates the row of a run of any kind that waits for its first job."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from app.core.telemetry import current_traceparent
from app.db.models import Run
from app.schemas.runs import RunPolicy, RunStatus


def queued_run(*, phases: Sequence[str], policy: RunPolicy, base_commit: str, **columns: Any) -> Run:
    """Return the row of a run that starts with the first of its phases.

    Args:
        phases: at least one, in order.
        policy: the limits and thresholds of the run.
        base_commit: the commit with which its changes are compared.
        columns: the other columns; the run starts with the files of `head_commit`, by default `base_commit`.
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
