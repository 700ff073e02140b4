"""Every evaluator gives exactly one result, whatever it does."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from app.runners.evaluators import panel
from app.runners.evaluators.acceptance import Acceptance
from app.runners.evaluators.protocol import (
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    EvaluationStatus,
    Evaluator,
)
from app.runners.evaluators.registrations import EvaluatorRegistry

pytestmark = pytest.mark.anyio

Behaviour = Callable[["Fake"], Awaitable[object]]


@dataclass
class Fake:
    """An evaluator that behaves as it is told."""

    name: str
    behaviour: Behaviour
    is_deterministic: bool = True
    category: EvaluationCategory = EvaluationCategory.TESTING
    version: str = "7"
    calls: list[str] = field(default_factory=list)
    turns: asyncio.Semaphore | None = None

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        self.calls.append(output)
        return cast("EvaluationResult", await self.behaviour(self))


def result(name: str, passed: bool = True) -> EvaluationResult:
    return EvaluationResult(
        evaluator_name=name,
        category=EvaluationCategory.TESTING,
        passed=passed,
        score=float(passed),
        feedback="done",
    )


async def passes(fake: Fake) -> object:
    return result(fake.name)


async def fails(fake: Fake) -> object:
    return result(fake.name, passed=False)


async def raises(fake: Fake) -> object:
    raise KeyError("lost")


async def hangs(fake: Fake) -> object:
    await asyncio.Event().wait()
    return None


async def impersonates(fake: Fake) -> object:
    return result("someone else")


async def returns_a_dict(fake: Fake) -> object:
    return {"passed": True}


async def cancels_itself(fake: Fake) -> object:
    raise asyncio.CancelledError


async def times_out(fake: Fake) -> object:
    raise TimeoutError("a socket")


def registry_of(*evaluators: Fake, advisory: tuple[str, ...] = ()) -> EvaluatorRegistry:
    registry = EvaluatorRegistry()
    for each in evaluators:
        registry.register(cast("Evaluator", each), gate=each.name not in advisory)
    return registry


async def evaluate(registry: EvaluatorRegistry, **options: Any) -> dict[str, EvaluationResult]:
    results = await panel.evaluate("coding", "out", {}, registry, **options)
    assert len({each.evaluator_name for each in results}) == len(results)
    return {each.evaluator_name: each for each in results}


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        pytest.param(raises, "crashed: KeyError", id="raises"),
        pytest.param(hangs, "did not finish within 0.01 seconds", id="hangs"),
        pytest.param(impersonates, "returned a result of 'someone else'", id="another's name"),
        pytest.param(returns_a_dict, "returned dict", id="no result"),
        pytest.param(cancels_itself, "cancelled itself", id="cancels itself"),
        pytest.param(times_out, "crashed: TimeoutError: a socket", id="a timeout of its own"),
    ],
)
async def test_trouble_is_a_result(behaviour: Behaviour, reason: str) -> None:
    results = await evaluate(registry_of(Fake("bad", behaviour), Fake("good", passes)), deadline=0.01)
    assert results["bad"].status == "errored"
    assert reason in results["bad"].feedback
    assert results["good"].status == "passed"


async def test_metadata_can_always_be_stored() -> None:
    async def notes(fake: Fake) -> object:
        metadata = {
            "report": Path("/r.xml"),
            "names": {"a"},
            "mean": float("nan"),
            "raw": b"\xff",
            3: "three",
        }
        return result(fake.name).model_copy(update={"metadata": metadata})

    results = await evaluate(registry_of(Fake("notes", notes)))
    assert results["notes"].passed
    assert results["notes"].metadata == {
        "report": "/r.xml",
        "names": ["a"],
        "mean": None,
        "raw": "_w==",
        "3": "three",
    }


async def test_metadata_that_contain_themselves_are_an_error() -> None:
    async def notes(fake: Fake) -> object:
        metadata: dict[str, Any] = {}
        metadata["self"] = metadata
        return result(fake.name).model_copy(update={"metadata": metadata})

    results = await evaluate(registry_of(Fake("notes", notes)))
    assert results["notes"].status == "errored"
    assert "metadata that are no JSON" in results["notes"].feedback


async def test_results_come_in_the_order_of_registration_and_are_filled_in() -> None:
    async def late(fake: Fake) -> object:
        await asyncio.sleep(0.01)
        return result(fake.name)

    results = await evaluate(registry_of(Fake("a", late), Fake("b", passes)))
    assert list(results) == ["a", "b"]
    assert results["a"].evaluator_version == "7"
    assert results["a"].duration_ms is not None


async def test_deterministic_evaluators_run_side_by_side() -> None:
    meeting = asyncio.Barrier(2)

    async def meets(fake: Fake) -> object:
        await meeting.wait()
        return result(fake.name)

    results = await evaluate(registry_of(Fake("a", meets), Fake("b", meets)), deadline=10)
    assert {each.status for each in results.values()} == {"passed"}


ACCEPTED = Acceptance.of(result("gate", passed=False), by="ada", phase="coding", attempt=1)


@pytest.mark.parametrize(
    ("gate", "options", "asked"),
    [
        pytest.param(passes, {}, True, id="gates hold"),
        pytest.param(fails, {}, False, id="a gate failed"),
        pytest.param(raises, {}, False, id="a gate crashed"),
        pytest.param(fails, {"llm_always": True}, True, id="asked for"),
        pytest.param(fails, {"acceptances": [ACCEPTED]}, True, id="a human accepted that finding"),
        pytest.param(raises, {"acceptances": [ACCEPTED]}, False, id="nobody accepts a crash"),
        pytest.param(passes, {"deterministic_only": True}, False, id="not wanted"),
    ],
)
async def test_models_are_asked_when_the_gates_hold(
    gate: Behaviour, options: dict[str, Any], asked: bool
) -> None:
    model = Fake("model", passes, is_deterministic=False)
    results = await evaluate(registry_of(Fake("gate", gate), model, advisory=("model",)), **options)
    assert bool(model.calls) is asked
    assert ("model" in results) is asked


async def test_a_failed_adviser_does_not_keep_models_away() -> None:
    model = Fake("model", passes, is_deterministic=False)
    registry = registry_of(Fake("adviser", fails), Fake("gate", passes), model, advisory=("adviser",))
    await evaluate(registry)
    assert model.calls


async def test_a_gate_that_was_not_asked_is_not_missing() -> None:
    model = Fake("model", passes, is_deterministic=False)
    results = await evaluate(registry_of(Fake("gate", fails), model))
    assert results["model"].status == "skipped"
    assert "does not hold" in results["model"].feedback


async def test_results_are_told_as_they_come() -> None:
    told: list[str] = []

    async def tell(each: EvaluationResult) -> None:
        told.append(each.evaluator_name)

    async def late(fake: Fake) -> object:
        await asyncio.sleep(0.01)
        return result(fake.name)

    await evaluate(registry_of(Fake("late", late), Fake("early", passes)), on_result=tell)
    assert told == ["early", "late"]


async def test_an_error_of_the_receiver_is_raised_as_it_is() -> None:
    async def refuse(each: EvaluationResult) -> None:
        raise LookupError("fenced")

    with pytest.raises(LookupError, match="fenced"):
        await evaluate(registry_of(Fake("a", passes), Fake("b", hangs)), on_result=refuse)


async def test_cancelling_the_panel_cancels_its_evaluators() -> None:
    ended: list[str] = []

    async def waits(fake: Fake) -> object:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(fake.name)
        return None

    task = asyncio.create_task(evaluate(registry_of(Fake("a", waits), Fake("b", waits))))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(ended) == ["a", "b"]


async def test_a_phase_without_evaluators_has_no_results() -> None:
    assert await evaluate(EvaluatorRegistry()) == {}


async def test_models_are_given_what_the_tools_found_and_tools_are_not() -> None:
    seen: dict[str, list[str] | None] = {}

    class Curious(Fake):
        async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
            given = context.get("deterministic_results")
            seen[self.name] = None if given is None else [each.evaluator_name for each in given]
            return result(self.name)

    registry = registry_of(
        Curious("model", passes, is_deterministic=False),
        Curious("second", passes),
        Curious("first", raises),
        advisory=("first",),
    )
    context: EvaluationContext = {"goal": "g"}
    await panel.evaluate("coding", "", context, registry)
    assert seen == {"model": ["second", "first"], "second": None, "first": None}
    assert context == {"goal": "g"}


async def test_evaluators_wait_for_their_turn() -> None:
    working, most = 0, 0

    async def works(fake: Fake) -> object:
        nonlocal working, most
        working, most = working + 1, max(most, working + 1)
        for _ in range(5):
            await asyncio.sleep(0)
        working -= 1
        return result(fake.name)

    turns = asyncio.Semaphore(2)
    judges = [Fake(name, works, is_deterministic=False, turns=turns) for name in "abcd"]
    results = await evaluate(registry_of(*judges))
    assert most == 2
    assert all(each.passed for each in results.values())


async def test_an_adviser_that_is_too_slow_is_skipped_with_the_reason() -> None:
    slow, gate = (Fake(name, passes, is_deterministic=False) for name in ("slow", "gate"))
    results = await evaluate(registry_of(slow, gate, advisory=("slow",)), too_slow=["slow", "gate"])
    assert results["slow"].status is EvaluationStatus.SKIPPED
    assert "timed out 2 times in this run (EVALUATOR_LLM_TIMEOUT)" in results["slow"].feedback
    assert (slow.calls, len(gate.calls)) == ([], 1), "a gate is asked all the same"
