"""Canaries: tests with a known outcome, run by the same machinery as the real ones.

Code that turns every failure into a pass makes these pass, too. They run before the first test and after the
last, use no fixtures, and do not appear in pytest's own report.
"""

import ast
import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import _pytest.runner as pytest_runner
import pytest
from _pytest.assertion.rewrite import rewrite_asserts
from _pytest.fixtures import FuncFixtureInfo

# A canary's action with two different numbers, by kind. The reader knows how each kind must end.
_BODIES = {
    "equal": "assert x + y == y + x",
    "expected_error": "with pytest.raises(ZeroDivisionError):\n        x / (y - y)",
    "skip": "pytest.skip('not here')",
    "unequal": "assert x + x == x + y",
    "unequal_texts": "assert str(x) == str(y)",
    "unequal_lists": "assert sorted([x, y, 3]) == [x, y]",
    "untrue": "assert not {x: y}",
    "error": "raise LookupError(x)",
    "no_error": "with pytest.raises(ZeroDivisionError):\n        x / 1",
    "far_off": "assert float(x) == pytest.approx(float(y))",
    "fail": "pytest.fail('it does')",
    "unittest": "unittest.TestCase().assertEqual(x, y)",
}


def run_canaries(plan: "list[list[str]]", session: pytest.Session, report: Callable[..., None]) -> None:
    """Run canaries and report each by its name: outcome, or `broken` if a hook of the tests failed on it.

    Args:
        plan: name and kind of each.
        session: the session that they join.
        report: called with `id`, `outcome` and `message`.
    """
    try:
        items = _items(plan, session)
    except Exception as error:  # noqa: BLE001 - a pytest that is built differently
        for name, _ in plan:
            report(id=name, outcome="broken", message=f"{type(error).__name__}: {error}"[:300])
        return
    # Pytest's own handling of reports (printing, counting failures) is left out; all other hooks are called.
    own = [each for each in session.config.pluginmanager.get_plugins() if _is_pytests_own(each)]
    log = session.config.pluginmanager.subset_hook_caller("pytest_runtest_logreport", own)
    option = session.config.option
    given = option.tbstyle
    run = _Canary(log)
    # To look up the source of their failures takes a tenth of a small run, and no one reads it. A hook of the
    # tests may need it, or what a plug-in notes when a test begins: then this and the next canaries have it.
    ways = [("line", run.alone), (given, run.alone), (given, run.among_plugins)]
    for item in items:
        option.tbstyle, attempt = ways[0]
        while (trouble := _trouble(attempt, item)) and len(ways) > 1:
            del ways[0]
            option.tbstyle, attempt = ways[0]
        option.tbstyle = given
        if trouble:
            report(id=item.nodeid, outcome="broken", message=trouble)


class _Canary:
    """Runs one canary, alone or amid what plug-ins do before and after each test."""

    def __init__(self, log: Callable[..., object]) -> None:
        self._log = log

    def alone(self, item: pytest.Item) -> None:
        for each in pytest_runner.runtestprotocol(item, log=False, nextitem=None):
            self._log(report=each)

    def among_plugins(self, item: pytest.Item) -> None:
        manager = item.config.pluginmanager
        ours = [each for each in manager.get_plugins() if type(each).__module__.startswith(f"{__package__}.")]
        manager.register(self)
        try:
            hook = manager.subset_hook_caller("pytest_runtest_protocol", ours)
            hook(item=item, nextitem=None)
        finally:
            manager.unregister(self)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        self.alone(item)
        return True


def _trouble(run: Callable[[pytest.Item], None], item: pytest.Item) -> str:
    """Return what a hook of the tests raised on a canary, if one did."""
    try:
        run(item)
    except Exception as error:  # noqa: BLE001 - whatever a hook of the tests raises
        # What the canary has set up would fail the next test.
        cast("Any", item.session)._setupstate.teardown_exact(None)
        return f"{type(error).__name__}: {error}"[:300]
    return ""


def _items(plan: "list[list[str]]", session: pytest.Session) -> "list[pytest.Item]":
    directory = Path(str(session.items[0].path)).parent if session.items else session.config.rootpath
    path = directory / f"{plan[0][0]}.py"
    source = "import pytest, unittest\n" + "".join(_function(name, kind) for name, kind in plan)
    tree = ast.parse(source)
    rewrite_asserts(tree, source.encode(), str(path), session.config)
    module = ModuleType(path.stem)
    exec(compile(tree, str(path), "exec"), vars(module))  # noqa: S102 - our own text
    collector = _from_parent(pytest.Module, session, path=path)
    collector.obj = module
    fixtures = FuncFixtureInfo(argnames=(), initialnames=(), names_closure=[], name2fixturedefs={})
    return [
        _from_parent(
            pytest.Function, collector, name=name, callobj=getattr(module, name), fixtureinfo=fixtures
        )
        for name, _ in plan
    ]


def _from_parent(kind: Any, parent: pytest.Collector, **fields: Any) -> Any:
    return kind.from_parent(parent, **fields)


def _function(name: str, kind: str) -> str:
    x, y = random.SystemRandom().sample(range(10, 10_000), 2)
    return f"def {name}():\n    x, y = {x}, {y}\n    {_BODIES[kind]}\n"


def _is_pytests_own(plugin: Any) -> bool:
    name = plugin.__name__ if isinstance(plugin, ModuleType) else type(plugin).__module__
    return name.partition(".")[0] == "_pytest"
