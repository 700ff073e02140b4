"""Files that a build makes: they are there, and the candidate does not write them."""

from pathlib import Path

import pytest

from app.runners.evaluators.testing.running.dependencies import is_made_by_build
from app.workspaces.files.origin import TreeOrigin, write_origin
from tests.unit.runners.evaluators.testing.gate_support import TEST, judge
from tests.unit.runners.evaluators.testing.setups_support import CODE

pytestmark = pytest.mark.anyio


SCM = """
[project]
name = "calc"
dynamic = ["version"]
[tool.setuptools_scm]
version_file = "calc/_version.py"
"""


VERSIONED = {
    **CODE,
    "pyproject.toml": SCM,
    "calc/__init__.py": "from calc._version import version\n" + CODE["calc/__init__.py"],
    "tests/test_calc.py": "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n"
    "    assert calc.version == '1.5'\n",
}


async def test_the_version_file_of_the_build_is_there_and_the_candidate_does_not_write_it(context) -> None:
    made = context(VERSIONED, VERSIONED)
    write_origin(Path(made["base_ref"]), TreeOrigin(described="v1.5-0-gabc123"))
    assert (await judge(made, outside=False)).status == "passed"
    wrong = {"calc/__init__.py": VERSIONED["calc/__init__.py"].replace("a + b", "a - b")}
    made = context({**VERSIONED, **wrong}, VERSIONED)
    write_origin(Path(made["base_ref"]), TreeOrigin(described="v1.5-0-gabc123"))
    assert (await judge(made, outside=False)).status == "failed"


COMPILED = {
    "calc/__init__.py": "from calc._speed import add\n",
    "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
}


async def test_a_submodule_that_a_build_makes_is_no_fault_of_the_candidate(context) -> None:
    result = await judge(context({**COMPILED, "b.py": "X = 1\n"}, COMPILED), outside=False)
    assert (result.status, result.metadata["reason"]) == ("errored", "environment")
    assert "calc._speed" in result.feedback


async def test_a_submodule_that_is_to_be_written_is(context) -> None:
    wanted = TEST["tests/test_calc.py"].replace("from calc import", "from calc.core import")
    base = {"calc/__init__.py": "", "tests/test_calc.py": wanted}
    result = await judge(context({**base, "b.py": "X = 1\n"}, base), outside=False)
    assert result.status == "failed"
    assert "No module named 'calc.core'" in result.feedback


async def test_a_module_that_the_candidate_takes_away_is(context) -> None:
    code = "def add(a, b):\n    return a + b\n"
    base = {"calc/__init__.py": "from calc.core import add\n", "calc/core.py": code, **TEST}
    candidate = {name: text for name, text in base.items() if name != "calc/core.py"}
    assert (await judge(context(candidate, base), outside=False)).status == "failed"


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ("from calc._speed import add", True),
        ("from ._speed import add", True),
        ("from . import _speed", True),
        ("from calc import _speed, other", True),
        ("import calc._speed", True),
        ("    from .._speed import add", True),
        ("# a word about calc._speed", False),
        ("from calc._speedy import add", False),
        ("from calc.core import add", False),
    ],
    ids=str,
)
def test_what_code_imports_and_the_tree_lacks_is_made_by_the_build(
    tmp_path: Path, line: str, made: bool
) -> None:
    (tmp_path / "src/calc").mkdir(parents=True)
    (tmp_path / "src/calc/core.py").write_text("")
    (tmp_path / "src/calc/__init__.py").write_text(f"{line}\n")
    assert is_made_by_build("calc._speed", tmp_path, ["src/calc/__init__.py"]) is made
    assert not is_made_by_build("calc.core", tmp_path, ["src/calc/__init__.py"])
    assert not is_made_by_build("gone._speed", tmp_path, ["src/calc/__init__.py"])
