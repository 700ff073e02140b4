"""Events of held-out tests: `held_out.*`."""

from typing import ClassVar, Literal

from app.core.events.envelope import Envelope, TypedEventData
from app.core.events.types import SprintEventType


class HeldOutCheckedData(TypedEventData):
    """The results of held-out tests at the base, in numbers; `message` puts them in a sentence."""

    event_type: ClassVar[SprintEventType] = SprintEventType.HELD_OUT_CHECKED
    total: int
    passing: int
    unreadable: int = 0
    message: str


class HeldOutCheckedEvent(Envelope):
    event: Literal[SprintEventType.HELD_OUT_CHECKED] = SprintEventType.HELD_OUT_CHECKED
    data: HeldOutCheckedData
