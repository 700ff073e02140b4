"""Which tests may end without an assertion, because code decides whether they reach any."""

import ast
from types import SimpleNamespace
from typing import Any

import pytest

from app.runners.evaluators.source_edits import Source
from app.runners.evaluators.testing.counter_tests.unreached import failing_assertions

RAISES = "        with pytest.raises(ValueError):\n            f(x)\n"
ASSERTS = "        assert f(x) == 1\n"


@pytest.mark.parametrize(
    ("body", "may_skip_all"),
    [
        pytest.param("    for x in f():\n        assert x\n", True, id="a loop"),
        pytest.param("    if f():\n        assert f()\n", True, id="a condition"),
        pytest.param(f"    if x:\n{RAISES}    else:\n{ASSERTS}", False, id="each branch"),
        pytest.param(f"    if x:\n{RAISES}    elif f():\n{ASSERTS}", True, id="not each branch"),
        pytest.param(
            f"    if x:\n{RAISES}    elif f():\n{ASSERTS}    else:\n{ASSERTS}", False, id="three branches"
        ),
        pytest.param("    assert f()\n    for x in f():\n        assert x\n", False, id="straight"),
        pytest.param("    f()\n", False, id="none at all"),
    ],
)
def test_tests_whose_assertions_code_may_skip(body: str, may_skip_all: bool) -> None:
    text = f"def test_it(x):\n{body}"
    unit: Any = SimpleNamespace(file=SimpleNamespace(source=Source(text.encode())))
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    assert bool(failing_assertions(unit, function)) is may_skip_all
