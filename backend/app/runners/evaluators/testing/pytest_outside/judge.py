"""The judge's program: runs the base's tests with stand-ins for the candidate's modules.

It is started as `launch.py judge SOCKET PLAN`. The plan is a JSON file with the facts from `outside_run`.
Standard output gets the records, one line of JSON each. The output of the tests is dropped.
"""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import unittest
import warnings
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from . import comparing
from .doubts import SourceDoubts
from .faults import BUILTIN, may_be_system
from .finder import CandidateFinder
from .further_calls import NotingPeer
from .guard import CandidateCodeGuard, check_request, named_for_candidate
from .link import PeerLink
from .notes import WARNS, JudgeNotes
from .pace import PATIENCE, JudgePace
from .unsendable import Unsendable
from .values import BadDataError
from .variables import lent_variables
from .wire import Wire

# The plug-ins are chosen as in the other run. That package is beside this one, and stands alone.
_MODULES = ("plugins", "row_ids", "deselected", "limits")
_plugins, _rows, _marks, _limits = (importlib.import_module(f"pytest_runner.{each}") for each in _MODULES)

_MESSAGE_CHARS = 600
_ENDINGS = frozenset({"_ShouldStop", "_UnexpectedSuccess"})
_WIDE = ("session", "package", "module", "class")


class JudgeSide:
    """The judge's side of the conversation."""

    lends_functions = True

    def __init__(self, notes: JudgeNotes) -> None:
        self._notes = notes
        self._environment = lent_variables()
        self._directory = os.getcwd()
        self._path: list[str] = []

    def by_name(self, value: Any) -> list[str] | None:
        return named_for_candidate(value)

    def look_up(self, module: str, name: str) -> Any:
        if module == "builtins" and name in BUILTIN:
            return BUILTIN[name]
        raise BadDataError(f"{module}.{name} is not taken by name")

    def check(self, op: str, args: list[Any]) -> None:
        check_request(op, args)

    def compare(self, link: PeerLink, proxy: Any, name: str, other: Any) -> Any:
        return comparing.compare(_Asking(link, self._notes), proxy, name, other)

    def outgoing(self, depth: int) -> dict[str, Any]:
        extra: dict[str, Any] = {}
        environment, directory = lent_variables(), os.getcwd()
        if environment != self._environment:
            extra["env"] = environment
        if directory != self._directory:
            extra["cwd"] = directory
        if sys.path != self._path:
            extra["path"] = [each for each in sys.path if type(each) is str]
        self._environment, self._directory, self._path = environment, directory, list(sys.path)
        return extra

    def incoming(self, extra: dict[str, Any]) -> None:
        for kind, text in extra.get("out") or []:
            (sys.stderr if kind == "err" else sys.stdout).write(str(text))
        for text, category, line in extra.get("warn") or []:
            self._warn(str(text), str(category), line)
        for name, level, text in extra.get("log") or []:
            _log(str(name), int(level), str(text))
        for reason, hard in extra.get("notes") or []:
            self.note(str(reason), hard=bool(hard))
        for (finding,) in extra.get("find") or []:
            self._notes.find(str(finding))

    def raised(self, error: BaseException) -> None:
        if isinstance(error, (unittest.SkipTest, pytest.skip.Exception)) or type(error).__name__ in _ENDINGS:
            self._notes.find("the candidate's code raises what ends a test without a failure")

    def unsendable(self) -> Any:
        return Unsendable()

    def note(self, reason: str, *, hard: bool) -> None:
        self._notes.note(reason, hard=hard)

    def _warn(self, text: str, category: str, line: Any) -> None:
        kind = BUILTIN.get(category, UserWarning)
        self.note(WARNS, hard=False)
        if issubclass(kind, Warning):
            warnings.warn_explicit(text, kind, "candidate", line if type(line) is int else 0)


class _Asking:
    """The connection and the notes, in the form that comparing needs."""

    def __init__(self, link: PeerLink, notes: JudgeNotes) -> None:
        self.request = link.request
        self.note = notes.note
        self.find = notes.find


def _is_benchmark(item: pytest.Item) -> bool:
    fixtures = getattr(item, "fixturenames", ())
    return "benchmark" in fixtures or item.get_closest_marker("benchmark") is not None


def _log(name: str, level: int, text: str) -> None:
    logging = sys.modules.get("logging")
    if logging is None:
        return
    logger = logging.getLogger(name)
    if logger.isEnabledFor(level):
        logger.handle(logger.makeRecord(name, level, "candidate", 0, text, (), None))


class OutsideReporter:
    """The pytest plug-in that reports each test with the evidence for and against it."""

    def __init__(
        self, records: int, notes: JudgeNotes, peer: NotingPeer, pace: JudgePace, plan: dict[str, Any]
    ) -> None:
        self._records = records
        self._notes = notes
        self._peer = peer
        self._tree = str(plan["tree"])
        self._seed = str(plan["seed"])
        self._support = frozenset(plan["support"])
        self._doubts = SourceDoubts()
        self._wanted = None if plan["ids"] is None else frozenset(plan["ids"])
        self._done = frozenset(plan["done"])
        self._state: dict[str, Any] = {}
        self._pace = pace

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, Any]:
        self._notes.place = collector.nodeid.split("::", 1)[0]
        try:
            return (yield)
        finally:
            self._notes.place = ""

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.outcome != "passed":
            self._send(
                {"kind": "problem", "id": report.nodeid, "message": str(report.longrepr)[-_MESSAGE_CHARS:]}
            )

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        left = [each for each in items if each.nodeid not in self._done]
        if self._wanted is not None:
            left = [each for each in left if each.nodeid in self._wanted]
        # Those that make thousands of calls take long here, and say little about values.
        items[:] = sorted(left, key=_is_benchmark)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        was_broken = self._peer.broken is not None
        if was_broken or self._pace.is_over():
            # Later results would be no evidence, so stopping keeps the evidence that there is.
            item.session.shouldstop = "the other process says no more"
        self._notes.place = item.nodeid
        self._state = {"outcome": "passed", "origin": "", "message": ""}
        try:
            return (yield)
        except KeyboardInterrupt:
            # Beside the code, nothing interrupted this test.
            self._notes.find("the candidate's code ends the run of the tests")
            raise
        finally:
            about = self._notes.about(item.nodeid)
            self._notes.place = ""
            if self._state["outcome"] == "failed":
                self._state["doubts"] = self._doubts.about(item)
                self._state["uses"] = self._doubts.uses(item)
            self._pace.count(carried=not about["hard"] and self._state["outcome"] == "passed")
            if not was_broken:  # otherwise, this test is left for the next run
                self._send({"kind": "test", "id": item.nodeid, **self._state, **about})

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Generator[None, Any, Any]:
        place = self._notes.place
        if fixturedef.scope in _WIDE:
            self._notes.place = "" if fixturedef.scope in _WIDE[:2] else place.split("::", 1)[0]
        try:
            result = yield
        finally:
            self._notes.place = place
        if fixturedef.argname in ("tmp_path", "tmpdir"):
            # The candidate runs as another user.
            for place in (result, *Path(result).parents[:2]):
                with contextlib.suppress(OSError):
                    os.chmod(place, 0o777)  # noqa: S103
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.outcome == "skipped" or hasattr(report, "wasxfail"):
            self._state.update(outcome="skipped")
        elif report.outcome == "failed" and call.excinfo is not None and self._state["outcome"] == "passed":
            origin = self._origin(call.excinfo.value) if call.when == "call" else call.when
            self._state.update(outcome="failed", origin=origin, message=_short(call.excinfo.value))
        return report

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._send({"kind": "equals", "classes": self._peer.equal_kinds.names()})
        for each in self._peer.repeating(self._seed):
            self._send({"kind": "repeats", **each})
        self._send({"kind": "finish", "broken": self._peer.broken, **self._notes.about("")})

    def _origin(self, error: BaseException) -> str:
        if isinstance(error, (AssertionError, pytest.fail.Exception)):
            return "assertion"
        if isinstance(error, OSError) and not self._reads_tests(error) and may_be_system(error):
            return "system"
        return "candidate" if self._peer.is_theirs(error) else "other"

    def _reads_tests(self, error: OSError) -> bool:
        """Return True if the candidate looked for a test's file, which its process does not have."""
        if not isinstance(error, FileNotFoundError) or type(error.filename) is not str:
            return False
        return os.path.relpath(error.filename, self._tree) in self._support

    def _send(self, record: dict[str, Any]) -> None:
        line = json.dumps(record).encode() + b"\n"
        while line:
            line = line[os.write(self._records, line) :]


def _short(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:_MESSAGE_CHARS]
    except Exception:  # noqa: BLE001 - the text may be the candidate's to give
        return type(error).__name__


def main(arguments: list[str]) -> None:
    """Run the tests. The records hold the results."""
    records = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    plan: dict[str, Any] = json.loads(Path(arguments[1]).read_text())
    os.umask(0)
    os.environ["TMPDIR"] = plan["shared"]  # noqa: TID251 - tests read it
    notes = JudgeNotes()
    side = JudgeSide(notes)
    pace = JudgePace(float(plan["budget"]), Path(plan["stop"]))
    peer = NotingPeer(Wire(int(arguments[0]), plan["seconds"], PATIENCE), 0, side, pace)
    tree, support = Path(plan["tree"]), frozenset(plan["support"])
    pinned = _plugins.PinnedModules(plan["pinned"])
    sys.path.insert(0, str(tree))
    sys.meta_path[:0] = [pinned, CandidateFinder(tree, support, peer)]
    guard = CandidateCodeGuard(tree, support, peer)
    guard.install()
    options = [f"--basetemp={plan['shared']}/pytest", "--tb=no"]
    needed = _plugins.needed_plugins(plan["sources"])
    options += _plugins.options_to_load(needed)
    options += _plugins.without_options_of_others(_plugins.usable(plan["arguments"]), needed)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # noqa: TID251 - works in every version of pytest
    sys.argv = ["pytest", *options]
    plugins = [OutsideReporter(records, notes, peer, pace, plan), guard, _rows.RowIds(plan["tree"])]
    plugins += [_marks.DeselectedFunctions(plan["sources"]), _limits.SteadyHypothesis()]
    pytest.main([*options, *plan["files"]], plugins=plugins)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
