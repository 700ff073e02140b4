"""The scripted model's turns, and how a tool call adapts to the tools that an agent offers."""

import posixpath
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

DONE = "Done. This answer is scripted; no model was asked."

_SHELLS = (
    "bash",
    "shell",
    "shell_command",
    "run_shell_command",
    "exec_command",
    "execute_command",
    "run_command",
    "run_terminal_cmd",
    "terminal",
)
_WRITERS = ("write", "write_file", "create_file")
_FILLERS: Mapping[str, Any] = {"boolean": False, "integer": 0, "number": 0, "array": [], "object": {}}


@dataclass(frozen=True, slots=True)
class Argument:
    """A JSON value for the first of these names that a tool knows."""

    names: tuple[str, ...]
    value: Any


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A way to call a tool: the names it may have, in lower case, and its arguments."""

    names: tuple[str, ...]
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Say:
    """A turn with a text."""

    text: str = DONE


@dataclass(frozen=True, slots=True)
class CallTool:
    """A turn that calls a tool.

    Attributes:
        uses: possible calls; the first that fits the offered tools is used.
        otherwise: the text if no tool fits.
    """

    uses: tuple[ToolUse, ...]
    otherwise: str = DONE


Turn = Say | CallTool


def run_shell(command: str, otherwise: str = DONE) -> CallTool:
    """Return a turn that runs a command in the agent's shell tool, whatever its name."""
    return CallTool((_shell(command),), otherwise)


def write_file(path: str, content: str) -> CallTool:
    """Return a turn that writes a file below the agent's directory.

    The shell is tried first, because tools that write files often need absolute paths. An agent without tools
    gets the file as text, in an edit block that replaces nothing with its content.
    """
    # Some agents refuse commands with command substitution.
    directory = shlex.quote(posixpath.dirname(path) or ".")
    command = f"mkdir -p {directory} && printf %s {shlex.quote(content)} > {shlex.quote(path)}"
    writing = ToolUse(
        _WRITERS,
        (
            Argument(("file_path", "filePath", "absolute_path", "path"), path),
            Argument(("content", "contents", "text"), content),
        ),
    )
    block = f"<<<<<<< SEARCH\n=======\n{content.rstrip()}\n>>>>>>> REPLACE"
    return CallTool((_shell(command), writing), f"{path}\n```\n{block}\n```\n")


def call_tool(name: str, /, **arguments: Any) -> CallTool:
    """Return a turn that calls one tool by its name, such as the tool that accepts a structured answer."""
    given = tuple(Argument((key,), value) for key, value in arguments.items())
    return CallTool((ToolUse((name.lower(),), given),))


def _shell(command: str) -> ToolUse:
    return ToolUse(_SHELLS, (Argument(("command", "cmd", "script"), command),))


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that an agent offers, with the JSON Schema of its arguments."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Spoken:
    """The model's output in one turn: a text, or one tool call."""

    text: str = ""
    tool: str | None = None
    arguments: Mapping[str, Any] | None = None


def speak(turn: Turn, tools: Sequence[OfferedTool]) -> Spoken:
    """Return the output of a turn for the offered tools."""
    if isinstance(turn, Say):
        return Spoken(turn.text)
    for use in turn.uses:
        for tool in tools:
            if tool.name.lower() in use.names:
                return Spoken(tool=tool.name, arguments=_fill(use, tool.schema))
    return Spoken(turn.otherwise)


def _fill(use: ToolUse, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    known = _mapping(schema.get("properties"))
    filled: dict[str, Any] = {}
    for argument in use.arguments:
        name = next((each for each in argument.names if each in known), argument.names[0])
        value: Any = argument.value
        # Some shell tools take a list of words.
        is_list = isinstance(value, str) and _mapping(known.get(name)).get("type") == "array"
        filled[name] = ["bash", "-c", value] if is_list else value
    required: object = schema.get("required")
    for name in cast("list[object]", required) if isinstance(required, list) else ():
        if isinstance(name, str) and name not in filled:
            filled[name] = _filler(_mapping(known.get(name)))
    return filled


def _filler(schema: Mapping[str, Any]) -> Any:
    choices: object = schema.get("enum")
    if isinstance(choices, list) and choices:
        return cast("list[object]", choices)[0]
    kind: object = schema.get("type")
    return _FILLERS.get(kind, "scripted") if isinstance(kind, str) else "scripted"


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
