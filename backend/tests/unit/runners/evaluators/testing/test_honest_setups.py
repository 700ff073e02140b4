"""Setups that people use and that must get a verdict, each beside an attempt to misuse the same way."""

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator

pytestmark = pytest.mark.anyio

CODE = {"calc/__init__.py": "class OldWarning(Warning): ...\n\n\ndef add(a, b):\n    return a + b\n"}
TEST = {"tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"}
WRONG = {"calc/__init__.py": CODE["calc/__init__.py"].replace("a + b", "a - b")}


async def judge(made, **options):
    return await PytestEvaluator(**options).evaluate("coding", "", made)


@pytest.mark.parametrize("place", ["", "src/"])
async def test_warning_filters_may_name_a_class_of_the_project(context, place: str) -> None:
    config = {"pyproject.toml": "[tool.pytest.ini_options]\nfilterwarnings = ['ignore::calc.OldWarning']\n"}
    code = {f"{place}{name}": text for name, text in CODE.items()}
    wrong = {f"{place}{name}": text for name, text in WRONG.items()}
    base = {**code, **TEST, **config}
    assert (await judge(context(base, base), outside=False)).status == "passed"
    assert (await judge(context({**base, **wrong}, base), outside=False)).status == "failed"


PART = {
    "src/pluggy/__init__.py": "VERSION = 'of the tree'\n\n\ndef double(a):\n    return 2 * a\n",
    "tests/test_pluggy.py": "import pluggy\n\n\ndef test_double():\n    assert pluggy.double(2) == 4\n",
}


async def test_a_project_that_pytest_is_made_of_is_judged_by_its_own_code(context) -> None:
    assert (await judge(context(PART, PART), outside=False)).status == "passed"
    wrong = {"src/pluggy/__init__.py": PART["src/pluggy/__init__.py"].replace("2 * a", "a")}
    assert (await judge(context({**PART, **wrong}, PART), outside=False)).status == "failed"


async def test_a_candidate_cannot_bring_parts_of_pytest(context) -> None:
    base = {**CODE, **TEST}
    forged = {
        **base,
        **WRONG,
        "pluggy/__init__.py": "import os\nos._exit(0)\n",
        "tests/test_more.py": "import pluggy\n\n\ndef test_more():\n    assert pluggy.HookspecMarker\n",
    }
    result = await judge(context(forged, base), outside=False)
    assert result.status == "failed"
    assert result.metadata["failing"] == ["tests/test_calc.py::test_add"]
