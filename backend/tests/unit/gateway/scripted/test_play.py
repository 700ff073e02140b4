"""The script of a sprint as a model: the prompts that agents send name phase and attempt."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from app.agents.gateway_port import Dialect
from app.gateway.scripted.conversation import ConversationLine, Speaker, read_conversation, turns_of
from app.gateway.scripted.play import ScriptPlayer
from app.gateway.scripted.requests import ScriptedRequest, read_request
from app.gateway.scripted.script import CallTool, OfferedTool, Say, Turn, speak
from app.runners.prompts.sprint import base_prompt, optimized_prompt
from app.schemas.agent_script import AgentScript
from app.schemas.runs import Phase

SHELL = OfferedTool("bash", {"properties": {"command": {"type": "string"}}})
WRITE = {"kind": "write", "path": "a/b.py", "content": "it's 100% \\n\n"}
REPLACE = {"kind": "replace", "path": "a/b.py", "old": "it's", "new": "it 'is'"}
SCRIPT = AgentScript.model_validate(
    {
        "title": "Tea",
        "phases": {
            "discovery": [{"say": "Discovery Complete"}],
            "coding": [
                {"say": "First", "edits": [WRITE, REPLACE]},
                {"say": "Second", "expects": ["F401"], "edits": [{"kind": "delete", "path": "a/b.py"}]},
            ],
        },
    }
)


def retry_prompt(attempt: int, *fixes: str) -> str:
    """The prompt of a later attempt."""
    return optimized_prompt(
        task=base_prompt(Phase.CODING, "Tea"),
        summary="",
        fixes=fixes,
        recurring=[],
        attempt=attempt,
        max_attempts=3,
    )


def asked(*lines: ConversationLine) -> ScriptedRequest:
    """A request with a conversation."""
    return ScriptedRequest(
        Dialect.OPENAI_CHAT,
        "m",
        streams=False,
        wants_usage=False,
        as_events=True,
        tools=(SHELL,),
        lines=lines,
    )


def user(text: str) -> ConversationLine:
    """Words of the user."""
    return ConversationLine(Speaker.USER, text)


MODEL, TOOL = ConversationLine(Speaker.MODEL), ConversationLine(Speaker.OTHER, "done")
FIRST = user(f"<context>\n{base_prompt(Phase.CODING, 'Tea')}")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        pytest.param([FIRST, MODEL, TOOL, MODEL, TOOL], "First", id="after the last edit"),
        pytest.param([user(base_prompt(Phase.DISCOVERY, "Tea"))], "Discovery Complete", id="another phase"),
        pytest.param(
            [user(base_prompt(Phase.VERIFICATION, "Tea"))],
            "The script has no steps for the phase verification.",
            id="a phase that the script lacks",
        ),
        pytest.param(
            [user(retry_prompt(2, "E501"))],
            "The prompt does not contain 'F401', so nothing is edited.",
            id="the feedback is missing",
        ),
        pytest.param([user("Give this a title: Tea")], Say().text, id="no prompt of a phase"),
        pytest.param([], Say().text, id="nothing"),
    ],
)
def test_words(lines: list[ConversationLine], said: str) -> None:
    assert ScriptPlayer(SCRIPT)(asked(*lines)) == Say(said)


@pytest.mark.parametrize("phase", list(Phase))
def test_every_phase_is_found_in_its_prompt(phase: Phase) -> None:
    script = AgentScript.model_validate({"title": "t", "phases": {phase: [{"say": f"This is {phase}"}]}})
    assert ScriptPlayer(script)(asked(user(base_prompt(phase, "Tea")))) == Say(f"This is {phase}")


def test_the_edits_are_made_by_commands(tmp_path: Path) -> None:
    play, file = ScriptPlayer(SCRIPT), tmp_path / "a" / "b.py"

    def carry_out(turn: Turn) -> None:
        assert isinstance(turn, CallTool)
        command = dict(speak(turn, [SHELL]).arguments or {})["command"]
        subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)

    carry_out(play(asked(FIRST)))
    assert file.read_text() == "it's 100% \\n\n"
    carry_out(play(asked(FIRST, MODEL, TOOL)))
    assert file.read_text() == "it 'is' 100% \\n\n"
    # A second prompt in the same conversation counts its turns anew.
    carry_out(play(asked(FIRST, MODEL, TOOL, MODEL, TOOL, MODEL, user(retry_prompt(2, "F401")))))
    assert not file.exists()


USER, ANSWER, RESULT = "user", "model", "other"


@pytest.mark.parametrize(
    ("path", "body", "speakers"),
    [
        pytest.param(
            "/v1/chat/completions",
            {
                "messages": [
                    {"role": "system", "content": "Be good."},
                    {"role": "user", "content": [{"type": "text", "text": "Work."}]},
                    {"role": "assistant", "tool_calls": []},
                    {"role": "tool", "content": "ok"},
                ]
            },
            [RESULT, USER, ANSWER, RESULT],
            id="chat",
        ),
        pytest.param(
            "/v1/responses",
            {
                "input": [
                    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Work."}]},
                    {"type": "reasoning"},
                    {"type": "function_call"},
                    {"type": "function_call_output", "output": "ok"},
                ]
            },
            [USER, ANSWER, ANSWER, RESULT],
            id="responses",
        ),
        pytest.param("/v1/responses", {"input": "Work."}, [USER], id="responses, only words"),
        pytest.param(
            "/v1/messages",
            {
                "messages": [
                    {"role": "user", "content": "Work."},
                    {"role": "assistant", "content": [{"type": "tool_use"}]},
                    {"role": "user", "content": [{"type": "tool_result", "content": "ok"}]},
                ]
            },
            [USER, ANSWER, RESULT],
            id="anthropic",
        ),
        pytest.param(
            "/v1beta/models/m:generateContent",
            {
                "contents": [
                    {"role": "user", "parts": [{"text": "Work."}]},
                    {"role": "model", "parts": [{"functionCall": {}}]},
                    {"role": "user", "parts": [{"functionResponse": {}}]},
                ]
            },
            [USER, ANSWER, RESULT],
            id="gemini",
        ),
        pytest.param("/v1/messages", {"messages": [3, {"content": {"x": 1}}]}, [RESULT, RESULT], id="broken"),
        pytest.param("/v1/messages", {"messages": "x"}, [USER], id="no list"),
    ],
)
def test_conversations(path: str, body: dict[str, Any], speakers: list[str]) -> None:
    request = read_request(path, "", body)
    assert request is not None
    assert [each.speaker for each in request.lines] == speakers
    assert request.turns == int(ANSWER in speakers)


def test_entries_in_a_row_are_one_turn() -> None:
    body = {
        "messages": [{"role": "assistant"}, {"role": "assistant"}, {"role": "tool"}, {"role": "assistant"}]
    }
    assert turns_of(read_conversation(Dialect.OPENAI_CHAT, body)) == 2
