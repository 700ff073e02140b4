"""Stores iterations of loops in rows of attempts, and reads them back."""

from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import Attempt, Run
from app.runners.loop.context import OUTPUT_CHARS, LoopInputs, bind
from app.runners.loop.roles import Exhausted, Trouble
from app.runners.loop.steps import PHASE, Step
from app.schemas.director_evaluator import DirectorEvaluatorLoop
from app.schemas.loop.results import LoopIteration
from app.schemas.runs import RunStatus, SubtaskState
from app.schemas.text import storable_json

_TROUBLE: TypeAdapter[Trouble | Exhausted] = TypeAdapter(Trouble | Exhausted)


def definition_document(
    definition: DirectorEvaluatorLoop, inputs: dict[str, str], query: str, inherited: str = ""
) -> dict[str, Any]:
    """Return a loop's definition and inputs as they are stored; `loop_of` reads them back."""
    loop = definition.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return {"loop": loop, "inputs": inputs, "query": query, "inherited": inherited}


def loop_of(run: Run) -> tuple[DirectorEvaluatorLoop, LoopInputs]:
    """Return a loop's definition and its inputs."""
    kept = run.definition or {}
    definition = DirectorEvaluatorLoop.model_validate(kept["loop"])
    return definition, bind(
        definition, kept["inputs"], query=kept["query"], inherited=kept.get("inherited", "")
    )


def keep_step(row: Attempt, step: Step) -> None:
    """Write the outcome of a step into its row; the caller acts on it."""
    iteration = step.iteration
    row.output = iteration.output or ""
    row.closing = step.closing
    row.last_error = step.text
    row.status = step.state
    document = iteration.model_dump(mode="json", by_alias=True, exclude={"output"}, exclude_defaults=True)
    if step.trouble is not None:
        document["trouble"] = _TROUBLE.dump_python(step.trouble, mode="json")
    # An empty text is output, too; None is not.
    row.details = storable_json({**document, "has_output": iteration.output is not None})


def iteration_of(number: int, output: str, details: dict[str, Any] | None) -> LoopIteration:
    """Return the stored iteration, which is empty if it only started."""
    kept = dict(details or {})
    kept.pop("trouble", None)
    has_output = kept.pop("has_output", False)
    return LoopIteration.model_validate(
        {**kept, "iteration": number, "output": output if has_output else None}
    )


def trouble_of(details: dict[str, Any] | None) -> Trouble | Exhausted | None:
    """Return the execution error that cut an iteration short."""
    kept = (details or {}).get("trouble")
    return None if kept is None else _TROUBLE.validate_python(kept)


async def load_earlier(session: AsyncSession, run_id: UUID, number: int) -> list[LoopIteration]:
    """Read the iterations before `number` as later ones see them: with cut outputs and without contexts."""
    details = Attempt.details.op("-")("context")
    statement = (
        select(Attempt.number, func.left(Attempt.output, OUTPUT_CHARS), details)
        .where(Attempt.run_id == run_id, Attempt.phase == PHASE, Attempt.number < number)
        .order_by(Attempt.number)
    )
    rows = (await session.execute(statement)).all()
    return [iteration_of(at, output, cast("dict[str, Any] | None", kept)) for at, output, kept in rows]


def history_of(attempts: Sequence[Attempt]) -> list[LoopIteration]:
    """Return the complete history of a loop from its attempts, which are in order."""
    return [iteration_of(each.number, each.output, each.details) for each in attempts]


async def subtask_state(session: AsyncSession, attempt_id: UUID) -> SubtaskState:
    """Return the state of the subtask that a delegated attempt waits for."""
    asked = Attempt.details["exchanges"][-1]["run_id"].astext
    found = await session.scalar(select(asked).where(Attempt.id == attempt_id))
    if found is None:
        return SubtaskState.WANTED
    status = await session.scalar(select(Run.status).where(Run.id == UUID(found)))
    at_work = status is not None and not RunStatus(status).is_final
    return SubtaskState.AT_WORK if at_work else SubtaskState.OVER
