"""What only the tests use belongs to them, and nothing that may belong to the product."""

from pathlib import Path

import pytest

from app.runners.evaluators.testing.layout.owned import owned_by_tests
from app.runners.evaluators.testing.layout.setting import TestSetting
from app.runners.evaluators.tree_files import tree_files
from tests.unit.runners.evaluators.conftest import Tree

PATTERNS = ("test_*.py",)
CHECKS = "def assert_same(one, other):\n    assert one == other\n"


def owned(root: Path) -> set[str]:
    names = tree_files(root)
    return set(owned_by_tests(root, names, TestSetting(PATTERNS, names).__contains__))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(
            {"test_a.py": "open('wanted.json')", "wanted.json": "1", "a.py": ""},
            {"wanted.json"},
            id="data beside a test",
        ),
        pytest.param(
            {"test_a.py": "GOLDEN = 'golden'", "golden/deep/x.txt": "1", "a.py": ""},
            {"golden/deep/x.txt"},
            id="a directory with a name for data",
        ),
        pytest.param(
            {"test_a.py": "from checks import assert_same", "checks.py": CHECKS},
            {"checks.py"},
            id="a module of checks",
        ),
        pytest.param(
            {"test_a.py": "from checks import assert_same", "checks.py": CHECKS, "a.py": "import checks"},
            set(),
            id="a module of checks that the product uses",
        ),
        pytest.param(
            {"test_a.py": "from a import f", "a.py": "def f(x):\n    assert x\n    return x\n"},
            set(),
            id="the module that is tested",
        ),
        pytest.param(
            {"test_a.py": "open('rates.json')", "rates.json": "1", "a.py": "open('rates.json')"},
            set(),
            id="data of the product",
        ),
        pytest.param(
            {"test_a.py": "open('README.txt'); open('requirements.txt')"}
            | {"README.txt": "", "requirements.txt": ""},
            set(),
            id="documents and requirements",
        ),
        pytest.param({"test_a.py": "open('examples/x.json')", "examples/x.json": "1"}, set(), id="examples"),
        pytest.param(
            {"test_a.py": "'golden'", "golden/__init__.py": "", "golden/x.txt": "1"},
            set(),
            id="data in a package",
        ),
        pytest.param({"test_a.py": "def (", "x.json": "1"}, set(), id="a test that cannot be read"),
        pytest.param(
            {"a/test_a.py": "", "a/__snapshots__/test_a.ambr": "1", "a/__snapshots__/test_a/one.svg": "1"},
            {"a/__snapshots__/test_a.ambr", "a/__snapshots__/test_a/one.svg"},
            id="snapshots",
        ),
        pytest.param(
            {"test_a.py": "", "test_a/deep/one.yml": "1", "test_b/one.yml": "1", "a.py": ""},
            {"test_a/deep/one.yml"},
            id="a directory with the name of a test file",
        ),
        pytest.param(
            {"test_a.py": "", "test_a.test_one.txt": "1", "one.approved.txt": "1", "a.txt": "1"},
            {"test_a.test_one.txt", "one.approved.txt"},
            id="approved texts",
        ),
        pytest.param(
            {"test_a.py": "", "snapshots/one.txt": "1", "a.py": "open('snapshots/one.txt')"},
            set(),
            id="snapshots of the product",
        ),
        pytest.param(
            {"test_a.py": "", "snapshots/__init__.py": "", "snapshots/one.txt": "1"},
            set(),
            id="a package of snapshots",
        ),
        pytest.param({"b/test_a.py": "", "a/cassettes/one.yaml": "1"}, set(), id="recordings elsewhere"),
        pytest.param({"a.py": "open('x.json')", "x.json": "1"}, set(), id="no tests"),
    ],
)
def test_what_is_owned(tree: Tree, files: dict[str, str], expected: set[str]) -> None:
    assert owned(tree(files)) == expected
