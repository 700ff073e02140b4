"""What a candidate may do to tests and configuration, and what it may not."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from app.runners.evaluators.protection.protected_files import ProtectedFilesEvaluator
from app.runners.evaluators.protocol import EvaluationContext, EvaluationResult, EvaluationStatus
from app.schemas.questions import ProtectedPolicy

pytestmark = pytest.mark.anyio

TEST = """\
import pytest

from shop import total


@pytest.fixture
def basket():
    return [1, 2]


def test_total(basket):
    assert total(basket) == 3


@pytest.mark.parametrize("prices, wanted", [([], 0), ([5], 5)])
def test_totals(prices, wanted):
    assert total(prices) == wanted


class TestMore:
    def test_one(self):
        assert total([1]) == 1
"""
PYPROJECT = """\
[project]
name = "shop"
version = "1.0"
dependencies = ["attrs"]

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.pytest.ini_options]
addopts = "--strict-markers"
markers = ["slow: takes its time"]

[tool.ruff]
line-length = 100
"""
BASE = {
    "shop.py": "def total(prices):\n    return sum(prices)\n",
    "tests/test_shop.py": TEST,
    "tests/conftest.py": "import pytest\n",
    "tests/data/prices.json": "[1]\n",
    "tests/.expected/prices.json": "[1]\n",
    "tests/data/pyproject.toml": "[project]\nname = 'a'\n",
    "pyproject.toml": PYPROJECT,
    "ruff.toml": "line-length = 100\n",
    "setup.cfg": "[metadata]\nname = shop\n\n[mypy]\nstrict = true\n",
    ".coveragerc": "[run]\nbranch = true\n",
    "src/test/client.py": "class Client: ...\n",
}


def write(root: Path, files: Mapping[str, str]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


async def judge(
    tmp_path: Path,
    changes: Mapping[str, str | None],
    base: Mapping[str, str] = BASE,
    **context: object,
) -> EvaluationResult:
    after = {name: text for name, text in {**base, **changes}.items() if text is not None}
    made: EvaluationContext = {
        "workspace_ref": str(write(tmp_path / "candidate", after)),
        "base_ref": str(write(tmp_path / "base", base)),
    }
    made.update(context)  # type: ignore[typeddict-item]
    return await ProtectedFilesEvaluator().evaluate("coding", "", made)


def changed(old: str, new: str, text: str = TEST) -> str:
    assert old in text
    return text.replace(old, new)


ALLOWED: dict[str, dict[str, str | None]] = {
    "nothing": {},
    "source": {"shop.py": "def total(prices):\n    return sum(prices, 0)\n"},
    "a-directory-called-test-without-tests": {"src/test/client.py": "class Client:\n    pass\n"},
    "new-test-file": {"tests/test_new.py": "def test_new(): ...\n"},
    "new-conftest-of-new-tests": {"tests/new/conftest.py": "import pytest\n"},
    "tests-added-at-the-end": {
        "tests/test_shop.py": TEST + "\n\ndef test_added():\n    assert total([9]) == 9\n"
    },
    "test-added-between": {
        "tests/test_shop.py": changed("class TestMore", "def test_added():\n    pass\n\n\nclass TestMore")
    },
    "test-added-to-a-class": {"tests/test_shop.py": TEST + "\n    def test_two(self):\n        pass\n"},
    "import-added-and-sorted": {
        "tests/test_shop.py": changed(
            "import pytest\n\nfrom", "import json\n\nimport pytest\nfrom shop import VAT\nfrom"
        )
    },
    "name-added-to-an-import": {"tests/test_shop.py": changed("import total", "import VAT, total")},
    "row-added": {"tests/test_shop.py": changed("([5], 5)]", "([5], 5), ([5, 6], 11)]")},
    "row-added-between": {"tests/test_shop.py": changed("([], 0), ", "([], 0), ([1, 1], 2), ")},
    "constant-added": {"tests/test_shop.py": changed("@pytest.fixture", "PRICES = [1]\n\n\n@pytest.fixture")},
    "comments-and-layout": {
        "tests/test_shop.py": changed("[1, 2]", "[\n        1,  # first\n        2,\n    ]")
    },
    "dependency-added": {"pyproject.toml": changed('["attrs"]', '["attrs", "httpx"]', PYPROJECT)},
    "version-raised": {"pyproject.toml": changed('"1.0"', '"1.1"', PYPROJECT)},
    "marker-added": {"pyproject.toml": changed('time"]', 'time", "web: uses the network"]', PYPROJECT)},
    "section-of-a-tool-that-was-not-set": {"pyproject.toml": PYPROJECT + "\n[tool.mypy]\nstrict = true\n"},
    "marker-replaced": {"pyproject.toml": changed("slow: takes its time", "fast", PYPROJECT)},
    "configuration-of-a-tool-that-no-gate-runs": {".coveragerc": "[run]\nomit = *\n"},
    "section-that-ruff-does-not-read-beside-ruff.toml": {
        "pyproject.toml": changed("line-length = 100", "line-length = 110", PYPROJECT)
    },
    "requirements-of-the-build": {"pyproject.toml": changed('["hatchling"]', '["hatchling>=1"]', PYPROJECT)},
    "section-moved-to-another-file": {
        "setup.cfg": "[metadata]\nname = shop\n",
        "mypy.ini": "[mypy]\nstrict = yes\n",
    },
    "metadata-in-setup-cfg": {"setup.cfg": "[metadata]\nname = bazaar\n\n[mypy]\nstrict = true\n"},
}


@pytest.mark.parametrize("changes", ALLOWED.values(), ids=ALLOWED)
async def test_honest_work_is_no_tampering(tmp_path: Path, changes: dict[str, str | None]) -> None:
    result = await judge(tmp_path, changes)
    assert result.status is EvaluationStatus.SKIPPED, result.feedback


REFUSED: dict[str, tuple[str, str | None]] = {
    "assertion-weakened": ("tests/test_shop.py", changed("== 3", ">= 0")),
    "assertion-removed": ("tests/test_shop.py", changed("assert total(basket) == 3", "pass")),
    "test-deleted": ("tests/test_shop.py", changed("def test_total(", "def check_total(")),
    "skipped": ("tests/test_shop.py", changed("def test_total(", "@pytest.mark.skip\ndef test_total(")),
    "whole-file-skipped": (
        "tests/test_shop.py",
        changed("@pytest.fixture", "pytestmark = pytest.mark.skip\n\n\n@pytest.fixture"),
    ),
    "call-at-import": (
        "tests/test_shop.py",
        changed("@pytest.fixture", "pytest.skip('x', allow_module_level=True)\n\n\n@pytest.fixture"),
    ),
    "row-removed": ("tests/test_shop.py", changed(", ([5], 5)", "")),
    "row-replaced": ("tests/test_shop.py", changed("([5], 5)", "([5], total([5]))")),
    "fixture-changed": ("tests/test_shop.py", changed("[1, 2]", "[3]")),
    "redefined-below": ("tests/test_shop.py", TEST + "\n\ndef test_total():\n    pass\n"),
    "name-hidden-by-an-import": ("tests/test_shop.py", TEST + "\n\nfrom shop import test_total\n"),
    "loop-that-takes-tests-away": ("tests/test_shop.py", TEST + "\n\nfor name in list(globals()): pass\n"),
    "import-removed": ("tests/test_shop.py", changed("import pytest\n\n", "")),
    "file-deleted": ("tests/test_shop.py", None),
    "emptied": ("tests/test_shop.py", ""),
    "not-python-any-more": ("tests/test_shop.py", "def ("),
    "conftest-replaced": ("tests/conftest.py", "collect_ignore = ['test_shop.py']\n"),
    "expected-data": ("tests/data/prices.json", "[2]\n"),
    "configuration-of-pytest": ("pyproject.toml", changed("--strict-markers", "-k nothing", PYPROJECT)),
    "project-file-among-data": ("tests/data/pyproject.toml", "[project]\nname = 'b'\n"),
    "build-system": ("pyproject.toml", changed("hatchling.build", "backdoor", PYPROJECT)),
    "broken-toml": ("pyproject.toml", PYPROJECT + "\n["),
    "file-of-ruff": ("ruff.toml", "exclude = ['*']\n"),
    "section-in-setup-cfg": ("setup.cfg", "[metadata]\nname = shop\n\n[mypy]\nignore_errors = true\n"),
    "hidden-data-of-tests": ("tests/.expected/prices.json", "[2]\n"),
    "project-file-added": ("phaserunner.toml", "[protected]\nopen = ['**']\n"),
}


@pytest.mark.parametrize(("name", "content"), REFUSED.values(), ids=REFUSED)
async def test_tampering_is_said_exactly(tmp_path: Path, name: str, content: str | None) -> None:
    result = await judge(tmp_path, {name: content})
    assert (result.status, result.score) == (EvaluationStatus.FAILED, 0.0)
    assert result.metadata["tampered"] == [name]
    assert name in result.feedback
    assert name in result.suggestions[0]
    if content is not None:
        assert result.criteria[0].evidence is not None
        assert f"candidate/{name}" in result.criteria[0].evidence
    assert result.blocking_issues


async def test_a_weakened_setting_is_asked_about_by_its_name(tmp_path: Path) -> None:
    text = changed("line-length = 100", "lint.ignore = ['F401']", PYPROJECT)
    base = {name: content for name, content in BASE.items() if name != "ruff.toml"}
    result = await judge(tmp_path, {"pyproject.toml": text}, base)
    asked = [each for each in result.questions if "ignore" in each.text]
    assert [each.text for each in asked] == [
        "`pyproject.toml`: `tool.ruff.lint.ignore` now has `F401`: does the goal say so?"
    ]
    assert (asked[0].kind, asked[0].before) == ("weaker", "")
    assert "F401" in asked[0].after


async def test_a_file_that_hides_the_settings_of_another_is_a_question(tmp_path: Path) -> None:
    result = await judge(tmp_path, {"pytest.ini": "[pytest]\naddopts = -k nothing --strict-markers\n"})
    assert result.metadata["tampered"] == ["pytest.ini"]
    assert [each.id for each in result.questions] == ["pytest.ini::pytest.addopts"]


async def test_commands_of_the_project_may_read_any_section(tmp_path: Path) -> None:
    base = {**BASE, "phaserunner.toml": "[[command]]\nname = 'cov'\nrun = ['make', 'cov']\n"}
    result = await judge(tmp_path, {".coveragerc": "[run]\nomit = *\n"}, base)
    assert result.metadata["tampered"] == [".coveragerc"]


@pytest.mark.parametrize(
    ("project_file", "asked"),
    [
        pytest.param("# pytest runs without options\n", False, id="a comment"),
        pytest.param("[evaluators.pytest]\nenabled = false\n", True, id="the gate is off"),
        pytest.param("pytest = [", True, id="unreadable"),
    ],
)
async def test_rewritten_tests_pass_unless_the_project_sets_the_test_gate(
    tmp_path: Path, project_file: str, *, asked: bool
) -> None:
    base = {**BASE, "phaserunner.toml": project_file}
    files = {**base, "tests/test_shop.py": changed("== 3", "== 4")}
    context: EvaluationContext = {
        "workspace_ref": str(write(tmp_path / "candidate", files)),
        "base_ref": str(write(tmp_path / "base", base)),
    }
    result = await ProtectedFilesEvaluator(tests_run=True).evaluate("coding", "", context)
    assert bool(result.questions) is asked


@pytest.mark.parametrize("pattern", ["tests/test_shop.py", "tests/*.py", "tests", "tests/", "**"])
async def test_an_opened_path_may_be_changed(tmp_path: Path, pattern: str) -> None:
    result = await judge(tmp_path, {"tests/test_shop.py": changed("== 3", "== 4")}, open_paths=[pattern])
    assert result.status is EvaluationStatus.SKIPPED
    assert result.metadata["opened"] == ["tests/test_shop.py"]
    assert "tests/test_shop.py" in result.feedback


async def test_only_what_was_opened_is_open(tmp_path: Path) -> None:
    changes = {"tests/test_shop.py": changed("== 3", "== 4"), "tests/conftest.py": "x = 1\n"}
    result = await judge(tmp_path, changes, open_paths=["tests/conftest.py"])
    assert result.metadata["tampered"] == ["tests/test_shop.py"]


async def test_a_project_may_protect_more(tmp_path: Path) -> None:
    result = await judge(tmp_path, {"shop.py": "total = sum\n"}, protected_paths=["shop.py"])
    assert result.metadata["tampered"] == ["shop.py"]


async def test_names_of_test_files_are_those_of_the_base(tmp_path: Path) -> None:
    base = {
        "pytest.ini": "[pytest]\npython_files = check_*.py\n",
        "check_a.py": "def test_a(): assert False\n",
    }
    result = await judge(tmp_path, {"check_a.py": "def test_a(): pass\n"}, base)
    assert result.metadata["tampered"] == ["check_a.py"]


async def test_a_link_in_the_place_of_a_test_is_no_test(tmp_path: Path) -> None:
    context: EvaluationContext = {
        "workspace_ref": str(write(tmp_path / "candidate", {**BASE, "tests/other.py": TEST})),
        "base_ref": str(write(tmp_path / "base", BASE)),
    }
    place = tmp_path / "candidate" / "tests" / "test_shop.py"
    os.unlink(place)
    os.symlink("other.py", place)
    result = await ProtectedFilesEvaluator().evaluate("coding", "", context)
    assert result.metadata["tampered"] == ["tests/test_shop.py"]


async def test_bytes_that_are_no_text_are_compared(tmp_path: Path) -> None:
    base, candidate = write(tmp_path / "base", BASE), write(tmp_path / "candidate", BASE)
    (base / "tests" / "data" / "image").write_bytes(b"\0\xff")
    (candidate / "tests" / "data" / "image").write_bytes(b"\0\xfe\xfe")
    context: EvaluationContext = {"workspace_ref": str(candidate), "base_ref": str(base)}
    result = await ProtectedFilesEvaluator().evaluate("coding", "", context)
    assert result.metadata["tampered"] == ["tests/data/image"]
    assert result.criteria[0].evidence == "2 bytes became 3 bytes"


async def test_without_a_base_there_is_nothing_to_compare(tmp_path: Path) -> None:
    context: EvaluationContext = {"workspace_ref": str(write(tmp_path, BASE))}
    result = await ProtectedFilesEvaluator().evaluate("coding", "", context)
    assert result.status is EvaluationStatus.SKIPPED


async def test_a_base_that_is_gone_is_no_verdict(tmp_path: Path) -> None:
    context: EvaluationContext = {"workspace_ref": str(write(tmp_path, BASE)), "base_ref": "/nowhere"}
    result = await ProtectedFilesEvaluator().evaluate("coding", "", context)
    assert result.status is EvaluationStatus.ERRORED


async def test_by_default_a_change_is_a_question(tmp_path: Path) -> None:
    result = await judge(tmp_path, {"tests/test_shop.py": changed("== 3", "== 4")})
    (asked,) = result.questions
    assert asked.text == (
        "`tests/test_shop.py::test_total` now expects `4` where it was `3`: does the goal say so?"
    )
    assert "test_total" in result.feedback


@pytest.mark.parametrize(("policy", "status"), [("fail", "failed"), ("ask", "failed"), ("note", "skipped")])
async def test_the_policy_decides_what_becomes_of_changes(tmp_path: Path, policy: str, status: str) -> None:
    result = await judge(
        tmp_path, {"tests/test_shop.py": changed("== 3", "== 4")}, protected_policy=ProtectedPolicy(policy)
    )
    assert (result.status, bool(result.questions)) == (status, policy == "ask")
    assert "tests/test_shop.py" in result.feedback


async def test_moved_settings_are_no_question(tmp_path: Path) -> None:
    moved = {"setup.cfg": None, "pyproject.toml": PYPROJECT + "\n[tool.mypy]\nstrict = true\n"}
    result = await judge(tmp_path, moved)
    assert (result.questions, result.metadata["extended"]) == ([], ["pyproject.toml", "setup.cfg"])


async def test_many_changed_tests_of_one_file_are_one_question(tmp_path: Path) -> None:
    many = "".join(f"def test_{n}():\n    assert {n}\n\n\n" for n in range(60))
    base = {**BASE, "tests/test_many.py": many}
    result = await judge(
        tmp_path / "one", {"tests/test_many.py": many.replace("assert ", "assert 1 or ")}, base
    )
    assert [each.id for each in result.questions] == ["tests/test_many.py"]
    assert "60 of its tests" in result.questions[0].text
    # The answer covers exactly these changes, also those that are too long to be shown.
    other = many.replace("assert ", "assert 1 or ").replace("assert 1 or 59", "assert 2 or 59")
    second = await judge(tmp_path / "two", {"tests/test_many.py": other}, base)
    assert second.questions[0].key != result.questions[0].key


async def test_changes_in_more_files_than_one_can_read_are_one_question(tmp_path: Path) -> None:
    many = {f"tests/test_{n}.py": f"def test_it():\n    assert {n}\n" for n in range(60)}
    changed = {name: text.replace("assert ", "assert 1 or ") for name, text in many.items()}
    result = await judge(tmp_path / "one", changed, {**BASE, **many})
    (question,) = result.questions
    assert question.text.startswith("60 protected files were changed, 60 in `tests`")
    # The answer covers exactly these changes.
    other = {**changed, "tests/test_7.py": "def test_it():\n    assert True\n"}
    second = await judge(tmp_path / "two", other, {**BASE, **many})
    assert second.questions[0].key != question.key
