"""Directors, evaluators and programs of loops that do what a test says."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from app.runners.loop.roles import Exhausted, RoleTask, ScriptTask, Trouble
from app.schemas.director_evaluator import DirectorEvaluatorLoop
from app.schemas.loop.results import ScriptOutput, TaskResult

Came = TaskResult | Trouble | Exhausted
Work = Callable[[RoleTask], Came]


@dataclass
class Part:
    """A director or an evaluator that does what a function says."""

    work: Work
    tasks: list[RoleTask] = field(default_factory=list)

    async def __call__(self, task: RoleTask) -> Came:
        self.tasks.append(task)
        return self.work(task)


@dataclass
class Program:
    """A script that prints its input."""

    came: ScriptOutput | Trouble | None = None
    tasks: list[ScriptTask] = field(default_factory=list)

    async def __call__(self, task: ScriptTask) -> ScriptOutput | Trouble:
        self.tasks.append(task)
        return self.came or ScriptOutput(stdout=task.stdin, exitCode=0)


def draft(task: RoleTask) -> Came:
    return TaskResult(content=f"draft {task.iteration}", notes={"step": task.iteration})


def judged(success: bool, **more: Any) -> TaskResult:
    return TaskResult(content="judged", notes={"success": success, "feedback": "say more", **more})


def succeeds_at(number: int) -> Work:
    return lambda task: judged(task.iteration >= number)


def definition(**changed: Any) -> DirectorEvaluatorLoop:
    given: dict[str, Any] = {
        "description": "Refine it",
        "director": {"description": "Write", "inputs": []},
        "evaluator": {"description": "Judge", "inputs": []},
    }
    return DirectorEvaluatorLoop.model_validate({**given, **changed})


def role(*sources: str, **more: Any) -> dict[str, Any]:
    inputs = [{"name": f"the_{each}", "from": each} for each in sources]
    return {"description": "Do", "inputs": inputs, **more}


NEVER = succeeds_at(99)
