"""The loop *produce, evaluate, decide*: asks for a decision, carries it out, and repeats."""

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
"""After one of these decisions, the run rests until something new is recorded from outside."""

LoadHistory = Callable[[], Awaitable[tuple[History, RunPolicy]]]
CarryOut = Callable[[Decision], Awaitable[None]]


async def refine(load: LoadHistory, carry_out: CarryOut) -> Decision:
    """Carry out one decision after the other until the run rests.

    The history is loaded again for every decision, so the records of `carry_out` determine the next one.
    Stopping between any two steps loses nothing: another call continues from the records.

    Args:
        load: returns the recorded history and the run's policy.
        carry_out: carries out the decision and records the outcome before it returns.

    Returns:
        The decision on which the run rests, already carried out.
    """
    while True:
        decision = decide(*await load())
        await carry_out(decision)
        if isinstance(decision, RESTS):
            return decision
