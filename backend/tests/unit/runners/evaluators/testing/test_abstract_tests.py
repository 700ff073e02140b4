"""Tests of a class that others extend: pytest runs them, though the class lacks what they use."""

from pathlib import Path

import pytest

from app.runners.evaluators.testing.running.base_code import BaseCode
from app.runners.evaluators.testing.sorting.abstract_tests import is_of_abstract_class
from tests.unit.runners.evaluators.testing.gate_support import run

ABSTRACT = """import unittest
{imports}

class TestCatalog({base}):
    def make(self):
        raise NotImplementedError

    def test_add(self):
        self.assertEqual(self.make()(1, 2), 3)

    def test_name(self):
        self.assertEqual(self.name, "calc")
"""
EXTENDING = """from tests.test_catalog import TestCatalog
from calc import add


class TestCalc(TestCatalog):
    name = "calc"

    def make(self):
        return add
"""
NOT_IMPLEMENTED = "tests/test_catalog.py:7: NotImplementedError"
NO_ATTRIBUTE = "tests/test_catalog.py:13: AttributeError: 'TestCatalog' object has no attribute 'name'"


def code(
    tmp_path: Path, *, base: str = "unittest.TestCase", imports: str = "", extended: bool = True
) -> BaseCode:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_catalog.py").write_text(ABSTRACT.format(base=base, imports=imports))
    (tmp_path / "tests/test_calc.py").write_text(EXTENDING if extended else "def test_it():\n    pass\n")
    (tmp_path / "calc.py").write_text("class Case:\n    pass\n\n\ndef add(a, b):\n    return a + b\n")
    return BaseCode(tmp_path, ["calc.py"])


@pytest.mark.parametrize("message", [NOT_IMPLEMENTED, NO_ATTRIBUTE])
@pytest.mark.parametrize("file", ["test_catalog.py", "test_calc.py"], ids=["its own file", "imported"])
def test_what_a_test_class_leaves_to_others(tmp_path: Path, message: str, file: str) -> None:
    assert is_of_abstract_class(message, f"tests/{file}::TestCatalog::test_add", code(tmp_path))


def test_a_class_of_another_package_with_the_same_beginning(tmp_path: Path) -> None:
    found = code(tmp_path, base="Case", imports="from calc.testing import Case")
    assert is_of_abstract_class(NOT_IMPLEMENTED, "tests/test_catalog.py::TestCatalog::test_add", found)


@pytest.mark.parametrize(
    ("message", "options"),
    [
        pytest.param(NOT_IMPLEMENTED, {"extended": False}, id="nothing extends it"),
        pytest.param(
            NOT_IMPLEMENTED, {"base": "Case", "imports": "from calc import Case"}, id="of the project"
        ),
        pytest.param(NOT_IMPLEMENTED, {"base": "calc.Case", "imports": "import calc"}, id="by its module"),
        pytest.param("calc.py:2: NotImplementedError", {}, id="in the code"),
        pytest.param("tests/test_catalog.py:9: AssertionError: 4 != 3", {}, id="another failure"),
        pytest.param(NO_ATTRIBUTE.replace("'TestCatalog'", "'Calc'"), {}, id="of another object"),
    ],
)
def test_what_the_code_may_lack(tmp_path: Path, message: str, options: dict[str, object]) -> None:
    found = code(tmp_path, **options)  # type: ignore[arg-type]  # as given above
    assert not is_of_abstract_class(message, "tests/test_catalog.py::TestCatalog::test_add", found)


@pytest.mark.anyio
async def test_they_do_not_count(context) -> None:
    base = {
        "calc.py": "def add(a, b):\n    return a + b\n",
        "tests/__init__.py": "",
        "tests/test_catalog.py": ABSTRACT.format(base="unittest.TestCase", imports=""),
        "tests/test_calc.py": EXTENDING.replace(
            "from tests.test_catalog import TestCatalog", "from tests import test_catalog"
        ).replace("(TestCatalog)", "(test_catalog.TestCatalog)"),
    }
    changed = {**base, "calc.py": "def add(a, b):\n    # The sum.\n    return a + b\n"}
    result = await run(context, changed, base=base)
    assert result.passed, result.feedback
    assert "its class lacks what those define that extend it" in result.feedback
