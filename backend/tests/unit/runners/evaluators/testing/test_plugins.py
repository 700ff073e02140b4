"""A run of tests gets the installed plugins that its files speak of, by name or by fixture."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from _pytest.assertion.rewrite import AssertionRewriter

from app.runners.evaluators.testing.pytest_runner import plugin_entries as entries
from app.runners.evaluators.testing.pytest_runner.plugin_entries import plugin_entries
from app.runners.evaluators.testing.pytest_runner.plugins import (
    built_on_project,
    need_no_rewriting,
    needed_plugins,
    options_of_plugins,
    unloadable,
    without_options_of_others,
)

PLUGIN = """import pytest

@pytest.fixture
def odd_regression():
    ...

@pytest.fixture(
    scope="session",
)
async def Quiet_Thing(): ...

def helper(): ...

@pytest.fixture(scope="session", name="stripes")
def _stripes(): ...

mane = pytest.fixture(scope="session")(helper)

def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "patient(times=1): run the test again"
    )
    config.addinivalue_line('markers', f'slowly: wait')
"""


@pytest.fixture(autouse=True)
def read_anew() -> Iterator[None]:
    """A run reads its plug-ins once."""
    plugin_entries.cache_clear()
    yield
    plugin_entries.cache_clear()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two plugins: a package, and a module that is not there."""
    for name, module in (("zebra", "zebra_kit.plugin"), ("gone-far", "pytest_gone_away")):
        about = tmp_path / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[pytest11]\n{name} = {module}\n")
    (tmp_path / "zebra_kit").mkdir()
    (tmp_path / "zebra_kit" / "plugin.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param("def test_a(odd_regression): ...", {"zebra"}, id="a fixture"),
        pytest.param("def test_a(quiet_thing): ...", {"zebra"}, id="case does not matter"),
        pytest.param("@pytest.mark.zebra", {"zebra"}, id="its name"),
        pytest.param("def test_a(helper): ...", set(), id="a function that is no fixture"),
        pytest.param("def test_a(very_odd_regression_b): ...", set(), id="part of a word"),
        pytest.param("@pytest.mark.patient(times=2)", {"zebra"}, id="a marker"),
        pytest.param("pytestmark = [pytest.mark.slowly]", {"zebra"}, id="another marker"),
        pytest.param("patient = 1", set(), id="a name that is no marker"),
        pytest.param("import gonefar", {"gone-far"}, id="a plugin that cannot be read"),
        pytest.param("pytest.gone_far(1)", {"gone-far"}, id="its name without a hyphen"),
        pytest.param("from pytest_gone_away import far", {"gone-far"}, id="its module"),
        pytest.param("def test_a(stripes): ...", {"zebra"}, id="the name given to a fixture"),
        pytest.param("def test_a(mane): ...", {"zebra"}, id="a fixture that is assigned"),
        pytest.param("", set(), id="nothing"),
    ],
)
def test_needed(tmp_path: Path, text: str, named: set[str]) -> None:
    (tmp_path / "test_a.py").write_text(text)
    found = needed_plugins([str(tmp_path / "test_a.py")])
    assert {"zebra", "gone-far"}.intersection(found) == named


@pytest.mark.usefixtures("installed")
def test_sessions_that_tests_start_do_not_rewrite_loaded_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded, other = ModuleType("zebra_kit", "About zebras."), ModuleType("of_the_tree")
    monkeypatch.setitem(sys.modules, "zebra_kit", loaded)
    monkeypatch.setitem(sys.modules, "of_the_tree", other)
    need_no_rewriting()
    assert AssertionRewriter.is_rewrite_disabled(loaded.__doc__ or "")
    assert (loaded.__doc__ or "").startswith("About zebras.")
    assert other.__doc__ is None


def test_plugins_that_need_the_project_itself_are_known_through_any_number_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs = {"judged_lib": "", "schema": "judged-lib>=1", "zebra-checks": "schema", "plain": "other"}
    for name, required in needs.items():
        about = tmp_path / f"{name}-1.0.dist-info"
        about.mkdir()
        line = f"Requires-Dist: {required}\n" if required else ""
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{line}")
        (about / "WHEEL").write_text(
            "Generator: phaserunner\n" if name == "judged_lib" else "Generator: other\n"
        )
        (about / "entry_points.txt").write_text(f"[pytest11]\n{name} = {name}\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert {"judged_lib", "schema", "zebra-checks"} <= built_on_project()
    assert "plain" not in built_on_project()


@pytest.mark.usefixtures("installed")
def test_plugins_whose_code_cannot_be_imported_are_named_with_the_reason() -> None:
    found = unloadable(["zebra", "gone-far"])
    assert set(found) == {"gone-far"}
    assert found["gone-far"] == "ModuleNotFoundError: No module named 'pytest_gone_away'"
    assert unloadable(["zebra"]) == {}


def test_options_of_a_plugin_are_given_only_with_it() -> None:
    given = ["-q", "--hypothesis-profile=fast", "tests"]
    assert without_options_of_others(given, ["hypothesispytest"]) == given
    assert without_options_of_others(["--ds=a.b"], ["django"]) == ["--ds=a.b"]
    assert without_options_of_others(given, ["xdist"]) == ["-q", "tests"]


def test_snapshots_of_tests_that_are_not_run_and_times_of_rounds_fail_no_run() -> None:
    assert options_of_plugins(["asyncio", "syrupy"]) == ["--snapshot-warn-unused"]
    assert options_of_plugins(["benchmark"]) == ["--benchmark-disable"]
    assert options_of_plugins(["asyncio"]) == []


def test_plugins_are_found_without_what_python_310_knows_of_entry_points() -> None:
    found = list(entries._plugins_before_310())
    names = [{(each.name, each.value) for each in some} for some in (found, plugin_entries())]
    assert names[0] == names[1]
    assert all(each.dist and entries.name_of(each.dist) for each in found)
