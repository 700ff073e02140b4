"""Those who protect the test setting of a base and those who lay it over mean the same files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.runners.evaluators.protection.rules import protected_files
from app.runners.evaluators.testing.layout.config import settings_for
from app.runners.evaluators.testing.layout.setting import TestSetting
from app.runners.evaluators.testing.layout.trees import lay_out

PATTERNS = ("test_*.py", "*_test.py", "checks/*.py")


@pytest.mark.parametrize(
    ("name", "belongs"),
    [
        pytest.param("src/test_a.py", True, id="a test file"),
        pytest.param("src/conftest.py", True, id="a conftest"),
        pytest.param("checks/a.py", True, id="a pattern with a directory"),
        pytest.param("tests/deep/data.json", True, id="data beside tests"),
        pytest.param("tests/new.py", True, id="what a candidate adds there"),
        pytest.param("test/data.json", False, id="a test directory without tests"),
        pytest.param("src/tests.py", False, id="a module of that name"),
        pytest.param("src/TEST_A.py", False, id="letters of another case"),
    ],
)
def test_what_belongs(name: str, belongs: bool) -> None:
    setting = TestSetting(PATTERNS, ["tests/deep/test_a.py", "test/data.json", "src/a.py"])
    assert (name in setting) is belongs


NAMES = st.lists(
    st.sampled_from(["tests", "test", "src", "test_a.py", "b_test.py", "conftest.py", "c.py", "d.txt"]),
    min_size=1,
    max_size=4,
).map("/".join)


@given(st.lists(NAMES, max_size=8), NAMES)
def test_more_files_never_take_one_out(files: list[str], more: str) -> None:
    small, large = TestSetting(PATTERNS, files), TestSetting(PATTERNS, [*files, more])
    assert all(name in large for name in files if name in small)


def test_protected_is_what_is_laid_over(tree) -> None:
    base = tree(
        {
            "pytest.ini": "[pytest]\npython_files = check_*.py\n",
            "src/a.py": "",
            "src/check_a.py": "",
            "tests/check_b.py": "def test_b(): ...\n",
            "tests/data/c.txt": "c",
            "tests/test_no_test.py": "",
            "test/d.txt": "d",
            "conftest.py": "",
        }
    )
    laid = lay_out(base, tree({}), settings_for(base, base)).laid_over
    assert set(protected_files(base)) - {"pytest.ini"} == set(laid)
    assert "tests/data/c.txt" in laid
