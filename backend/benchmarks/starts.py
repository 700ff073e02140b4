"""How soon a worker takes up what was enqueued."""

from collections.abc import Sequence
from pathlib import Path

from app.schemas.api.escalations import EscalationResolve
from benchmarks.engine import Committed, Engine, open_engine, sprint
from benchmarks.figures import Series

TITLE = "pickup: from the commit that enqueues to the commit of the worker's first event"
SPRINTS = 40
TARGET_MS = 30.0

_RETRY = EscalationResolve.model_validate({"decision": "retry"})


async def measure(place: Path) -> list[Series]:
    """Start sprints and answer their escalations, each while the worker is idle.

    A decision is recorded when the run's job is gone, as it is when a human decides: while that job still
    ends, the new one is found by polling.
    """
    async with open_engine(place) as engine:
        await _both(engine)  # connections, statements, imports
        pairs = [await _both(engine) for _ in range(SPRINTS)]
    return [
        Series("sprint started -> first event", [start for start, _ in pairs], target=TARGET_MS),
        Series("escalation resolved -> next attempt", [resolve for _, resolve in pairs], target=TARGET_MS),
    ]


async def _both(engine: Engine) -> tuple[float, float]:
    """Start a sprint and answer its escalation; give both delays in milliseconds."""
    run_id = (await engine.sprints.start(sprint(max_attempts=1), "benchmark")).id
    escalation_id = await engine.rest(run_id)
    await engine.escalations.resolve(escalation_id, _RETRY, "benchmark")
    await engine.rest(run_id)
    events = await engine.events(run_id)
    return _delay(events, "run.created"), _delay(events, "escalation.resolved")


def _delay(events: Sequence[Committed], cause: str) -> float:
    """From the commit of `cause` to the next commit that has an event."""
    caused = next(each.at for each in events if each.type == cause)
    followed = next(each.at for each in events if each.at > caused)
    return (followed - caused) * 1000
