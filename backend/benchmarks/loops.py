"""What a director-evaluator loop costs beside its agents: time and memory for each iteration."""

import time
import tracemalloc
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median

from app.runners.director_evaluator import DirectorEvaluator
from app.runners.loop.roles import RoleTask
from app.schemas.director_evaluator import DirectorEvaluatorLoop
from app.schemas.loop.results import LoopResult, TaskResult
from benchmarks.figures import Series

TITLE = "Director-evaluator loop, without its agents (CPU time)"
LENGTHS = (1, 10, 100)
ROUNDS = 7
OUTPUT_CHARS = 20_000
FORMATS = ("notes_only", "full_output")


@dataclass(frozen=True, slots=True)
class _Director:
    """Gives a text of some length at once, and remembers when it was asked."""

    asked: list[float] = field(default_factory=list[float])

    async def __call__(self, task: RoleTask) -> TaskResult:
        self.asked.append(time.process_time() * 1000)
        return TaskResult(content=f"{task.iteration} " + "x" * OUTPUT_CHARS, notes={"step": task.iteration})


@dataclass(frozen=True, slots=True)
class _Evaluator:
    """Is never content."""

    async def __call__(self, task: RoleTask) -> TaskResult:
        notes = {"success": False, "feedback": f"Draft {task.iteration} is not yet good: " + "y" * 500}
        return TaskResult(content="", notes=notes)


def _loop(iterations: int, accumulation: str) -> DirectorEvaluatorLoop:
    return DirectorEvaluatorLoop.model_validate(
        {
            "description": "Refine it",
            "max_iterations": iterations,
            "context_management": {"accumulation_format": accumulation},
            "director": {
                "description": "Write",
                "inputs": [{"name": "feedback", "from": "evaluation_feedback"}],
            },
            "evaluator": {
                "description": "Judge",
                "inputs": [{"name": "solution", "from": "director_result"}],
            },
            "termination_condition": {"condition": "evaluation.success === true"},
        }
    )


async def measure(_: Path) -> list[Series]:
    """Measure loops of several lengths by turns; the first round only warms up."""
    door = DirectorEvaluator(director=_Director(), evaluator=_Evaluator())
    times: dict[tuple[str, int], list[float]] = {(form, n): [] for form in FORMATS for n in LENGTHS}
    for number in range(ROUNDS + 1):
        for (form, length), samples in times.items():
            started = time.process_time()
            await door.run(_loop(length, form))
            if number:
                samples.append((time.process_time() - started) * 1000 / length)
    table = [
        Series(f"{form}: an iteration of {length}", samples) for (form, length), samples in times.items()
    ]
    for form in FORMATS:
        table += await _within(form)
    return table + [each for form in FORMATS for each in await _memory(door, form)]


async def _within(form: str) -> list[Series]:
    """Measure the iterations of long loops by where they stand; from some place on they cost the same."""
    steps: list[list[float]] = []
    for _ in range(ROUNDS):
        director = _Director()
        await DirectorEvaluator(director=director, evaluator=_Evaluator()).run(_loop(100, form))
        steps.append([after - before for before, after in pairwise(director.asked)])
    early, late, last = ([median(each[a:b]) for each in steps] for a, b in ((1, 11), (79, 89), (89, 99)))
    return [
        Series(f"{form}: iterations 2 to 11 of 100", early),
        Series(f"{form}: iterations 80 to 89 of 100", late),
        Series(f"{form}: the last ten of 100", last),
        Series(f"{form}: the last ten to those before", [median(last) / median(late)], "x", 1.25),
    ]


async def _memory(door: DirectorEvaluator, form: str) -> list[Series]:
    """Measure what a loop holds for each iteration, and the longest context that a director was given."""
    held: dict[int, float] = {}
    contexts: dict[int, int] = {}
    for length in LENGTHS[1:]:
        tracemalloc.start()
        result: LoopResult = await door.run(_loop(length, form))
        held[length] = tracemalloc.get_traced_memory()[1] / 1000 / length
        tracemalloc.stop()
        contexts[length] = max(len(each.context) for each in result.iteration_history)
    return [
        Series(f"{form}: longest context of 100", [contexts[100] / 1000], "kchars", 41.0),
        Series(f"{form}: peak memory of an iteration of 100", [held[100]], "kB"),
        Series(f"{form}: that to one of 10", [held[100] / held[10]], "x", 2.0),
    ]
