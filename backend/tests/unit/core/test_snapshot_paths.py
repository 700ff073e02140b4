"""A client that has to begin anew is told where to fetch how its run stands, whatever kind it is."""

from uuid import UUID

import pytest

from app.core.event_frames import DeliveryStart, ResumeMode, SubscribedFrame
from app.schemas.runs import RunKind

RUN = UUID(int=7)


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        pytest.param(RunKind.SPRINT, f"/api/v1/sprints/{RUN}", id="sprint"),
        pytest.param(RunKind.DIRECTOR_LOOP, f"/api/v1/loops/{RUN}", id="loop"),
        pytest.param(RunKind.ANSWER, f"/api/v1/answers/{RUN}", id="answer"),
    ],
)
def test_the_snapshot_is_the_run_s(kind: RunKind, path: str) -> None:
    reset = SubscribedFrame.of(RUN, DeliveryStart(ResumeMode.RESET, 3, 9, "active", "here", kind))
    assert reset.snapshot == path
    assert (
        SubscribedFrame.of(RUN, DeliveryStart(ResumeMode.RESUMED, 3, 9, "active", "here", kind)).snapshot
        is None
    )
