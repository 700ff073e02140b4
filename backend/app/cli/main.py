"""The entry point of `phaserunner`: finds the command, runs it, and returns an exit code.

Commands are named here by import path, so that only the called one is imported.
"""

import asyncio
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TextIO, cast

from cyclopts import App, CycloptsError, Group, Parameter, UnknownCommandError, UnusedCliTokensError

from app.cli.exits import STANDARD_STREAM, CliError, ExitCode
from app.cli.help_pages import HelpPages
from app.cli.importing import quick_imports
from app.cli.view.text import one_line
from app.core.errors import PhaseRunnerError

if TYPE_CHECKING:
    from app.cli.root import Root

_BROKEN_PIPE = 141  # a shell's exit code for a program that SIGPIPE ended
_JUDGES = frozenset({"evaluate", "hook", "init", "mcp"})

_COMMANDS: Mapping[str, Sequence[tuple[str, str, str]]] = {
    # By heading of the help: import path, name, description.
    "Start and watch runs": (
        ("run:run", "run", "Start a sprint and watch it."),
        ("loop:loop", "loop", "Start a director-evaluator loop and watch it."),
        ("answer:answer", "answer", "Answer a question from evidence, and check the answer."),
        ("backlog:app", "backlog", "Queue work to start later, in order and within limits."),
        ("watch:watch", "watch", "Watch a run until it ends or needs a person."),
        ("runs:list_runs", "list", "List runs, newest first."),
        ("runs:show_run", "show", "Show a run: phases, attempts, evidence of failures."),
        ("watch:logs", "logs", "Show the events of a run."),
        ("diff:diff", "diff", "Show what an attempt changed."),
        ("result:result", "result", "Show a result, or export it as a branch or patch."),
    ),
    "Decide and intervene": (
        ("escalations:app", "escalations", "List, show and resolve what waits for a person."),
        ("known_failures:app", "known-failures", "List tests that may fail at the base; remove some."),
        ("mark:mark", "mark", "Mark a verdict as right or wrong."),
        ("say:say", "say", "Send a message to the agent of a run."),
        ("holding:pause", "pause", "Pause a run. The interrupted attempt does not count."),
        ("holding:resume", "resume", "Resume a paused run."),
        ("holding:fork", "fork", "Start a new sprint from an attempt of another one."),
        ("runs:cancel_run", "cancel", "Cancel a run. Its work so far is kept."),
    ),
    "Judge a directory, without a service": (
        ("evaluate:evaluate", "evaluate", "Evaluate a directory as a sprint would."),
        ("init:init", "init", "Try a project's gates and write phaserunner.toml."),
        ("hook:hook", "hook", "Evaluate when an agent stops or a branch is pushed."),
        ("mcp:mcp", "mcp", "Serve tools for agents (Model Context Protocol)."),
        ("project:schema", "schema", "Print the JSON Schema of phaserunner.toml."),
    ),
    "Agents and evaluators": (
        ("agents:app", "agents", "List agents and what they lack; check one."),
        ("scripted_model:scripted_model", "scripted-model", "Let a script play a model, to try agents."),
        ("evaluators:app", "evaluators", "List evaluators; measure them on labelled cases."),
    ),
    "Measure": (
        ("metrics:metrics", "metrics", "Measure runs: pass@k, retries, evaluators, cost."),
        ("usage:usage", "usage", "Show what a run consumed, and its budgets."),
        ("observe:app", "observe", "Report what observed gates would have blocked."),
    ),
    "Run the service": (
        ("hosting:up", "up", "Start the service and run a sprint or the examples."),
        ("hosting:serve", "serve", "Run the API and a worker."),
        ("hosting:worker", "worker", "Run only a worker."),
        ("doctor:doctor", "doctor", "Check what PhaseRunner needs, and how to fix it."),
        ("tokens:app", "tokens", "Create, list and revoke API tokens."),
        ("webhooks:app", "webhooks", "List webhook deliveries, and retry one."),
        ("notify:app", "notify", "List receivers of notifications; send a test."),
        ("housekeeping:housekeeping", "housekeeping", "Show what retention deletes; --apply deletes it."),
    ),
}


def main() -> None:
    """Run the command line of this process."""
    prepare()
    _replace_closed_streams()
    sys.exit(run(sys.argv[1:], _read_root, sys.stderr))


def _replace_closed_streams() -> None:
    """Lose output to a stream that the caller closed, as was meant. Python has none for these."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open until the end


def prepare() -> None:
    """Set options that libraries read when they are imported."""
    # Otherwise the first pydantic model searches all installed packages for plug-ins and imports the tracing
    # library's, which takes longer than all else. It is no setting, because it must be set before pydantic is
    # imported.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # noqa: TID251 - read by pydantic at import
    # httpx would import its own command line with a syntax highlighter. It works without if that import
    # fails.
    sys.modules.setdefault("httpx._main", cast("ModuleType", None))


def run(arguments: Sequence[str], read_root: "Callable[[Path | None], Root]", stderr: TextIO) -> int:
    """Run one command line.

    Args:
        arguments: without the program's name.
        read_root: returns the process's settings and streams; called when a command is known, with the
            project that it judges.
        stderr: receives an error, in one line.

    Returns:
        The exit code.
    """
    try:
        return _run(arguments, read_root)
    except CycloptsError as error:
        message, code = _usage(error), ExitCode.USAGE
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return _hang_up()
    except SystemExit as error:
        # The library that prints the help ends the process by itself.
        if isinstance(error.__context__, BrokenPipeError):
            return _BROKEN_PIPE
        raise
    except Exception as error:  # noqa: BLE001 - the edge of the process: no traceback in a terminal
        message, code = explain(error)
    stderr.write(f"phaserunner: {message}\n")
    return code


def build_app() -> App:
    """Return the app with all commands, none of them imported yet."""
    app = App(
        name="phaserunner",
        help="Runs coding agents unattended and lets only good work through.",
        help_epilogue="Help for a command: phaserunner COMMAND --help",
        help_format="plaintext",
        help_formatter=HelpPages(),
        default_parameter=Parameter(negative_iterable=()),
        version=_version,
    )
    for number, (heading, commands) in enumerate(_COMMANDS.items()):
        group = Group(heading, sort_key=number)
        for place, (path, name, what) in enumerate(commands):
            app.command(f"{__package__}.commands.{path}", name=name, help=what, sort_key=place, group=group)
    options = Group("Options", sort_key=len(_COMMANDS))
    app.command(_print_version, name="version", group=options)
    app.command(
        f"{__package__}.commands.completion:completion",
        name="completion",
        help="Print a script that completes commands in a shell.",
        group=options,
    )
    for flag in ("--help", "--version"):
        app[flag].group = options
    return app


def explain(error: BaseException) -> tuple[str, ExitCode]:
    """Return one line and an exit code for any error."""
    error = _innermost(error)
    if isinstance(error, CliError):
        return one_line(error.message, 2000), error.code
    if isinstance(error, PhaseRunnerError):
        named = f"{error.field}: {error.detail}" if error.field else error.detail
        return one_line(named, 2000), ExitCode.INFRASTRUCTURE if error.status >= 500 else ExitCode.USAGE
    where = ""
    trace = error.__traceback__
    while trace is not None:
        where = f" ({os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno})"
        trace = trace.tb_next
    text = f"unexpected {type(error).__name__}: {error}{where}; please report it"
    return one_line(text, 2000), ExitCode.INFRASTRUCTURE


def _run(arguments: Sequence[str], read_root: "Callable[[Path | None], Root]") -> int:
    _require_utf8(arguments)
    with quick_imports():
        command, bound, injected = build_app().parse_args(
            list(map(_spelt_for_parser, arguments)), exit_on_error=False, print_error=False
        )
        if "root" in injected:
            bound.arguments["root"] = read_root(_judged_by(command, bound))
    code = _call(command, bound)
    sys.stdout.flush()
    return code


def _require_utf8(arguments: Sequence[str]) -> None:
    """Refuse bytes that are not UTF-8, which no request could carry. The directory of a hook may have them.

    Raises:
        CliError: there is such an argument. The message names its place.
    """
    if arguments[:1] == ["hook"]:
        return
    for number, each in enumerate(arguments, 1):
        if any("\ud800" <= character <= "\udfff" for character in each):
            before = arguments[number - 2] if number > 1 else ""
            name = each.partition("=")[0] if each.startswith("--") else before
            named = f" ({one_line(name)})" if name.startswith("--") else ""
            raise CliError(f"argument {number}{named}: is not UTF-8")


def _spelt_for_parser(argument: str) -> str:
    """Return an argument in the form that the parser does not take for an option: `-` and `--name=-`."""
    if argument == "-":
        return STANDARD_STREAM
    name, equals, value = argument.partition("=")
    return f"{name}={STANDARD_STREAM}" if equals and value == "-" and name.startswith("--") else argument


def _judged_by(command: Callable[..., Any], bound: inspect.BoundArguments) -> Path | None:
    """Return the project that a command judges, or None. Agents of MCP mostly judge the current directory."""
    return bound.arguments.get("path", Path()) if command.__name__ in _JUDGES else None


def _call(command: Callable[..., Any], bound: inspect.BoundArguments) -> int:
    if inspect.iscoroutinefunction(command):
        result = asyncio.run(command(*bound.args, **bound.kwargs))
    else:
        result = command(*bound.args, **bound.kwargs)
    return result if isinstance(result, int) else ExitCode.PASSED


def _innermost(error: BaseException) -> BaseException:
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return _innermost(group.exceptions[0])
    return error


def _usage(error: CycloptsError) -> str:
    if not isinstance(error, UnknownCommandError | UnusedCliTokensError) or not error.unused_tokens:
        return one_line(str(error), 1000)
    # The library's own message would import every command, or is about tokens.
    given = error.unused_tokens[0]
    names = [name for name in error.app or () if not name.startswith("-")]
    near = get_close_matches(given, names, 1)
    if isinstance(error, UnusedCliTokensError) and not names:
        return one_line(f"{given!r} is one argument too many", 1000)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    return one_line(f"{given!r} is not a command; {hint}", 1000)


def _hang_up() -> int:
    # The reader is gone, as in `phaserunner logs ID | head`. Otherwise Python would complain again at its
    # last flush.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _BROKEN_PIPE


def _read_root(judged: Path | None) -> "Root":
    # Settings and HTTP take most of the start-up time. Help and usage errors do not need them.
    from app.cli.root import read_root  # noqa: PLC0415 - only when the program runs: the tree imports every command

    return read_root(judged)


def _version() -> str:
    return version("phaserunner")


def _print_version() -> None:
    """Print the version."""
    sys.stdout.write(f"{_version()}\n")


if __name__ == "__main__":
    main()
