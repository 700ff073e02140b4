"""What an attempt costs when agent and evaluators cost nothing, and where the time goes."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from benchmarks.engine import Committed, Engine, open_engine, sprint
from benchmarks.figures import Series
from benchmarks.git_clock import GitCall

TITLE = "attempt: overhead of one attempt with an instant agent and an instant gate"
RUNS = 6
ATTEMPTS = 20
TARGET_MS = 60.0

_STEPS = (
    ("attempt.started", "attempt.produced", "  tree, agent, commit, bundle, record"),
    ("attempt.produced", "evaluation.started", "  take up the evaluation"),
    ("evaluation.started", "evaluator.completed", "  copies for judging, the gate"),
    ("evaluator.completed", "evaluation.completed", "  remove the copies, record the verdict"),
)


async def measure(place: Path) -> list[Series]:
    """Run sprints of many failing attempts, one after the other.

    Times are between commits, as the database noted them. An attempt lasts from its start to the start of
    the next one, so the last of a run is not counted.
    """
    async with open_engine(place) as engine:
        await _run(engine)  # connections, statements, imports
        engine.git.calls.clear()
        runs = [await _run(engine) for _ in range(RUNS)]
        return _table(runs, engine.git.calls)


async def _run(engine: Engine) -> list[dict[str, float]]:
    """Run one sprint; give the moments of each attempt, by event type."""
    run_id = (await engine.sprints.start(sprint(max_attempts=ATTEMPTS), "benchmark")).id
    await engine.rest(run_id)
    return _moments(await engine.events(run_id))


def _moments(events: Sequence[Committed]) -> list[dict[str, float]]:
    attempts: dict[int, dict[str, float]] = defaultdict(dict)
    for event in events:
        if event.attempt is not None:
            attempts[event.attempt].setdefault(event.type, event.at)
    return [attempts[number] for number in sorted(attempts)]


def _table(runs: Sequence[Sequence[dict[str, float]]], calls: Sequence[GitCall]) -> list[Series]:
    pairs = [(one, following) for run in runs for one, following in pairwise(run)]
    whole = [_ms(one["attempt.started"], after["attempt.started"]) for one, after in pairs]
    steps = [Series(label, [_ms(one[start], one[end]) for one, _ in pairs]) for start, end, label in _STEPS]
    record = [_ms(one["evaluation.completed"], after["attempt.started"]) for one, after in pairs]
    commands = sorted({each.command for each in calls})
    by_command = {name: [each.seconds * 1000 for each in calls if each.command == name] for name in commands}
    return [
        Series("one attempt", whole, target=TARGET_MS),
        *steps,
        Series("  decide, record the next attempt", record),
        *(Series(f"  git {name}, each call", samples) for name, samples in by_command.items()),
    ]


def _ms(start: float, end: float) -> float:
    return (end - start) * 1000
