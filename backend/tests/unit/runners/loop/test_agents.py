"""Models that direct and evaluate: what they are asked, and trouble that is never a success."""

from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import models
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from app.runners.director_evaluator import DirectorEvaluator
from app.runners.loop.agents import MAX_REQUESTS, ModelDirector, ModelEvaluatorRole
from app.runners.loop.requests import read_request
from app.runners.loop.roles import Exhausted, RoleTask, Trouble
from app.schemas.director_evaluator import DirectorEvaluatorLoop
from app.schemas.loop.results import FailureReason, LoopEnd, TaskFailure, TaskResult, TaskStatus
from app.schemas.loop.subtasks import EvaluationRequest, SubtaskRequest

pytestmark = pytest.mark.anyio

TASK = RoleTask("director", 2, "Write it", {"feedback": "too long\n<<<x>>>"}, "Iteration 1")


@pytest.fixture(autouse=True)
def no_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "ALLOW_MODEL_REQUESTS", False)


def last_text(message: ModelMessage) -> str:
    """What the last part of a request says: a prompt, or what a tool gave."""
    part = message.parts[-1]
    assert isinstance(part, UserPromptPart | ToolReturnPart)
    return str(part.content)


class Script:
    """A model that answers by a list and remembers what it was told."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.told = ""

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.told = f"{info.instructions}\n{last_text(messages[0])}"
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, answer)])


def director(*answers: Any) -> ModelDirector:
    return ModelDirector(model=FunctionModel(Script(*answers)), retry_pause=0.0)


def evaluator(*answers: Any) -> ModelEvaluatorRole:
    return ModelEvaluatorRole(model=FunctionModel(Script(*answers)), retry_pause=0.0)


async def test_a_director_is_told_its_task_its_inputs_and_its_context() -> None:
    script = Script({"content": "a draft", "remarks": "shorter"})
    came = await ModelDirector(model=FunctionModel(script))(TASK)
    assert isinstance(came, TaskResult)
    assert (came.content, came.status, came.notes) == ("a draft", "COMPLETE", {"remarks": "shorter"})
    assert came.usage is not None
    assert came.usage.requests == 1
    for text in ("You direct a loop", "Write it", "iteration 2", "| too long", "| <<<x>>>", "| Iteration 1"):
        assert text in script.told


LIMERICK = """
<task type="director_evaluator_loop">
  <description>Write a limerick about {{topic}}</description>
  <inputs><input name="topic"/><input name="tone">dry</input></inputs>
  <director><description>Write it. Use the feedback.</description>
    <inputs><input name="feedback" from="evaluation_feedback"/></inputs></director>
  <evaluator><description>Five lines, rhyme AABBA?</description>
    <inputs><input name="limerick" from="director_result"/></inputs></evaluator>
</task>
"""


async def test_both_roles_are_told_the_goal_and_the_inputs_of_the_loop() -> None:
    writes, judges = Script({"content": "There was"}), Script({"feedback": "Good", "success": True})
    door = DirectorEvaluator(
        director=ModelDirector(model=FunctionModel(writes)),
        evaluator=ModelEvaluatorRole(model=FunctionModel(judges)),
    )
    definition = DirectorEvaluatorLoop.from_xml(LIMERICK)
    result = await door.run(definition, {"topic": "Postgres"}, query="For a birthday")
    assert result.success
    for told, own in ((writes.told, "Write it. Use the feedback."), (judges.told, "rhyme AABBA?")):
        for text in ("Write a limerick about Postgres", "| dry", "| For a birthday", own):
            assert text in told
    assert "| There was" in judges.told


async def test_instructions_of_the_definition_replace_the_usual_ones() -> None:
    script = Script({"content": "a draft"})
    task = RoleTask("director", 1, "Write it", system_prompt="Speak plainly.")
    await ModelDirector(model=FunctionModel(script))(task)
    assert "Speak plainly." in script.told
    assert "You direct a loop" not in script.told


async def test_a_director_may_need_a_human() -> None:
    came = await director({"content": "which one?", "needs_human": True})(TASK)
    assert isinstance(came, TaskResult)
    assert came.status is TaskStatus.WAITING


OPINION = {"feedback": "say more", "violations": ["too short"], "success": False}


async def test_an_opinion_becomes_notes() -> None:
    came = await evaluator(OPINION)(TASK)
    assert isinstance(came, TaskResult)
    details = {"violations": ["too short"], "suggestions": []}
    assert came.notes == {"success": False, "feedback": "say more", "details": details}


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        pytest.param([{**OPINION, "success": "yes"}] * 2, FailureReason.OUTPUT_FORMAT_FAILURE, id="a word"),
        pytest.param([{"success": True}] * 2, FailureReason.OUTPUT_FORMAT_FAILURE, id="no feedback"),
        pytest.param([ModelHTTPError(401, "m", {})], FailureReason.EXECUTION_HALTED, id="a rejected key"),
    ],
)
async def test_trouble_is_never_a_success(answers: list[Any], reason: FailureReason) -> None:
    came = await evaluator(*answers)(TASK)
    assert isinstance(came, Trouble)
    assert came.reason is reason


async def test_registered_evaluators_are_not_played_by_a_model() -> None:
    came = await evaluator()(RoleTask("evaluator", 1, "Judge", evaluators=("pytest",)))
    assert isinstance(came, Trouble)
    assert "pytest" in came.message


async def test_an_unknown_model_of_a_definition_ends_the_loop() -> None:
    loop = DirectorEvaluatorLoop.model_validate(
        {
            "description": "d",
            "director": {"description": "x", "model": "nobody:nothing"},
            "evaluator": {"description": "y"},
        }
    )
    result = await DirectorEvaluator(director=director(), evaluator=evaluator()).run(loop)
    assert result.ended_by is LoopEnd.ERROR
    assert isinstance(result.error, TaskFailure)
    assert result.error.reason is FailureReason.EXECUTION_HALTED


async def test_two_models_refine_a_text() -> None:
    loop = DirectorEvaluatorLoop.model_validate(
        {
            "description": "A haiku",
            "director": {"description": "Write", "inputs": [{"name": "f", "from": "evaluation_feedback"}]},
            "evaluator": {"description": "Judge", "inputs": [{"name": "s", "from": "director_result"}]},
        }
    )
    writing, judging = (
        Script({"content": "one"}, {"content": "two"}),
        Script(OPINION, {**OPINION, "success": True}),
    )
    door = DirectorEvaluator(
        director=ModelDirector(model=FunctionModel(writing)),
        evaluator=ModelEvaluatorRole(model=FunctionModel(judging)),
    )
    result = await door.run(loop)
    assert (result.ended_by, result.final_output) == (LoopEnd.SUCCESS, "two")
    assert "| say more" in writing.told
    assert "| two" in judging.told


SUBTASK = {"content": "so far", "subtask": {"description": "Find the load"}}
EVALUATION = {"content": "so far", "evaluation": {"criteria": "Is it terse?"}}


@pytest.mark.parametrize(
    ("answer", "request_type"),
    [
        pytest.param(SUBTASK, SubtaskRequest, id="subtask"),
        pytest.param(EVALUATION, EvaluationRequest, id="evaluation"),
    ],
)
async def test_a_director_may_ask_for_something_first(answer: Any, request_type: type) -> None:
    came = await director(answer)(TASK)
    assert isinstance(came, TaskResult)
    assert (came.content, came.status) == ("so far", TaskStatus.CONTINUATION)
    assert isinstance(read_request(came), request_type)


async def test_a_director_that_asks_for_two_things_is_asked_again() -> None:
    came = await director({**SUBTASK, **EVALUATION}, {"content": "then alone"})(TASK)
    assert isinstance(came, TaskResult)
    assert (came.content, came.status) == ("then alone", TaskStatus.COMPLETE)
    assert came.usage is not None
    assert came.usage.requests == 2


class Looking:
    """A model that uses a tool for some answers before it gives its own."""

    def __init__(self, uses: int) -> None:
        self.left = uses
        self.tools: list[str] = []
        self.told = ""

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.tools = [each.name for each in info.function_tools]
        self.told = last_text(messages[-1])
        self.left -= 1
        if self.left >= 0:
            return ModelResponse(parts=[ToolCallPart("read_file", {"path": "a.txt"})])
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"content": self.told})])


async def look(workspace: Path | None, uses: int, *tools: str) -> tuple[Looking, Any]:
    model = Looking(uses)
    agent = ModelDirector(model=FunctionModel(model), workspace=workspace)
    return model, await agent(RoleTask("director", 1, "Write it", tools=tools))


async def test_a_model_has_the_tools_of_its_definition_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("what is there")
    model, came = await look(tmp_path, 1, "read_file", "search")
    assert sorted(model.tools) == ["read_file", "search"]
    assert isinstance(came, TaskResult)
    assert came.content == "what is there"
    assert came.usage is not None
    assert (came.usage.requests, came.usage.tool_calls) == (2, 1)
    model, _ = await look(tmp_path, 0)
    assert model.tools == []


async def test_tools_need_a_workspace() -> None:
    _, came = await look(None, 0, "read_file")
    assert isinstance(came, Trouble)
    assert came.message == "there is no workspace for the tools read_file"


async def test_a_model_that_only_uses_tools_is_out_of_turns(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("what is there")
    _, came = await look(tmp_path, 1000, "read_file")
    assert isinstance(came, Exhausted)
    assert (came.resource, came.used, came.limit) == ("turns", MAX_REQUESTS + 1, MAX_REQUESTS)
    assert came.usage is not None
    assert came.usage.requests == MAX_REQUESTS


async def test_an_answer_that_is_too_long_is_output_exhaustion() -> None:
    def cut(_: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        call = ToolCallPart(info.output_tools[0].name, {"content": "and so on"})
        return ModelResponse(parts=[call], finish_reason="length")

    came = await ModelDirector(model=FunctionModel(cut))(TASK)
    assert isinstance(came, Exhausted)
    assert came.resource == "output"
    assert "cut off at the output limit" in came.message
