"""The agent with a model, on models that are functions."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.exceptions import (
    ModelHTTPError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelRateLimitError,
    UnexpectedModelBehavior,
)
from pydantic_ai.messages import FinishReason, ModelMessage, ModelRequest
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel

from app.agents.built_in.agent import INSTRUCTIONS, PydanticAiAgent
from app.agents.models.providers import MissingKeyError
from app.agents.port import (
    AgentFailure,
    AgentLimits,
    AgentOutcome,
    AgentResult,
    AgentTask,
    FailureKind,
    ProgressKind,
)
from app.agents.stuck import StuckLimits
from app.workspaces.process import run_process
from tests.agent_fakes import Listener, Said, SpokenModel
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

NAME = "test:model"


async def work(
    model: Model | Callable[[str], Model], workspace: Path, limits: AgentLimits | None = None, /, **task: Any
) -> tuple[AgentOutcome, Listener]:
    listener = Listener()
    build = model if not isinstance(model, Model) else lambda name: model
    agent = PydanticAiAgent(NAME, build, run_process, Path(sys.executable), retry_pause=0.0)
    limits = limits or AgentLimits(seconds=PATIENCE)
    return await agent.run(AgentTask("coding", 1, "Do it", workspace, limits, **task), listener), listener


LIST, READ = ("list_files", "{}"), ("read_file", '{"path": "a.py"}')
ONE, TWO = (("write_file", f'{{"path": "a.py", "content": "x = {digit}"}}') for digit in "12")


@pytest.mark.parametrize(
    ("limits", "answers", "told"),
    [
        pytest.param(
            StuckLimits(same_calls=3),
            [LIST],
            "pydantic-ai is stuck: it called list_files ({}) 3 times in a row with the same result",
            id="the same call",
        ),
        pytest.param(
            StuckLimits(same_calls=2),
            [LIST, READ, LIST, READ, "Done."],
            "pydantic-ai is stuck: it called list_files ({}) and read_file",
            id="two calls in turn",
        ),
        pytest.param(
            StuckLimits(same_calls=None, unchanged_seconds=1e-6),
            [LIST],
            "pydantic-ai is stuck: it changed no file for 1e-06 s",
            id="no file changed",
        ),
    ],
)
async def test_an_agent_that_goes_in_circles_is_ended(
    limits: StuckLimits, answers: list[Said], told: str, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text("x = 0")
    outcome, _ = await work(SpokenModel(*answers), tmp_path, AgentLimits(seconds=PATIENCE, stuck=limits))
    kind, message = failure(outcome)
    assert kind is FailureKind.LIMIT
    assert message.startswith(told)
    assert outcome.usage.requests > 0


@pytest.mark.parametrize(
    ("limits", "answers"),
    [
        pytest.param(StuckLimits(same_calls=2), [LIST, READ, LIST, "Done."], id="another call between"),
        pytest.param(StuckLimits(same_calls=2), [ONE, TWO, ONE, "Done."], id="other arguments"),
        pytest.param(StuckLimits(same_calls=2), [READ, ONE, READ, TWO, READ, "Done."], id="other results"),
        pytest.param(StuckLimits(same_calls=None), [LIST] * 10 + ["Done."], id="switched off"),
    ],
)
async def test_an_agent_that_moves_on_is_not_stuck(
    limits: StuckLimits, answers: list[Said], tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text("x = 0")
    outcome, _ = await work(SpokenModel(*answers), tmp_path, AgentLimits(seconds=PATIENCE, stuck=limits))
    assert isinstance(outcome, AgentResult)


@pytest.mark.parametrize(
    ("phase", "answers", "requests", "nudged"),
    [
        pytest.param("coding", ["Done."], 3, 2, id="never changes a file"),
        pytest.param("coding", ["```write_file a.py```", ONE, "Done."], 3, 1, id="heeds the first"),
        pytest.param("coding", [ONE, "Done."], 2, 0, id="changed a file"),
        pytest.param("verification", ["Done."], 1, 0, id="has nothing to change"),
    ],
)
async def test_an_agent_that_changed_nothing_is_asked_again_at_most_twice(
    phase: str, answers: list[Said], requests: int, nudged: int, tmp_path: Path
) -> None:
    model = SpokenModel(*answers)
    agent = PydanticAiAgent(NAME, lambda _: model, run_process, Path(sys.executable), nudges=2)
    task = AgentTask(phase, 1, "Do it", tmp_path, AgentLimits(seconds=PATIENCE))
    outcome = await agent.run(task, Listener())
    assert isinstance(outcome, AgentResult)
    assert outcome.usage.requests == len(model.asked) == requests
    assert str(model.asked[-1]).count("No file was changed: what you wrote") == nudged


async def test_an_agent_that_goes_on_with_earlier_changes_is_not_asked_for_more(tmp_path: Path) -> None:
    model = SpokenModel("Nothing is left to do.")
    agent = PydanticAiAgent(NAME, lambda _: model, run_process, Path(sys.executable), nudges=2)
    limits = AgentLimits(seconds=PATIENCE)
    outcome = await agent.run(AgentTask("coding", 1, "Do it", tmp_path, limits, has_work=True), Listener())
    assert isinstance(outcome, AgentResult)
    assert len(model.asked) == 1


def failure(outcome: AgentOutcome) -> tuple[FailureKind, str]:
    assert isinstance(outcome, AgentFailure)
    return outcome.kind, outcome.message


async def test_works_with_its_tools_and_reports(tmp_path: Path) -> None:
    model = SpokenModel(
        ("write_file", '{"path": "a.py", "content": "x = 1"}'),
        ("edit_file", '{"path": "a.py", "old": "1", "new": "2"}'),
        ("read_file", '{"path": "a.py"}'),
        ("list_files", "{}"),
        "I set x to 2.\nCoding Complete",
    )
    outcome, listener = await work(model, tmp_path)
    assert isinstance(outcome, AgentResult)
    assert outcome.output == "I set x to 2.\nCoding Complete"
    assert outcome.model == NAME
    assert (outcome.usage.requests, outcome.usage.tool_calls) == (5, 4)
    assert outcome.usage.total_tokens > 0
    assert outcome.usage.cost_usd is None
    assert (tmp_path / "a.py").read_text() == "x = 2"
    assert listener.texts(ProgressKind.TEXT) == ["I set x to 2.", "Coding Complete"]
    assert listener.texts(ProgressKind.TOOL_CALL)[0] == "path='a.py', content='x = 1'"
    assert listener.texts(ProgressKind.TOOL_RESULT) == ["created a.py", "edited a.py", "x = 2", "a.py"]
    assert outcome.transcript[0]["kind"] == "request"


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(("read_file", '{"path": "../../etc/passwd"}'), id="a path out of the workspace"),
        pytest.param(("edit_file", '{"path": "a", "old": "", "new": ""}'), id="an impossible edit"),
        pytest.param(("read_file", '{"path": 3, "lines": "all"}'), id="arguments of the wrong type"),
        pytest.param(("read_file", '{"path": '), id="arguments that are no JSON"),
        pytest.param(("shell", '{"command": "ls"}'), id="a tool that does not exist"),
    ],
)
async def test_mistakes_are_told_to_the_model(call: Said, tmp_path: Path) -> None:
    outcome, listener = await work(SpokenModel(call, "Sorry, done."), tmp_path)
    assert isinstance(outcome, AgentResult)
    assert listener.texts(ProgressKind.TOOL_RESULT)


async def test_what_a_person_says_is_part_of_the_next_request(tmp_path: Path) -> None:
    @dataclass
    class OneMessage:
        messages: list[str | None]

        def of(self) -> "OneMessage":
            return self

        async def take(self, *, at_end: bool) -> str | None:
            assert not at_end
            return self.messages.pop(0)

    model = SpokenModel(("list_files", "{}"), "Done.")
    inbox = OneMessage([None, "Keep it small."])
    outcome, _ = await work(model, tmp_path, inbox=inbox)
    assert isinstance(outcome, AgentResult)
    first, second = model.asked
    assert "Keep it small." not in str(first)
    assert "Keep it small." in str(second[-1])


async def test_a_model_that_never_learns_is_a_protocol_failure(tmp_path: Path) -> None:
    outcome, _ = await work(SpokenModel(("shell", "{}")), tmp_path)
    kind, message = failure(outcome)
    assert kind is FailureKind.PROTOCOL
    assert "Consider" not in message
    assert outcome.usage.requests > 1


@pytest.mark.parametrize(
    ("ending", "kind"),
    [
        ("length", FailureKind.LIMIT),
        ("content_filter", FailureKind.PROTOCOL),
        ("error", FailureKind.UNAVAILABLE),
        (None, FailureKind.UNAVAILABLE),
    ],
)
async def test_an_answer_that_was_cut_short_is_no_success(
    ending: FinishReason | None, kind: FailureKind, tmp_path: Path
) -> None:
    outcome, _ = await work(SpokenModel("All is well. Coding Complete", ending=ending), tmp_path)
    assert failure(outcome)[0] is kind
    assert outcome.usage.requests == 1


async def test_a_call_of_an_answer_that_broke_off_is_not_carried_out(tmp_path: Path) -> None:
    model = SpokenModel(("write_file", '{"path": "a", "content": "x"}'), "Done", ending=None)
    outcome, _ = await work(model, tmp_path)
    assert failure(outcome)[0] is FailureKind.UNAVAILABLE
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("limits", "told", "setting"),
    [
        pytest.param(
            AgentLimits(seconds=PATIENCE, requests=3),
            "request_limit of 3",
            "(AGENT_MAX_REQUESTS)",
            id="requests",
        ),
        pytest.param(
            AgentLimits(seconds=PATIENCE, total_tokens=60),
            "total_tokens_limit of 60",
            "(AGENT_MAX_TOKENS)",
            id="tokens",
        ),
    ],
)
async def test_limits_hold_and_what_was_used_is_known(
    limits: AgentLimits, told: str, setting: str, tmp_path: Path
) -> None:
    outcome, _ = await work(SpokenModel(("list_files", "{}")), tmp_path, limits)
    kind, message = failure(outcome)
    assert kind is FailureKind.LIMIT
    assert told in message
    assert message.endswith(setting), "the setting that moves this limit, and no other"
    assert outcome.usage.requests > 0
    assert outcome.usage.total_tokens > 0


async def test_the_time_limit_holds(tmp_path: Path) -> None:
    async def never_answers(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        await asyncio.Event().wait()
        yield ""

    model = FunctionModel(stream_function=never_answers)
    outcome, _ = await work(model, tmp_path, AgentLimits(seconds=0.05))
    assert failure(outcome) == (FailureKind.LIMIT, "the time limit is reached (AGENT_TIMEOUT)")


async def test_an_unknown_model_leads_to_the_address(tmp_path: Path) -> None:
    unknown = ModelHTTPError.for_category(ModelNotFoundError, status_code=404, model_name="m")
    outcome, _ = await work(SpokenModel(unknown), tmp_path)
    kind, message = failure(outcome)
    assert kind is FailureKind.CONFIGURATION
    assert message.endswith("usually ends with /v1 (OPENAI_BASE_URL)")


async def test_an_unknown_price_is_no_limit(tmp_path: Path) -> None:
    outcome, _ = await work(SpokenModel("Done"), tmp_path, AgentLimits(seconds=PATIENCE, cost_usd=0.000001))
    assert isinstance(outcome, AgentResult)
    assert outcome.usage.cost_usd is None


async def test_refused_requests_are_repeated_at_most_twice(tmp_path: Path) -> None:
    refusal = ModelHTTPError.for_category(
        ModelRateLimitError, status_code=429, model_name="m", retry_after=0.0
    )
    model = SpokenModel(refusal)
    outcome, _ = await work(model, tmp_path)
    assert failure(outcome)[0] is FailureKind.UNAVAILABLE
    assert len(model.asked) == 3


async def test_a_long_pause_is_left_to_others(tmp_path: Path) -> None:
    refusal = ModelHTTPError.for_category(
        ModelOverloadedError, status_code=529, model_name="m", retry_after=60.0
    )
    model = SpokenModel(refusal)
    outcome, _ = await work(model, tmp_path)
    assert failure(outcome)[0] is FailureKind.UNAVAILABLE
    assert len(model.asked) == 1


async def test_an_unreadable_answer_is_not_asked_for_again(tmp_path: Path) -> None:
    model = SpokenModel(UnexpectedModelBehavior("nonsense"))
    outcome, _ = await work(model, tmp_path)
    assert failure(outcome) == (FailureKind.PROTOCOL, "the model's answer cannot be read: nonsense")
    assert len(model.asked) == 1


async def test_a_missing_key_needs_a_human(tmp_path: Path) -> None:
    def build(name: str) -> Model:
        raise MissingKeyError(f"No key for {name}: set TEST_KEY")

    outcome, _ = await work(build, tmp_path)
    assert failure(outcome) == (FailureKind.CONFIGURATION, f"No key for {NAME}: set TEST_KEY")


async def test_the_task_may_name_the_model_and_the_words(tmp_path: Path) -> None:
    model = SpokenModel("Done")
    names: list[str] = []

    def build(name: str) -> Model:
        names.append(name)
        return model

    outcome, _ = await work(build, tmp_path)
    task, _ = await work(build, tmp_path, model="test:other", system_prompt="Speak like a pirate")
    assert names == [NAME, "test:other"]
    assert (outcome.model, task.model) == (NAME, "test:other")
    instructions = [each[0].instructions for each in model.asked if isinstance(each[0], ModelRequest)]
    assert instructions == [INSTRUCTIONS, "Speak like a pirate"]
