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
from app.agents.stuck import CallCounter


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


def _claude_calls(number: int) -> list[object]:
    given = {"command": "cd workspace && python - <<'EOF'" + " " * 200 + str(number)}
    called = {"type": "tool_use", "id": str(number), "name": "Bash", "input": given}
    result = {"type": "tool_result", "tool_use_id": str(number), "content": ""}
    return [
        {"type": "assistant", "message": {"content": [called]}},
        {"type": "user", "message": {"content": [result]}},
    ]


def _codex_patches(number: int, status: str = "completed") -> list[object]:
    changes = [{"kind": "update", "path": "a.py"}]
    item = {"id": f"item_{number}", "type": "file_change", "changes": changes, "status": status}
    return [{"type": "item.completed", "item": item}]


@pytest.mark.parametrize(
    ("output", "lines", "is_stuck"),
    [
        pytest.param(
            OutputFormat.CLAUDE, [_claude_calls(each) for each in range(9)], False, id="ends differ"
        ),
        pytest.param(OutputFormat.CLAUDE, [_claude_calls(1)] * 9, True, id="the same"),
        pytest.param(OutputFormat.CODEX, [_codex_patches(each) for each in range(9)], False, id="patches"),
        pytest.param(
            OutputFormat.CODEX,
            [_codex_patches(each, "failed") for each in range(9)],
            True,
            id="failed patches",
        ),
    ],
)
def test_calls_that_only_look_the_same_are_no_circle(
    output: OutputFormat, lines: list[list[object]], is_stuck: bool
) -> None:
    counter, found = CallCounter(8), None
    for event in read(output, *(line for some in lines for line in some)):
        match event:
            case ToolCalled(tool, text, exact):
                counter.call(tool, text, exact)
            case ToolReturned(tool, text, exact):
                found = counter.result(tool, exact or text) or found
            case _:
                pass
    assert (found is not None) == is_stuck


@pytest.mark.parametrize("output", [OutputFormat.CLAUDE, OutputFormat.CODEX])
@pytest.mark.parametrize(
    "line", ["{not json", '{"type": 5}', "{}", '{"type": "item.completed", "item": []}', "[1]", "{" * 5000]
)
def test_what_cannot_be_read_is_no_end(output: OutputFormat, line: str) -> None:
    assert not [each for each in read(output, line) if isinstance(each, AgentFinished | Failed)]


def test_text_is_given_without_colours() -> None:
    assert read(OutputFormat.TEXT, "\x1b[31mred\x1b[0m", "   ") == [AgentSaid("red")]
