"""Events of baselines: `baseline.*`."""

from typing import ClassVar, Literal

from app.core.events.envelope import Envelope, TypedEventData
from app.core.events.types import SprintEventType


class BaselineCompletedData(TypedEventData):
    """What the base's tests do before the run changes anything, in numbers of tests.

    Attributes:
        total: tests that ran.
        passing: tests that pass in every run.
        red: tests that fail in every run.
        flaky: tests that pass in some runs and fail in others.
        unreadable: test files that cannot be collected.
        reused: whether an earlier run measured it.
        trouble: why nothing is known; empty if the tests ran to their end.
        message: the baseline in a sentence.
    """

    event_type: ClassVar[SprintEventType] = SprintEventType.BASELINE_COMPLETED
    total: int
    passing: int
    red: int
    flaky: int
    unreadable: int = 0
    reused: bool = False
    trouble: str = ""
    message: str


class BaselineCompletedEvent(Envelope):
    event: Literal[SprintEventType.BASELINE_COMPLETED] = SprintEventType.BASELINE_COMPLETED
    data: BaselineCompletedData
