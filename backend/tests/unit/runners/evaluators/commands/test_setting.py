"""What of a candidate's copy is the base's when a command judges it."""

import pytest

from app.runners.evaluators.commands.overlay import Overlay
from app.runners.evaluators.commands.setting import overlays_for
from tests.unit.runners.evaluators.conftest import Tree

MAKE = {"Makefile": "check:\n\tsh ci/check.sh\n", "ci/check.sh": "python3 a.py\n", "a.py": "1"}
NODE = {"package.json": '{"scripts": {"test": "node --test"}}', "test/a.test.js": "", "a.js": ""}
TEST_JS = {"package.json": '{"scripts": {"test": "npm run ci", "ci": "node tool/smoke.js"}}', "test.js": ""}
JUST = {"justfile": "test:\n    sh ci/check.sh\n", "ci/check.sh": "", "a.py": ""}
JVM = {"src/test/java/ATest.java": "", "lib/src/commonTest/kotlin/B.kt": "", "app/CTest.kt": ""}
POE = {"pyproject.toml": "[tool.poe.tasks]\ntest = 'pytest'\n"}
PYTEST = {"tests/test_a.py": "def test_a(): ...\n", "a.py": ""}


def strict(
    tree: Tree, base: dict[str, str], candidate: dict[str, str], command: list[str], **more: object
) -> Overlay:
    opened = more.get("opened", ())
    assert isinstance(opened, tuple)
    return overlays_for(tree(base), tree(base | candidate), command, opened=opened).strict


@pytest.mark.parametrize(
    ("base", "candidate", "command", "changed", "added"),
    [
        pytest.param(MAKE, {"a.py": "2"}, ["make", "check"], (), (), id="the product alone"),
        pytest.param(MAKE, {"Makefile": "x"}, ["make"], ("Makefile",), (), id="what make reads"),
        pytest.param(
            MAKE,
            {"Makefile": "x"},
            ["bash", "-c", "cd . && make"],
            ("Makefile",),
            (),
            id="make in an argument",
        ),
        pytest.param(MAKE, {"GNUmakefile": "x"}, ["make"], (), ("GNUmakefile",), id="what make reads first"),
        pytest.param(MAKE, {"ci/check.sh": ""}, ["make"], ("ci/check.sh",), (), id="what that names"),
        pytest.param(MAKE, {"docs/Makefile": "x"}, ["make"], (), (), id="another Makefile"),
        pytest.param(NODE, {"test/a.test.js": "x"}, ["npm", "test"], ("test/a.test.js",), (), id="a test"),
        pytest.param(NODE, {"package.json": '{"name": "a"}'}, ["make"], (), (), id="a package beside make"),
        pytest.param(NODE, {".npmrc": "x"}, ["npm", "test"], (), (".npmrc",), id="settings of npm"),
        pytest.param(
            TEST_JS, {"test.js": "x"}, ["npm", "test"], ("test.js",), (), id="a test without a directory"
        ),
        pytest.param(
            {**TEST_JS, "tool/smoke.js": ""},
            {"tool/smoke.js": "x"},
            ["npm", "test"],
            ("tool/smoke.js",),
            (),
            id="what a script runs",
        ),
        pytest.param(NODE, {"vite.config.ts": ""}, ["npx", "vitest"], (), ("vite.config.ts",), id="vite"),
        pytest.param(JUST, {"justfile": "x"}, ["just", "test"], ("justfile",), (), id="what just reads"),
        pytest.param(JUST, {".justfile": "x"}, ["just", "test"], (), (".justfile",), id="a second justfile"),
        pytest.param(JUST, {"ci/check.sh": "x"}, ["just"], ("ci/check.sh",), (), id="what a justfile names"),
        pytest.param(JUST, {"justfile": "x"}, ["python3", "a.py"], (), (), id="a justfile that is not used"),
        pytest.param(
            JVM, dict.fromkeys(JVM, "x"), ["ant"], tuple(sorted(JVM)), (), id="tests of Java and Kotlin"
        ),
        pytest.param(
            PYTEST, {"conftest.py": "x"}, ["pytest"], (), ("conftest.py",), id="a conftest beside tests"
        ),
        pytest.param(
            {"a.py": ""}, {"conftest.py": "", "test_a.py": ""}, ["pytest"], (), (), id="first tests"
        ),
    ],
)
def test_what_a_command_takes_from_the_base(
    tree: Tree,
    base: dict[str, str],
    candidate: dict[str, str],
    command: list[str],
    changed: tuple[str, ...],
    added: tuple[str, ...],
) -> None:
    overlay = strict(tree, base, candidate, command)
    assert (overlay.changed, overlay.added, overlay.texts) == (changed, added, {})


def test_an_opened_path_is_the_candidates(tree: Tree) -> None:
    assert not strict(tree, MAKE, {"Makefile": "x"}, ["make"], opened=("Makefile",))


def test_modules_that_stand_in_for_a_tool_are_left_out(tree: Tree) -> None:
    base = tree(PYTEST)
    there = tree(PYTEST | {"unittest/__main__.py": "", "bandit.py": "", "other.py": ""})
    own = overlays_for(base, there, "python3 -m unittest && bandit -r .").own
    assert own.added == ("bandit.py", "unittest/__main__.py")


@pytest.mark.parametrize(
    ("base", "candidate", "kept"),
    [
        pytest.param("", "def f(): # pragma: no cover\n    ...\n", False, id="a new comment"),
        pytest.param(
            "x = 1  # pragma: no cover\n", "x = 1  # pragma: no cover\ny = 2\n", True, id="a known one"
        ),
        pytest.param(
            "x = 1  # pragma: no cover\ny = 1  # pragma: no cover\n",
            "def f():  # pragma: no cover\n    ...\n",
            True,
            id="a practice of the base",
        ),
    ],
)
def test_comments_that_hide_lines_from_coverage(tree: Tree, base: str, candidate: str, *, kept: bool) -> None:
    one, other = tree({"a.py": base}), tree({"a.py": candidate})
    texts = overlays_for(one, other, "coverage", measures=True).own.texts
    assert ("a.py" not in texts) is kept
    assert all(text.count(b"\n") == candidate.encode().count(b"\n") for text in texts.values())


def test_sections_that_measure_are_the_bases(tree: Tree) -> None:
    base = tree({"pyproject.toml": '[project]\nname = "a"\n\n[tool.coverage.run]\nbranch = true\n'})
    text = '[project]\nname = "b"\n\n[tool.coverage.report]\nexclude_also = ["def"]\n\n[tool.x]\ny = 1\n'
    there = tree({"pyproject.toml": text, ".coveragerc": "[run]\nomit = *\n", "conftest.py": ""})
    own = overlays_for(base, there, "coverage", measures=True).own
    rewritten = own.texts["pyproject.toml"].decode()
    assert own.added == (".coveragerc",)
    assert "exclude_also" not in rewritten
    assert 'name = "b"' in rewritten
    assert "branch = true" in rewritten
    assert "[tool.x]" in rewritten
