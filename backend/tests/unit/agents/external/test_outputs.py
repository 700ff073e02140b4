"""What claude and codex print, line by line."""

import json

import pytest

from app.agents.external.events import (
    AgentEvent,
    AgentFinished,
    AgentSaid,
    Failed,
    SessionBegan,
    ToolCalled,
    ToolReturned,
)
from app.agents.external.outputs import parser_for
from app.agents.external.profile import OutputFormat


def read(output: OutputFormat, *lines: object) -> list[AgentEvent]:
    parser = parser_for(output)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return [event for text in texts for event in parser.take(text + "\n")]


def test_claude_from_start_to_end() -> None:
    told = read(
        OutputFormat.CLAUDE,
        {"type": "system", "subtype": "init", "session_id": "s"},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "I write."}]}},
        {
            "type": "assistant",
            "message": {
                "content": [{"type": "tool_use", "id": "1", "name": "Write", "input": {"path": "a"}}]
            },
        },
        {
            "type": "user",
            "message": {"content": [{"type": "tool_result", "tool_use_id": "1", "content": "ok"}]},
        },
        {"type": "result", "subtype": "success", "is_error": False, "result": "Done."},
    )
    assert told == [
        SessionBegan("s"),
        AgentSaid("I write."),
        ToolCalled("Write", "path='a'"),
        ToolReturned("Write", "ok"),
        AgentFinished("Done."),
    ]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param({"type": "result", "subtype": "success", "is_error": True, "result": "401"}, id="flag"),
        pytest.param({"type": "result", "subtype": "error_during_execution", "result": "401"}, id="subtype"),
    ],
)
def test_claude_that_failed_though_it_says_success(line: object) -> None:
    assert read(OutputFormat.CLAUDE, line) == [Failed("401")]


def test_codex_from_start_to_end() -> None:
    command = {"id": "1", "type": "command_execution", "command": "ls"}
    told = read(
        OutputFormat.CODEX,
        {"type": "thread.started", "thread_id": "t"},
        {"type": "error", "message": "Reconnecting... 1/5"},
        {"type": "item.started", "item": command},
        {"type": "item.completed", "item": {**command, "aggregated_output": "a\n", "exit_code": 2}},
        {
            "type": "item.completed",
            "item": {"type": "file_change", "changes": [{"kind": "add", "path": "b"}], "status": "completed"},
        },
        {"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}},
        {"type": "turn.completed"},
    )
    assert told == [
        SessionBegan("t"),
        AgentSaid("Reconnecting... 1/5"),
        ToolCalled("command", "ls"),
        ToolReturned("command", "a\nexit status 2"),
        ToolCalled("file_change", "add b"),
        ToolReturned("file_change", "completed"),
        AgentSaid("Done."),
        AgentFinished(),
    ]


@pytest.mark.parametrize("output", [OutputFormat.CLAUDE, OutputFormat.CODEX])
@pytest.mark.parametrize(
    "line", ["{not json", '{"type": 5}', "{}", '{"type": "item.completed", "item": []}', "[1]", "{" * 5000]
)
def test_what_cannot_be_read_is_no_end(output: OutputFormat, line: str) -> None:
    assert not [each for each in read(output, line) if isinstance(each, AgentFinished | Failed)]


def test_text_is_given_without_colours() -> None:
    assert read(OutputFormat.TEXT, "\x1b[31mred\x1b[0m", "   ") == [AgentSaid("red")]
