"""Evaluators of other packages: the example of the guide works, and broken packages are named."""

import re
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest

from app.composition.tools import build_tools
from app.core.config import Settings
from app.core.errors import InvalidInputError
from app.runners.evaluators.plugins import GROUP, PluginError, load_plugins
from app.runners.project import ProjectRules, panel_for

pytestmark = pytest.mark.anyio

GUIDE = (Path(__file__).parents[5] / "docs" / "evaluators.md").read_text()


def install(place: Path, package: str, code: str, points: str, version: str = "1.0") -> None:
    """Lay out a distribution as an installer would."""
    (place / f"{package}.py").write_text(code)
    info = place / f"{package}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def settings(plugins: str) -> Settings:
    return Settings(_env_file=None, EVALUATOR_PLUGINS=plugins)  # pyright: ignore[reportCallIssue]


async def test_the_example_of_the_guide(site: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    (point,) = re.findall(r'entry-points."phaserunner.evaluators"\]\n(.*?)\n```', GUIDE, re.DOTALL)
    install(site, "tea_checks", code, point.replace('"', ""))
    registry = build_tools(settings("tea_words")).registry
    described = {each.name: each for each in registry.describe()}["tea_words"]
    assert (described.source, described.gate, described.phases) == ("tea_checks 1.0", True, ("coding",))
    tree = tmp_path_factory.mktemp("tree")
    (tree / "README.md").write_text("All about Tea.")
    for word, passed in (("tea", True), ("mate", False)):
        text = f'[evaluators.tea_words]\noptions = {{ word = "{word}" }}'
        panel = panel_for(registry, text.encode(), ProjectRules())
        assert panel.problems == ()
        evaluator = next(each for each in panel.registry.get_evaluators("coding") if each.name == "tea_words")
        assert (await evaluator.evaluate("coding", "", {"workspace_ref": str(tree)})).passed is passed
    assert "tea_words" not in build_tools(settings("")).registry.names()
    assert "tea_words" in build_tools(settings("*")).registry.names()


HEAD = "from app.runners.evaluators.agent_claim import AgentClaimEvaluator as A\n"
BROKEN = {
    "it cannot be imported": (
        "import nothing_like_it",
        "broken 1.0: evaluator 'made' cannot be",
    ),
    "the function is not there": ("x = 1", "cannot be loaded: AttributeError"),
    "the function fails": ("def make(): raise RuntimeError('no licence')", "RuntimeError: no licence"),
    "the function wants something": ("def make(x): return x", "cannot be loaded: TypeError"),
    "no evaluator": ("def make(): return 3", "returned int, which is not an evaluator"),
    "a bad name": (HEAD + "def make(): return A(name='a b')", "has the name 'a b'"),
    "a bad category": (HEAD + "def make(): return A(name='a', category='x')", "has the category 'x'"),
    "a name that is taken": (
        HEAD + "def make(): return A(name='pytest')",
        "broken 1.0: the name 'pytest'",
    ),
}


@pytest.mark.parametrize(("code", "told"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_package_ends_the_start_by_its_name(
    site: Path, monkeypatch: pytest.MonkeyPatch, code: str, told: str
) -> None:
    install(site, "broken", code, "made = broken:make")
    monkeypatch.delitem(__import__("sys").modules, "broken", raising=False)
    with pytest.raises(InvalidInputError) as raised:
        build_tools(settings("made"))
    assert raised.value.field == "EVALUATOR_PLUGINS"
    assert told in raised.value.detail


def test_names_that_are_not_there_or_there_twice(site: Path, tmp_path: Path) -> None:
    install(site, "one", "", "tea = one:make")
    with pytest.raises(
        PluginError, match="no installed package provides an evaluator 'te'; did you mean tea"
    ):
        load_plugins(["te"])
    install(site, "two", "", "tea = two:make")
    with pytest.raises(PluginError, match=r"one 1\.0 and two 1\.0 both provide an evaluator 'tea'"):
        load_plugins(["tea"], entry_points(group=GROUP))
    with pytest.raises(PluginError, match="there are: none"):
        load_plugins(["x"], [])
    assert load_plugins([], [EntryPoint("a", "no_such:thing", GROUP)]) == []


def test_a_required_evaluator_that_is_not_there_ends_the_start() -> None:
    wrong = Settings(_env_file=None, EVALUATOR_REQUIRED="pytset")  # pyright: ignore[reportCallIssue]
    with pytest.raises(InvalidInputError, match="no evaluator 'pytset'") as raised:
        build_tools(wrong)
    assert raised.value.field == "EVALUATOR_REQUIRED"
