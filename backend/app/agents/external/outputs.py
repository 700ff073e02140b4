"""Reads the output of commands at work: one parser for each format, all without I/O."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Protocol, cast

from app.agents.external.events import (
    AgentEvent,
    AgentFinished,
    AgentSaid,
    Failed,
    SessionBegan,
    ToolCalled,
    ToolReturned,
)
from app.agents.external.profile import OutputFormat

MAX_ARGUMENT_CHARS = 160
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")

Json = Mapping[str, Any]


class OutputParser(Protocol):
    """Reads one agent's output."""

    @property
    def has_final_event(self) -> bool:
        """True if the format has an event for the end of the work. Otherwise the exit status decides."""
        ...

    def take(self, line: str) -> Iterator[AgentEvent]:
        """Read the next line. Yield its events."""
        ...


class TextParser:
    """Plain text, without a final event."""

    has_final_event = False

    def take(self, line: str) -> Iterator[AgentEvent]:
        """Yield one or more lines of text, without the terminal's escape sequences."""
        text = _ESCAPE.sub("", line).rstrip()
        if text.strip():
            yield AgentSaid(text)


class ClaudeParser:
    """`claude -p --output-format stream-json --verbose`."""

    has_final_event = True

    def __init__(self) -> None:
        self._tools: dict[str, str] = {}

    def take(self, line: str) -> Iterator[AgentEvent]:
        """Read one JSON object. Anything else is text."""
        document = _object(line)
        if document is None:
            yield from TextParser().take(line)
            return
        match document.get("type"):
            case "system" if document.get("session_id"):
                yield SessionBegan(str(document["session_id"]))
            case "assistant" | "user":
                for block in _blocks(document.get("message")):
                    yield from self._block(block)
            case "result":
                yield from _claude_result(document)
            case _:
                pass

    def _block(self, block: Json) -> Iterator[AgentEvent]:
        match block.get("type"):
            case "text":
                yield AgentSaid(_text(block.get("text")))
            case "tool_use":
                name = _text(block.get("name"))
                self._tools[_text(block.get("id"))] = name
                given: object = block.get("input")
                yield ToolCalled(name, describe_arguments(given), exact=exact_arguments(given))
            case "tool_result":
                name = self._tools.pop(_text(block.get("tool_use_id")), "tool")
                yield ToolReturned(name, _content(block.get("content")))
            case _:
                pass


class CodexParser:
    """`codex exec --json`."""

    has_final_event = True

    def take(self, line: str) -> Iterator[AgentEvent]:
        """Read one JSON object. Anything else is text."""
        document = _object(line)
        if document is None:
            yield from TextParser().take(line)
            return
        match document.get("type"):
            case "thread.started":
                yield SessionBegan(_text(document.get("thread_id")))
            case "item.started" | "item.completed" as kind:
                yield from _codex_item(_mapping(document.get("item")), ended=kind == "item.completed")
            case "turn.completed":
                yield AgentFinished()
            case "turn.failed":
                yield Failed(_text(_mapping(document.get("error")).get("message")))
            case "error":
                # The agent reports each reconnection in this way, so it is no end.
                yield AgentSaid(_text(document.get("message")))
            case _:
                pass


_PARSERS: Mapping[OutputFormat, Callable[[], OutputParser]] = MappingProxyType(
    {
        OutputFormat.TEXT: TextParser,
        OutputFormat.CLAUDE: ClaudeParser,
        OutputFormat.CODEX: CodexParser,
    }
)


def parser_for(output: OutputFormat) -> OutputParser:
    """Return the parser of a format."""
    return _PARSERS[output]()


_TELLING = ("command", "cmd")


def describe_arguments(arguments: object) -> str:
    """Return a tool's arguments in one short line."""
    if not isinstance(arguments, Mapping):
        return "" if arguments is None else clip(str(arguments), MAX_ARGUMENT_CHARS)
    # A command is more informative than its working directory.
    named = dict(sorted(cast("Json", arguments).items(), key=lambda item: item[0] not in _TELLING))
    return ", ".join(f"{name}={clip(str(value), MAX_ARGUMENT_CHARS)!r}" for name, value in named.items())


def exact_arguments(arguments: object) -> str:
    """Return all of a tool's arguments, to tell calls apart that look the same when they are cut."""
    return "" if arguments is None else json.dumps(arguments, sort_keys=True, default=str)


def clip(text: str, limit: int) -> str:
    """Return at most `limit` characters, with a mark if some are left out."""
    return text if len(text) <= limit else text[: limit - 2] + " …"


def _codex_item(item: Json, *, ended: bool) -> Iterator[AgentEvent]:
    kind = _text(item.get("type"))
    match kind:
        case "agent_message" if ended:
            yield AgentSaid(_text(item.get("text")))
        case "error" if ended:
            yield AgentSaid(_text(item.get("message")))
        case "command_execution":
            command = _text(item.get("command"))
            called = ToolCalled("command", clip(command, 1_000), exact=command)
            yield ToolReturned("command", _codex_result(item)) if ended else called
        case "file_change" if ended:
            changes = [_mapping(each) for each in _list(item.get("changes"))]
            told = ", ".join(f"{_text(each.get('kind'))} {_text(each.get('path'))}" for each in changes)
            status = _text(item.get("status"))
            # The item does not show the change, so only its number tells two successful changes apart.
            exact = _text(item.get("id")) if status == "completed" else ""
            yield ToolCalled("file_change", told, exact=exact)
            yield ToolReturned("file_change", status)
        case "mcp_tool_call" | "web_search" if not ended:
            told = _text(item.get("query")) or describe_arguments(item.get("arguments"))
            exact = exact_arguments(item.get("arguments"))
            yield ToolCalled(_text(item.get("tool")) or kind, told, exact=exact)
        case _:
            pass


def _codex_result(item: Json) -> str:
    output = _text(item.get("aggregated_output")).strip()
    status = item.get("exit_code")
    return f"{output}\nexit status {status}".strip() if status else output


def _claude_result(document: Json) -> Iterator[AgentEvent]:
    told = _text(document.get("result"))
    # A failed turn has the subtype `success`, too. Only the flag says how it ended.
    if document.get("is_error") or document.get("subtype") != "success":
        yield Failed(told or _text(document.get("subtype")))
    else:
        yield AgentFinished(told)


def _object(line: str) -> Json | None:
    if not line.startswith("{"):
        return None
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast("Json", document) if isinstance(document, dict) else None


def _blocks(message: object) -> list[Json]:
    content = _mapping(message).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [_mapping(each) for each in _list(content)]


def _content(content: object) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(_text(_mapping(each).get("text")) for each in _list(content)).strip()


def _mapping(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
