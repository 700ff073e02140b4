"""Runs the evaluators of a phase, and returns one result for each, even for one that crashes."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from functools import partial
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import to_jsonable_python

from app.core.tracing import current_trace_id, open_span
from app.runners.evaluators.acceptance import Acceptance, is_signed, signed
from app.runners.evaluators.models.outage import MAX_TIMEOUTS
from app.runners.evaluators.protocol import (
    EvaluationContext,
    EvaluationResult,
    Evaluator,
    errored,
    skipped,
)
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.tooling import stretched
from app.schemas.runs import Usage

DEFAULT_DEADLINE_SECONDS = 900.0
"""A backstop for evaluators without their own time limit; the built-in ones have one."""

_RUNS = 3
_SLACK_SECONDS = 60.0
_TOO_SLOW = f"Not asked: its model timed out {MAX_TIMEOUTS} times in this run (EVALUATOR_LLM_TIMEOUT)"

OnResult = Callable[[EvaluationResult], Awaitable[None]]
"""Called with each result as soon as it is available.

An exception from it ends the panel and is re-raised unchanged.
"""


async def evaluate(  # noqa: PLR0913 - three values to judge by, and options by keyword
    phase: str,
    output: str,
    context: EvaluationContext,
    registry: EvaluatorRegistry,
    *,
    deterministic_only: bool = False,
    llm_always: bool = False,
    on_result: OnResult | None = None,
    acceptances: Sequence[Acceptance] = (),
    too_slow: Collection[str] = (),
    deadline: float = DEFAULT_DEADLINE_SECONDS,
) -> list[EvaluationResult]:
    """Judge one output with every evaluator of its phase.

    Deterministic evaluators run concurrently. Evaluators that ask a model are slow and cost money, so they
    follow only if the deterministic gates pass or only ask a person. They get the results of the others. A
    gate that did not run for this reason is reported as skipped; an advisory evaluator that did not run is
    left out.

    Args:
        phase: the phase with the evaluators to run.
        output: the agent's final message.
        context: what they may read.
        registry: where they are registered.
        deterministic_only: never ask a model.
        llm_always: ask the models even if a gate does not pass.
        on_result: receives each result of an evaluator that ran, in the order in which they end.
        acceptances: what reviewers accepted earlier in the run. A gate that only repeats such a finding stops
            nothing, and its result says so.
        too_slow: advisory evaluators whose models timed out too often; they are reported as skipped.
        deadline: seconds for each evaluator.

    Returns:
        The results in the order of registration.
    """
    results: dict[str, EvaluationResult] = {}

    async def run(evaluator: Evaluator, context: EvaluationContext = context) -> None:
        async with _turn_of(evaluator):
            result = await _guarded(evaluator, phase, output, context, _deadline_of(evaluator, deadline))
        results[evaluator.name] = result = signed(result, acceptances)
        if on_result is not None:
            await on_result(result)

    await _side_by_side(run, registry.get_deterministic_evaluators(phase))
    gates_hold = all(
        each.passed or is_signed(each) or each.questions
        for name, each in results.items()
        if registry.is_gate(phase, name)
    )
    every = registry.get_llm_evaluators(phase)
    models = [each for each in every if each.name not in too_slow or registry.is_gate(phase, each.name)]
    if not deterministic_only and (gates_hold or llm_always):
        tools = registry.get_deterministic_evaluators(phase)
        informed: EvaluationContext = {
            **context,
            "deterministic_results": [results[each.name] for each in tools],
        }
        await _side_by_side(partial(run, context=informed), models)
        left_out = (each for each in every if each not in models)
        results |= {each.name: skipped(each, _TOO_SLOW) for each in left_out}
    else:
        reason = (
            "Not asked: only deterministic evaluators were requested"
            if deterministic_only
            else "Not asked: a deterministic gate does not hold"
        )
        unasked = (each for each in models if registry.is_gate(phase, each.name))
        results |= {each.name: skipped(each, reason) for each in unasked}
    return [results[each.name] for each in registry.get_evaluators(phase) if each.name in results]


def _turn_of(evaluator: Evaluator) -> AbstractAsyncContextManager[object]:
    """Return what an evaluator must acquire before it begins, because a server may answer few at once."""
    turns = cast("object", getattr(evaluator, "turns", None))
    return turns if isinstance(turns, asyncio.Semaphore) else nullcontext()


async def _side_by_side(run: Callable[[Evaluator], Awaitable[None]], evaluators: Sequence[Evaluator]) -> None:
    async def as_task(evaluator: Evaluator) -> None:
        await run(evaluator)

    try:
        async with asyncio.TaskGroup() as group:
            for evaluator in evaluators:
                group.create_task(as_task(evaluator), name=f"evaluate {evaluator.name}")
    except BaseExceptionGroup as trouble:
        # Evaluators do not raise here. The receiver of the results may, and its caller knows the error.
        raise trouble.exceptions[0] from None


def _deadline_of(evaluator: Evaluator, deadline: float) -> float:
    """Return a deadline that covers all runs of an evaluator with its own time limit per run."""
    own = cast("object", getattr(evaluator, "longest", getattr(evaluator, "timeout", None)))
    return (
        max(deadline, _RUNS * stretched(own) + _SLACK_SECONDS) if isinstance(own, int | float) else deadline
    )


async def _guarded(
    evaluator: Evaluator, phase: str, output: str, context: EvaluationContext, deadline: float
) -> EvaluationResult:
    """Run one evaluator under its deadline. Whatever happens, return a result in its name."""
    version = str(getattr(evaluator, "version", "1"))
    started = time.monotonic()
    name, attempt, run_id = evaluator.name, context.get("attempt"), context.get("run_id")
    with open_span(
        f"evaluate {name}", evaluator=name, phase=phase, attempt=attempt, run_id=str(run_id or "")
    ) as span:
        result = await _attempted(evaluator, phase, output, context, deadline)
        span.set_attribute("status", result.status.value)
        span.set_attribute("score", result.score)
        return result.model_copy(
            update={
                "evaluator_version": version,
                "duration_ms": round((time.monotonic() - started) * 1000),
                "trace_id": result.trace_id or current_trace_id(),
            }
        )


async def _attempted(
    evaluator: Evaluator, phase: str, output: str, context: EvaluationContext, deadline: float
) -> EvaluationResult:
    clock = asyncio.timeout(deadline)
    try:
        async with clock:
            result = cast("object", await evaluator.evaluate(phase, output, context))
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return errored(evaluator, f"{evaluator.name} cancelled itself", crashed=True)
    except Exception as error:  # noqa: BLE001 - an evaluator may do anything; its crash must become a result
        if isinstance(error, TimeoutError) and clock.expired():
            return errored(evaluator, f"{evaluator.name} did not finish within {deadline:g} seconds")
        return errored(evaluator, f"{evaluator.name} crashed: {type(error).__name__}: {error}", crashed=True)
    if not isinstance(result, EvaluationResult):
        return errored(evaluator, f"{evaluator.name} returned {type(result).__name__}, not a result")
    if result.evaluator_name != evaluator.name:
        return errored(evaluator, f"{evaluator.name} returned a result of {result.evaluator_name!r}")
    return _storable(evaluator, result)


def _storable(evaluator: Evaluator, result: EvaluationResult) -> EvaluationResult:
    """Return a result with metadata that are JSON: other values become text, and NaN becomes null."""
    with suppress(TypeError, ValueError, RecursionError):
        json.dumps(result.metadata, allow_nan=False)
        return result
    try:
        metadata = to_jsonable_python(result.metadata, inf_nan_mode="null", bytes_mode="base64", fallback=str)
    except (ValueError, RecursionError) as error:
        return errored(evaluator, f"{evaluator.name} returned metadata that are no JSON: {error}")
    return result.model_copy(update={"metadata": metadata})


def judges_usage(results: Iterable[EvaluationResult]) -> Usage:
    """Return the consumption of evaluators that ask a model, from their metadata, even without a verdict."""
    found = [each.metadata.get("usage") for each in results]
    return Usage.total(_usage(cast("dict[str, Any]", each)) for each in found if isinstance(each, dict))


def _usage(told: dict[str, Any]) -> Usage:
    try:
        return Usage.model_validate({name: told[name] for name in Usage.model_fields if name in told})
    except ValidationError:
        # Evaluators of other packages may store something else under this name.
        return Usage()
