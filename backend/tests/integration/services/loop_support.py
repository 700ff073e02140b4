"""What the tests of durable loops share: an engine whose parts are functions, and workers that are killed."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from app.db.models import Run
from app.realtime.store import Fence
from app.runners.loop.roles import Exhausted, LoopParts, RoleTask, ScriptTask, Trouble
from app.schemas.api.loops import LoopCreate, LoopDetail
from app.schemas.director_evaluator import DirectorEvaluatorLoop
from app.schemas.loop.results import ScriptOutput, TaskResult
from app.schemas.runs import RunKind, Usage
from app.services.execute.advance import Advance, KindSteps
from app.services.execute.loops import LoopRunning
from app.services.record.transactions import Recorder, Recording
from tests.integration.services.support import UseCases

Came = TaskResult | Trouble | Exhausted
Work = Callable[[RoleTask], Came]
USAGE = Usage(requests=1, input_tokens=10, output_tokens=5, cost_usd=0.25)


class KilledError(BaseException):
    """A worker died; nothing of it runs any more."""


def draft(task: RoleTask) -> Came:
    return TaskResult(content=f"draft {task.iteration}", notes={"step": task.iteration}, usage=USAGE)


def judged(success: bool, **more: Any) -> TaskResult:
    return TaskResult(content="", notes={"success": success, "feedback": "say more", **more}, usage=USAGE)


def succeeds_at(number: int) -> Work:
    return lambda task: judged(task.iteration >= number)


NEVER = succeeds_at(999)


def definition(**changed: Any) -> DirectorEvaluatorLoop:
    given: dict[str, Any] = {
        "description": "Refine it",
        "director": {"description": "Write", "inputs": []},
        "evaluator": {"description": "Judge", "inputs": []},
    }
    return DirectorEvaluatorLoop.model_validate({**given, **changed})


@dataclass
class Parts:
    """Does the work by functions, and remembers what was asked; a fake of the workshop."""

    director: Work = draft
    evaluator: Work = field(default_factory=lambda: succeeds_at(2))
    script: ScriptOutput | Trouble | None = None
    trouble: Exception | None = None
    tasks: list[RoleTask] = field(default_factory=list)
    scripts: list[ScriptTask] = field(default_factory=list)

    @asynccontextmanager
    async def open(self, run: Run) -> AsyncGenerator[LoopParts]:
        if self.trouble is not None:
            raise self.trouble
        yield LoopParts(
            director=self._role(self.director), evaluator=self._role(self.evaluator), script=self._run
        )

    def _role(self, work: Work) -> Any:
        async def ask(task: RoleTask) -> Came:
            self.tasks.append(task)
            return work(task)

        return ask

    async def _run(self, task: ScriptTask) -> ScriptOutput | Trouble:
        self.scripts.append(task)
        return self.script or ScriptOutput(stdout=task.stdin, exitCode=0)

    def asked(self, role: str) -> list[int]:
        return [each.iteration for each in self.tasks if each.role == role]


class MortalRecorder(Recorder):
    """Dies at one of its transactions: before it commits, or right after."""

    def __init__(self, cases: UseCases) -> None:
        super().__init__(cases.sessions, cases.bell)
        self.opened = 0
        self.dies_at: tuple[int, str] | None = None

    @asynccontextmanager
    async def open(self, run_id: UUID, fence: Fence, *, charges: bool = False) -> AsyncGenerator[Recording]:
        self.opened += 1
        mine = self.opened
        async with super().open(run_id, fence, charges=charges) as recording:
            yield recording
            if self.dies_at == (mine, "before"):
                raise KilledError
        if self.dies_at == (mine, "after"):
            raise KilledError


class LoopEngine:
    """Moves loops on as the queue's jobs would."""

    def __init__(self, cases: UseCases, parts: Parts) -> None:
        self.cases, self.parts = cases, parts
        self.recorder = MortalRecorder(cases)
        running = LoopRunning(cases.sessions, self.recorder, parts)
        steps = {RunKind.DIRECTOR_LOOP: KindSteps(running.direct, running.evaluate)}
        self._advance = Advance(cases.sessions, self.recorder, steps)
        self._job = 1000

    async def start(self, **changed: Any) -> UUID:
        more = {name: changed.pop(name) for name in ("inputs", "query", "budget") if name in changed}
        request = LoopCreate.model_validate({"definition": definition(**changed), **more})
        return (await self.cases.loops.start(request, "ada")).id

    async def advance(self, run_id: UUID) -> None:
        self._job += 1
        await self._advance(run_id, self._job, 0)

    async def until_all_rest(self, run_id: UUID) -> LoopDetail:
        """Move a loop and its subtasks on until none of them moves by itself."""
        for _ in range(60):
            moving = await self.moving(run_id)
            if not moving:
                return await self.cases.loops.get(run_id)
            for each in moving:
                await self.advance(each)
        raise AssertionError("the loops do not come to rest")

    async def moving(self, run_id: UUID) -> list[UUID]:
        """The loop and its subtasks that are not over and ask no human."""
        loop = await self.cases.loops.get(run_id)
        asks = any(each.status == "open" for each in loop.escalations)
        own = [] if loop.status.is_final or asks else [run_id]
        below = [await self.moving(each.run_id) for each in loop.subtasks]
        return [*own, *(each for runs in below for each in runs)] if own or any(below) else []

    async def until_rest(self, run_id: UUID) -> LoopDetail:
        for _ in range(20):
            await self.advance(run_id)
            loop = await self.cases.loops.get(run_id)
            if loop.status not in ("queued", "active"):
                return loop
        raise AssertionError("the loop does not come to rest")
