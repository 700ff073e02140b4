"""The loop *produce, evaluate, decide*: asks for a decision, has it carried out, and repeats."""

from collections.abc import Awaitable, Callable

from app.runners.decision import (
    CompleteRun,
    Decision,
    Escalate,
    Fail,
    Finished,
    ReturnHistory,
    ReturnPartial,
    Wait,
    decide,
)
from app.runners.facts import History
from app.schemas.runs import RunPolicy

RESTS = Wait | Finished | Escalate | CompleteRun | ReturnHistory | ReturnPartial | Fail
"""After one of these there is nothing to do until something is recorded from outside."""

LoadHistory = Callable[[], Awaitable[tuple[History, RunPolicy]]]
CarryOut = Callable[[Decision], Awaitable[None]]


async def refine(load: LoadHistory, carry_out: CarryOut) -> Decision:
    """Carry out one decision after the other until the run rests.

    The history is loaded anew for every decision, so whatever `carry_out` records decides what comes next,
    and stopping between any two steps loses nothing: calling again goes on from the records.

    Args:
        load: gives the recorded history and the run's policy.
        carry_out: does what the decision says and records the outcome before it returns.

    Returns:
        The decision on which the run rests; it has been carried out.
    """
    while True:
        decision = decide(*await load())
        await carry_out(decision)
        if isinstance(decision, RESTS):
            return decision
