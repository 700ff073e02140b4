"""The pytest plug-in that reports events, and keeps the tree off the import path until pytest is loaded."""

import inspect
import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from .canaries import run_canaries
from .channel import Send
from .failures import files_below, last_line_below, message_of, outcome_of, told_by_child
from .guard import Guard
from .ids import function_of, parts_of
from .import_places import let_children_import
from .interrupts import Interrupts
from .limits import TestLimits, lift_deadlines
from .network import Unreachable
from .plugins import PinnedModules, need_no_rewriting, set_aside
from .skip_marks import skipped_by_marks
from .surroundings import Surroundings
from .time_budget import TimeBudget
from .wide_exceptions import wide_exceptions
from .without import Without

_IDS_PER_RECORD = 200
_NAMES = 50
"""Of each kind that are reported."""

_DETAILED_FAILURES = 1000
_ALWAYS_READ = ("__init__.py", "conftest.py")
_STRICTLY = "[XPASS(strict)]"


class ReportPlugin:
    """Reports collected tests, outcomes, canaries and tampering.

    Attributes:
        interrupts: the plug-in that ends tests that do nothing any more.

    Args:
        send: writes a record.
        task: the task to run; see `runner`. Its `places` are the directories from which tests import.
        canaries: names and kinds of those that `begin` and `end` the run.
        late: plug-ins that only the tree has.
    """

    def __init__(
        self, send: Send, task: "dict[str, Any]", canaries: "dict[str, list[list[str]]]", late: "list[str]"
    ) -> None:
        self._send = send
        self._tree = Path(task["tree"])
        self._only: set[str] | None = None if task["only"] is None else set(task["only"])
        self._elsewhere = set(task["elsewhere"])
        self._ids: set[str] | None = None if task["ids"] is None else set(task["ids"])
        self._wanted_parts = None if self._ids is None else parts_of(self._ids)
        self._trusted: set[str] = set(task["trusted"])
        self._pinned: list[str] = task["pinned"]
        self._import_places: list[str] = task["places"]
        self._limits = TestLimits(task["test_seconds"])
        self.interrupts = Interrupts()
        self._budget = TimeBudget(task["patience"], task["seconds"], task["ends_at"])
        self._without = Without(task["without"])
        self._aside: list[str] = task["aside"]
        self._canaries = canaries
        self._canary_names = {name for part in canaries.values() for name, _ in part}
        self._late = late
        self._guard: Guard | None = None
        self._surroundings: Surroundings | None = None
        self._network: Unreachable | None = None
        self._modules: list[Any] = []
        self._places: dict[pytest.Item, int] = {}
        self._running: dict[str, dict[str, Any]] = {}
        self._failures = 0
        self._has_passed = False
        """Whether the last test that ended passed."""

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: pytest.Config) -> "Iterator[None]":
        """Put the tree on the import path, as `python -m pytest` does, but only now.

        By now pytest and the installed plug-ins are loaded, so nothing in the tree can replace them. This
        runs outside pytest's own wrapper, which imports the classes that `filterwarnings` names.
        """
        for name in ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_ADDOPTS"):
            os.environ.pop(name, None)  # noqa: TID251 - not for children of the tests
        need_no_rewriting()
        places = [*self._import_places, str(self._tree)]
        self._guard = Guard(self._tree, self._trusted, set_aside(self._aside))
        sys.meta_path.insert(0, PinnedModules(self._pinned))
        sys.path[:0] = places
        let_children_import(places, self._tree)
        self._surroundings = Surroundings(self._tree, self._trusted)
        for name in self._late:
            early_config.pluginmanager.import_plugin(name, consider_entry_points=True)
        yield

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Change the project's Hypothesis settings once its conftests have made them."""
        lift_deadlines(config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Path) -> "bool | None":
        """Leave out every file that is not to be run."""
        if collection_path.is_dir() or collection_path.name in _ALWAYS_READ:
            return None
        name = self._relative(collection_path)
        is_wanted = self._only is None or name in self._only
        return None if is_wanted and name not in self._elsewhere else True

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(
        self, collector: pytest.Collector, name: str, obj: object
    ) -> "list[pytest.Item] | None":
        """Make no rows of functions that are not to be run. Those of one may be tens of thousands."""
        if self._wanted_parts is None or not inspect.isfunction(obj):
            return None
        return None if f"{collector.nodeid}::{name}" in self._wanted_parts else []

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: "list[pytest.Item]") -> "Iterator[None]":
        """Record the order before a plug-in changes it, then leave out every test that is not to be run."""
        self._places = {item: place for place, item in enumerate(items)}
        yield
        if self._ids is not None:
            items[:] = [item for item in items if self._is_chosen(item.nodeid, self._ids)]
        self._without.leave_out(items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Report a file that cannot be collected, or that skips itself as a whole."""
        if report.outcome != "passed":
            self._send(
                "problem", id=report.nodeid, outcome=report.outcome, message=message_of(report.longrepr)
            )

    def pytest_deselected(self, items: "list[pytest.Item]") -> None:
        """Report how many tests were deselected."""
        self._send("deselected", count=len(items))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Report the tests that are going to run, and those with code in a wrong place."""
        ids = [item.nodeid for item in session.items]
        places = [self._places.get(item, len(self._places)) for item in session.items]
        for start in range(0, max(1, len(ids)), _IDS_PER_RECORD):
            part = slice(start, start + _IDS_PER_RECORD)
            self._send("collected", ids=ids[part], places=places[part])
        for item in session.items:
            place = self._foreign_place(item)
            if place is not None:
                self._send("foreign", id=item.nodeid, place=place)
        self._modules = [getattr(item, "module", None) for item in session.items]
        if self._surroundings:
            self._surroundings.remember(self._modules)
            if session.config.option.collectonly:
                self._send("skipped", ids=skipped_by_marks(session.items))
                self._report_surroundings(self._surroundings)
        self._report_replaced()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> "Iterator[None]":
        """Run canaries before the first test and after the last."""
        if session.config.option.collectonly:
            yield
            return
        report = partial(self._send, "canary")
        run_canaries(self._canaries["begin"], session, report)
        self._network = Unreachable()
        outcome = cast("Any", (yield))
        if outcome.excinfo is None:
            self._budget.tidy_up(session)
            run_canaries(self._canaries["end"], session, report)
        self._report_replaced()
        if self._surroundings:
            self._report_surroundings(self._surroundings)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> "Iterator[None]":
        """Leave out tests for which there is no time, once this one has shown how long they take."""
        began = self._budget.begin(item)
        yield
        # What was ended says nothing about the tests like it.
        counts = not self._has_passed and item.nodeid not in self.interrupts.cut
        out = self._budget.end(item, began, passed=not counts)
        length = len(out) or self._budget.foresees_shortage(item.session)
        for start in range(0, length, _IDS_PER_RECORD):
            self._send("left_out", ids=out[start : start + _IDS_PER_RECORD])

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> "Iterator[None]":
        """End a test that exceeds its limit. This is the innermost wrapper, so no plug-in is interrupted."""
        with self._budget.calling(), self._limits.around(item.nodeid):
            yield
        if self._surroundings and item in self._places:
            self._surroundings.look_after_test(item.nodeid, getattr(item, "module", None))

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: "pytest.Item | None") -> "Iterator[None]":
        """Blame no test for the end of what it shares with those that are left out."""
        try:
            self._without.tear_down_own(item)
        finally:
            self._without.tear_down_shared(item, nextitem)
        with self._limits.around_end(item.nodeid):
            yield
        if self._surroundings and item in self._places:
            self._surroundings.look_after_file(item.nodeid, nextitem.nodeid if nextitem else "")

    def pytest_runtest_logstart(self) -> None:
        """Return to the tree if the last test removed the directory that it left the process in."""
        try:
            Path.cwd()
        except OSError:
            os.chdir(self._tree)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst outcome of a test's set-up, call and tear-down."""
        new: dict[str, Any] = {"outcome": "passed", "seconds": 0.0, "message": "", "files": [], "line": ""}
        test = self._running.setdefault(report.nodeid, new)
        test["seconds"] += report.duration
        is_cut = report.nodeid in self._limits.cut | self.interrupts.cut
        outcome = "cut" if is_cut else outcome_of(report)
        if outcome != "passed" and test["outcome"] not in ("failed", "error", "cut"):
            test["outcome"] = outcome
            test["message"] = self._detail(report, outcome)
            if test["message"]:
                test["files"] = files_below(report.longrepr, self._tree)
                test["line"] = last_line_below(report.longrepr, self._tree)
            # Only pytest itself puts a text here; the traceback of an exception is an object.
            given = report.longrepr
            test["unexpected"] = type(given) is str and given.startswith(_STRICTLY)
        if report.when == "teardown" and report.nodeid.rpartition("::")[2] in self._canary_names:
            self._running.pop(report.nodeid)
            self._send("canary", id=report.nodeid, outcome=test["outcome"], message=test["message"][:300])

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Report a finished test."""
        test = self._running.pop(nodeid, None)
        self._has_passed = test is not None and test["outcome"] == "passed"
        sought = self._network is not None and self._network.was_sought()
        if test is not None:
            self._send("test", id=nodeid, sought_network=sought, **test)

    def _is_chosen(self, test: str, ids: "set[str]") -> bool:
        """Return True if a test or its function is named."""
        return test in ids or function_of(test) in ids

    def _detail(self, report: pytest.TestReport, outcome: str) -> str:
        if outcome in ("failed", "error", "cut"):
            self._failures += 1
            if self._failures > _DETAILED_FAILURES + len(self._canary_names):
                return ""
        return message_of(report.longrepr, told_by_child(report))

    def _report_surroundings(self, surroundings: Surroundings) -> None:
        altered = surroundings.altered()
        if any(altered.values()):
            files = surroundings.noticed.files
            noticed = {name: files[name] for name in altered["by_candidate"][:_NAMES] if name in files}
            self._send("altered", **{who: names[:_NAMES] for who, names in altered.items()}, noticed=noticed)
        trusted = {str(self._tree / name) for name in self._trusted}
        wide, others = wide_exceptions(self._tree, trusted, list(dict.fromkeys(self._modules)))
        if wide or others:
            self._send("wide", names=wide[:_NAMES], others=others[:_NAMES])

    def _report_replaced(self) -> None:
        found = self._guard.replaced() if self._guard else []
        if found:
            self._send("replaced", names=found[:_NAMES])

    def _foreign_place(self, item: pytest.Item) -> "str | None":
        """Return the file of a test's code if that is neither the test's own file nor a trusted one."""
        if not isinstance(item, pytest.Function):
            return None
        holder = item.cls or item.module
        file = _code_file(getattr(holder, item.originalname or item.name, None))
        path = str(item.path)
        if file == path or (file and self._relative(Path(file)) in self._trusted):
            return None
        # The same file, found through a link that leads to its directory.
        if file and Path(file).resolve() == Path(path).resolve():
            return None
        return self._relative(Path(file)) if file else "an object"

    def _relative(self, path: Path) -> str:
        return path.relative_to(self._tree).as_posix() if self._tree in path.parents else str(path)


def _code_file(function: Any) -> str:
    try:
        function = inspect.unwrap(function)
    except ValueError:
        return ""
    while isinstance(function, partial):
        function = cast("Any", function).func
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return str(code.co_filename) if code is not None else ""
