"""Tests in packages of a namespace are part of that namespace."""

import pytest

from app.runners.evaluators.testing.layout.namespaces import are_in_namespaces
from tests.unit.runners.evaluators.testing.gate_support import run

pytestmark = pytest.mark.anyio

NAMESPACE = {
    "src/house/pantry/__init__.py": "class Jar:\n    pass\n",
    "src/house/pantry/tests/__init__.py": "",
    "src/house/pantry/tests/test_jar.py": (
        "from house.pantry import Jar\n\n\ndef test_jar():\n"
        "    assert Jar.__module__ == 'house.pantry'\n"
        "    assert __name__ == 'house.pantry.tests.test_jar'\n"
    ),
}


async def test_tests_in_a_package_of_a_namespace_are_imported_by_their_whole_name(context) -> None:
    old = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"
    before = {**NAMESPACE, "src/house/__init__.py": old}
    result = await run(context, NAMESPACE, before)
    assert result.passed, result.feedback


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("src/house/pantry/tests/test_jar.py", True),
        ("src/house/pantry/test_jar.py", True),
        ("src/pantry/test_jar.py", False),
        ("tests/test_jar.py", False),
        ("src/house/tests/test_jar.py", False),
    ],
)
def test_a_namespace_is_above_a_package_and_below_a_place_of_imports(name: str, found: bool) -> None:
    packages = ("src/house/pantry", "src/house/pantry/tests", "src/pantry", "tests")
    names = [name, *(f"{each}/__init__.py" for each in packages)]
    assert are_in_namespaces(names, ["test_*.py"], ["src"]) is found
    assert not are_in_namespaces([*names, "test_more.py"], ["test_*.py"], ["src"])
