"""Which trouble leads to another model, which to another try, and what all of it cost."""

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import models
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelServerError,
    ModelTimeoutError,
    UserError,
)
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from app.agents.models.asking import ask
from app.agents.models.providers import MissingKeyError
from app.agents.models.question import ModelQuestion, NamedModel, QuestionOutcome

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def no_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "ALLOW_MODEL_REQUESTS", False)


class Answer(BaseModel):
    number: int


def http(status: int, category: type[ModelAPIError], message: str = "no") -> ModelHTTPError:
    body = {"error": {"message": message}}
    return ModelHTTPError.for_category(  # type: ignore[arg-type]
        category, status_code=status, model_name="m", body=body, retry_after=60.0
    )


class Scripted:
    """A model that gives these answers one after the other, and remembers its prompts."""

    def __init__(self, *answers: Any, cost: str | None = None) -> None:
        self.answers = list(answers)
        self.cost = None if cost is None else Decimal(cost)
        self.asked: list[str] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.asked.append(str(messages[0].parts[0]))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        usage = RequestUsage(input_tokens=10, output_tokens=5, cost=self.cost)
        call = ToolCallPart(info.output_tools[0].name, answer)
        return ModelResponse(parts=[call], usage=usage, finish_reason="tool_call")


def named(name: str, function: Any) -> NamedModel:
    return NamedModel(name, lambda: FunctionModel(function))


async def asking(*given: NamedModel, seconds: float = 20.0) -> QuestionOutcome[Answer]:
    question = ModelQuestion(
        name="test",
        instructions="Say a number.",
        prompt=lambda room: f"room {room:g}",
        structure=Answer,
        objection=lambda answer: "too large" if answer.number > 10 else None,
    )
    return await ask(question, given, seconds=seconds, retry_pause=0.0)


GOOD = {"number": 1}
TOO_LARGE = {"number": 99}


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ModelConnectionError("m", "refused", phase="connect"), id="no connection"),
        pytest.param(ModelTimeoutError("m", "read"), id="no answer in time"),
        pytest.param(http(429, ModelRateLimitError), id="rate limit"),
        pytest.param(http(500, ModelServerError), id="server error"),
        pytest.param(http(401, ModelAuthenticationError), id="rejected key"),
        pytest.param(http(404, ModelNotFoundError), id="retired model"),
        pytest.param(http(400, ModelRequestRejectedError), id="rejected request"),
        pytest.param(UserError("no such setting"), id="configuration"),
    ],
)
async def test_another_model_is_asked_when_one_is_out(error: Exception) -> None:
    first, second = Scripted(error, error, error), Scripted(GOOD, cost="0.5")
    asked = await asking(named("a:first", first), named("b:second", second))
    assert asked.answer == Answer(number=1)
    assert (asked.model, asked.fallback_from) == ("b:second", "a:first")
    assert len(asked.reasons) == 1
    assert (asked.usage.requests, asked.usage.cost_usd) == (1, 0.5)


@pytest.mark.parametrize(
    "answers", [(TOO_LARGE, TOO_LARGE), ({"number": "x"}, {})], ids=["objected to", "wrong structure"]
)
async def test_an_answer_that_is_no_use_leads_to_no_other_model(answers: tuple[Any, ...]) -> None:
    first, second = Scripted(*answers, cost="0.25"), Scripted(GOOD)
    asked = await asking(named("a:first", first), named("b:second", second))
    assert asked.answer is None
    assert second.asked == []
    assert "a:first: its answer cannot be used" in asked.reasons[0]
    assert (asked.usage.requests, asked.usage.input_tokens, asked.usage.cost_usd) == (2, 20, 0.5)


async def test_without_any_model_both_reasons_are_given_and_what_was_spent_counts() -> None:
    first = Scripted(TOO_LARGE, http(500, ModelServerError), cost="0.25")
    second = Scripted(http(401, ModelAuthenticationError))
    asked = await asking(named("a:first", first), named("b:second", second))
    assert asked.answer is None
    assert ["HTTP 500" in asked.reasons[0], "rejected the key" in asked.reasons[1]] == [True, True]
    assert (asked.model, asked.fallback_from) == ("b:second", "a:first")
    assert (asked.usage.requests, asked.usage.cost_usd) == (1, 0.25)


async def test_a_cost_that_nobody_knows_is_not_zero() -> None:
    asked = await asking(named("a:first", Scripted(TOO_LARGE, GOOD)))
    assert asked.usage.requests == 2
    assert asked.usage.cost_usd is None
    asked = await asking(named("a:first", Scripted(http(500, ModelServerError))))
    assert asked.usage.cost_usd is None


async def test_a_model_that_hangs_leaves_time_for_the_next() -> None:
    async def hang(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        await asyncio.Event().wait()
        raise AssertionError

    asked = await asking(named("a:first", hang), named("b:second", Scripted(GOOD)), seconds=4.0)
    assert asked.model == "b:second"
    assert asked.answer == Answer(number=1)
    assert asked.reasons == ("a:first: the time limit is reached",)
    alone = await asking(named("a:first", hang), seconds=0.05)
    assert (alone.answer, alone.usage.requests) == (None, 0)


def no_key() -> Model:
    raise MissingKeyError("No key for a:first: set TEST_KEY")


def unknown() -> Model:
    raise UserError("Unknown model: a:first")


@pytest.mark.parametrize(("build", "says"), [(no_key, "TEST_KEY"), (unknown, "Unknown model")])
async def test_a_model_that_cannot_be_made_is_out(build: Callable[[], Model], says: str) -> None:
    asked = await asking(NamedModel("a:first", build), named("b:second", Scripted(GOOD)))
    assert asked.model == "b:second"
    assert says in asked.reasons[0]
    assert asked.reasons[0].count("a:first") == 1


async def test_a_short_outage_is_waited_for_within_the_time() -> None:
    error = ModelHTTPError.for_category(ModelServerError, status_code=503, model_name="m", retry_after=0.0)
    first, second = Scripted(error, error, GOOD), Scripted(GOOD)
    asked = await asking(named("a:first", first), named("b:second", second))
    assert asked.model == "a:first"
    assert len(first.asked) == 3
    assert second.asked == []


@pytest.mark.parametrize("message", ["prompt is too long", "input exceeds the context window of this model"])
async def test_what_does_not_fit_is_shown_smaller_once(message: str) -> None:
    error = http(400, ModelRequestRejectedError, message)
    model = Scripted(error, TOO_LARGE, GOOD)
    assert (await asking(named("a:first", model))).answer == Answer(number=1)
    assert ["room 1" in model.asked[0], "room 0.4" in model.asked[1]] == [True, True]
    model = Scripted(error, error)
    asked = await asking(named("a:first", model))
    assert asked.answer is None
    assert "no longer fits" in asked.reasons[0]
    assert len(model.asked) == 2
