"""From where the packages of a repository with several projects are imported."""

import pytest

from app.runners.evaluators.static.source_roots import source_roots
from tests.unit.runners.evaluators.conftest import Context, Tree
from tests.unit.runners.evaluators.static.types_support import check_types

CONFIG = {"pyproject.toml": "[tool.mypy]\nstrict = true\n"}
CORE = {
    "packages/core/pyproject.toml": "",
    "packages/core/src/core/__init__.py": "def size(x: int) -> int:\n    return x\n",
}
API = {"packages/api/pyproject.toml": "", "packages/api/src/api/__init__.py": ""}
USE = "from core import size\n\n\ndef f() -> {}:\n    return size(1)\n"


@pytest.mark.parametrize(
    ("files", "roots"),
    [
        pytest.param({**CORE, **API}, ("packages/api/src", "packages/core/src"), id="a workspace"),
        pytest.param({"packages/core/src/core/__init__.py": ""}, (), id="no project"),
        pytest.param(
            {**CORE, "packages/core/src/core/__init__.py": "", "core/a.py": ""}, (), id="a name twice"
        ),
        pytest.param(
            {**CORE, "x/setup.py": "", "x/src/core/a.py": "", "y/setup.cfg": "", "y/src/one.py": ""},
            ("y/src",),
            id="two projects with a package of one name",
        ),
        pytest.param({"vendor/a/setup.py": "", "vendor/a/src/a.py": ""}, (), id="code of others"),
        pytest.param({"setup.py": "", "src/a.py": ""}, (), id="one project"),
    ],
)
def test_source_roots(tree: Tree, files: dict[str, str], roots: tuple[str, ...]) -> None:
    assert source_roots(tree(files)) == roots


@pytest.mark.anyio
async def test_types_of_another_project_are_known(context: Context) -> None:
    base = {**CONFIG, **CORE, **API}
    good = context({**base, "packages/api/src/api/use.py": USE.format("int")}, base)
    wrong = context({**base, "packages/api/src/api/use.py": USE.format("str")}, base)
    assert (await check_types(good)).status == "passed"
    result = await check_types(wrong)
    assert (result.status, result.questions) == ("failed", [])
