"""Runs pytest and reports through an inherited pipe what happened, record by record.

The task is a JSON file: `tree` (the tree to run), `arguments` (pytest's), `sources` (files that show which
plug-ins are needed), `trusted` (files of the tree that the candidate did not write), `pinned` (modules that
nothing in the tree may replace), `aside` (packages that pytest uses and the project itself holds), `only`
(the test files to run) and `ids` (the tests and functions of these to run); null means all. `watched` names
files whose lines are recorded. `test_seconds` gives the time limit of tests of some functions. `without`
names tests that must not run, and `patience` is how long all may wait before some are left out, or null.
After `seconds` the process is ended, at `ends_at` of the monotonic clock. `niceness` lets other processes go
first. The secret is JSON, too, but comes through a pipe that is empty after reading: `key`, and the canaries
that `begin` and `end` the run.

The records are `start`, then `problem`, `deselected`, `collected`, `foreign`, `skipped`, `canary`, `test`,
`left_out`, `replaced` and `altered` as they occur, `ran` for each watched file if Python can tell, then
`finish` with the exit code. A process that ends
without `finish`, or with another status than the reported one, did not run to its end, whatever else it
wrote.
"""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from .channel import Send, open_channel
from .descriptors import LowDescriptors
from .exits import collect_past_exits
from .plugins import (
    built_on_project,
    is_installed,
    needed_plugins,
    options_of_plugins,
    options_to_load,
    pytest_version,
    unloadable,
    without_options_of_others,
)
from .precedence import give_way
from .watched_lines import WatchedLines

_OLDEST = (7, 4)
_HAS_AUTOLOAD_OPTION = (8, 4)
_UNFIT = 4
_IMPORT_PATH = "pythonpath="

# Plug-ins that others import are imported before pytest's own loading, which marks all of them for rewriting
# first. A project that turns warnings into errors would not start.
_ORDER_OF_PLUGINS = "ignore:Module already imported so cannot be rewritten:pytest.PytestAssertRewriteWarning"

_exit = os._exit


def start(arguments: "list[str]") -> None:
    """Run the tests and end the process with pytest's exit code."""
    records, secret, task = int(arguments[0]), int(arguments[1]), Path(arguments[2])
    with os.fdopen(secret, "rb") as pipe:
        known = json.load(pipe)
    send = open_channel(records, bytes.fromhex(known["key"]))
    given = json.loads(task.read_text())
    give_way(given["niceness"])
    code = _run(send, given, {part: known[part] for part in ("begin", "end")})
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # a test closed it
            continue
    # Threads and exit handlers of the tests must not affect how this process ends.
    _exit(code & 0xFF)


def _run(send: Send, task: "dict[str, Any]", canaries: "dict[str, Any]") -> int:
    send("start", pytest=pytest.__version__, python=sys.version.split()[0])
    version = pytest_version()
    if version < _OLDEST:
        return _UNFIT
    arguments, places = _without_import_path(task["arguments"])
    arguments, named = _split(arguments)
    waiting = built_on_project()
    wanted = list(dict.fromkeys([*named, *needed_plugins(task["sources"])]))
    late = [name for name in wanted if name in waiting or not is_installed(name)]
    early = [name for name in wanted if name not in late]
    if version >= _HAS_AUTOLOAD_OPTION:
        arguments.append("--disable-plugin-autoload")
    else:
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # noqa: TID251 - pytest before 8.4 has no option for it
    arguments += options_of_plugins(early)
    code = _run_pytest(send, {**task, "places": places}, canaries, arguments, early, late)
    send("finish", code=code)
    return code


def _run_pytest(
    send: Send,
    task: "dict[str, Any]",
    canaries: "dict[str, Any]",
    arguments: "list[str]",
    early: "list[str]",
    late: "list[str]",
) -> int:
    """Run pytest without the plug-ins that cannot be loaded. Tests that do not need them still run."""
    from .deselected import DeselectedFunctions  # noqa: PLC0415 - parts of pytest
    from .early_filters import EarlyFilters  # noqa: PLC0415 - an older pytest lacks what it is made of
    from .parser_errors import show_failures_without_parser  # noqa: PLC0415 - parts of pytest
    from .recorder import ReportPlugin  # noqa: PLC0415 - as above
    from .row_ids import RowIds  # noqa: PLC0415 - as above

    collect_past_exits()
    show_failures_without_parser()

    def run(plugins: "list[str]") -> int:
        # Pytest blocks plug-ins of its command line before it loads any. Those of a configuration and
        # of this variable come in their order, so what is blocked late has already offered its fixtures.
        os.environ["PYTEST_ADDOPTS"] = shlex.join(options_to_load(plugins))  # noqa: TID251 - for pytest
        given = ["-W", _ORDER_OF_PLUGINS, *without_options_of_others(arguments, plugins)]
        # As the project's own commands start it: names of programs in help texts depend on that.
        program = os.path.join(os.path.dirname(pytest.__file__), "__main__.py")
        sys.argv = [program if task["is_module"] else "pytest", *given]
        low, filters = LowDescriptors(), EarlyFilters()
        lines = WatchedLines(Path(task["tree"]), task["watched"])
        rows = [RowIds(task["tree"]), DeselectedFunctions(task["sources"])]
        reports = ReportPlugin(send, task, canaries, late)
        ours = [reports, reports.interrupts, *rows, low, filters]
        try:
            with lines.on():
                code = int(pytest.main(given, plugins=ours))
        finally:
            low.free()
            filters.end()
        for file, ran in lines.ran.items():
            send("ran", file=file, lines=sorted(ran))
        return code

    try:
        return run(early)
    except ImportError:
        broken = unloadable(early)
        if not broken:
            raise
    for name, reason in broken.items():
        sys.stdout.write(f"The pytest plugin {name} was left out, as it cannot be loaded: {reason}\n")
    return run([name for name in early if name not in broken])


def _without_import_path(arguments: "list[str]") -> "tuple[list[str], list[str]]":
    """Remove the import path from pytest's arguments. Return these, and the directories of the path.

    Pytest 9 would set it before it loads plug-ins, so files of the tree could take their place.
    """
    rest: list[str] = []
    places: list[str] = []
    for word in arguments:
        if word.startswith(_IMPORT_PATH) and rest[-1:] == ["-o"]:
            places = shlex.split(word[len(_IMPORT_PATH) :])
            rest.append(_IMPORT_PATH)
        else:
            rest.append(word)
    return rest, places


def _split(arguments: "list[str]") -> "tuple[list[str], list[str]]":
    """Remove the plug-ins named by `-p` from pytest's arguments.

    Return the remaining arguments, and the plug-ins.
    """
    rest: list[str] = []
    named: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "-p":
            named.append(next(words, ""))
        else:
            rest.append(word)
    return rest, named
