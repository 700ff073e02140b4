"""Test files may move to where pytest finds them, too."""

import pytest

from app.runners.evaluators.protection.rules import compare_protected
from tests.unit.runners.evaluators.conftest import Tree

TEST = "from app import f\n\ndef test_f():\n    assert f() == 1\n"
BASE = {"app.py": "", "tests/test_a.py": TEST, "tests/test_b.py": TEST}
INI = "[pytest]\n"


def asked(tree: Tree, base: dict[str, str], place: str, text: str = TEST, **more: str) -> list[str]:
    kept = {name: content for name, content in base.items() if name != "tests/test_a.py"}
    added = {name.replace("__", "/").replace("_py", ".py"): content for name, content in more.items()}
    found = compare_protected(tree(base), tree({**kept, place: text, **added}))
    return [each.path for each in found.findings]


@pytest.mark.parametrize(
    ("base", "place", "text"),
    [
        pytest.param(BASE, "tests/unit/test_a.py", TEST, id="a directory below"),
        pytest.param(BASE, "tests/unit/test_a.py", TEST + "    assert f() < 2\n", id="and stricter"),
        pytest.param(
            {**BASE, "pytest.ini": f"{INI}testpaths = tests\n"},
            "tests/x/test_a.py",
            TEST,
            id="where pytest looks",
        ),
    ],
)
def test_a_moved_test_needs_no_question(tree: Tree, base: dict[str, str], place: str, text: str) -> None:
    assert asked(tree, base, place, text) == []


@pytest.mark.parametrize(
    ("base", "place", "text"),
    [
        pytest.param(BASE, "tests/unit/test_a.py", TEST.replace("== 1", "or True"), id="weaker"),
        pytest.param(BASE, "other/test_a.py", TEST, id="another place"),
        pytest.param(BASE, "tests/build/test_a.py", TEST, id="a directory that pytest leaves out"),
        pytest.param(BASE, "tests/unit/check_a.py", TEST, id="another name"),
        pytest.param(
            {**BASE, "pytest.ini": f"{INI}testpaths = tests/unit\n"},
            "tests/x/test_a.py",
            TEST,
            id="not searched",
        ),
        pytest.param(
            {**BASE, "pytest.ini": f"{INI}addopts = --ignore=tests/x\n"},
            "tests/x/test_a.py",
            TEST,
            id="ignored",
        ),
        pytest.param(
            {**BASE, "tests/conftest.py": "collect_ignore = ['x']\n"},
            "tests/x/test_a.py",
            TEST,
            id="a conftest",
        ),
    ],
)
def test_other_moves_are_asked_about(tree: Tree, base: dict[str, str], place: str, text: str) -> None:
    assert asked(tree, base, place, text) == ["tests/test_a.py"]


def test_a_new_conftest_above_the_new_place_may_decide(tree: Tree) -> None:
    assert asked(
        tree, BASE, "tests/x/test_a.py", tests__x__conftest_py="collect_ignore = ['test_a.py']\n"
    ) == ["tests/test_a.py"]
