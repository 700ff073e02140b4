"""A repository with a project in each of four directories: `init` finds them, and gates judge changes."""

import shutil
import tomllib
from pathlib import Path

import pytest

from app.cli.commands.init import init
from app.cli.root import Options
from app.core.config import Settings
from app.schemas.api.workspace_reports import EvaluateRequest, EvaluationReport
from app.services.local.findings import findings_of
from tests.integration.evaluators.support import commit_all, judging_with, lay_out, root_at
from tests.integration.evaluators.test_example_projects import EXAMPLES
from tests.integration.evaluators.test_language_presets import (
    GO_BAD,
    JS_BAD,
    JS_TEST,
    PROGRAMS,
    RUST,
    RUST_BAD,
    RUST_TEST,
)

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        any(shutil.which(each) is None for each in PROGRAMS.values()), reason="a toolchain is not installed"
    ),
]

SUMS = '"""Sums."""\n\n\ndef total(one: int, other: int) -> int:\n    """Add."""\n    return one + other\n'
SUMS_TEST = "from shop.sums import total\n\n\ndef test_total() -> None:\n    assert total(1, 2) == 3\n"
API = {
    "api/pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n'
    '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    "api/shop/__init__.py": '"""A shop."""\n',
    "api/shop/sums.py": SUMS,
    "api/tests/test_sums.py": SUMS_TEST,
}
PROJECTS = {"web": "javascript", "core": "rust", "tools": "go"}
FILE = """\
[evaluators.pytest]
directories = ["api"]
[evaluators.type_check]
directories = ["api"]
[[command]]
name = "web"
preset = "node-test"
working_directory = "web"
timeout = 600
[[command]]
name = "tools"
preset = "go-test"
working_directory = "tools"
timeout = 600
[[command]]
name = "vet"
preset = "go-vet"
working_directory = "tools"
timeout = 600
[[command]]
name = "core"
preset = "cargo-test"
working_directory = "core"
timeout = 600
"""
BAD_SUMS = SUMS.replace("one + other", "one - other")
VET = GO_BAD["cart.go"].replace("/11", "/10") + "\nfunc same(one int) int {\n\tone = one\n\treturn one\n}\n"

CASES: dict[str, tuple[dict[str, str], str, str, str]] = {
    "good in each": (
        {
            "api/shop/sums.py": SUMS.replace("one + other", "other + one"),
            "api/tests/test_more.py": SUMS_TEST.replace("test_total", "test_more"),
            "web/cart.js": JS_BAD["cart.js"].replace("/ 11", "/ 10.0"),
            "core/src/lib.rs": f"// Better.\n{RUST}",
            "tools/cart.go": GO_BAD["cart.go"].replace("/11", "/ 10"),
        },
        *("passed", "", ""),
    ),
    "python, behind another test": (
        {"api/shop/sums.py": BAD_SUMS, "api/tests/test_sums.py": SUMS_TEST.replace("== 3", "!= 9")},
        *("failed", "pytest", "api/tests/test_sums.py"),
    ),
    "python, that cannot be imported": (
        {"api/shop/sums.py": "import nothing_of_this_name\n" + SUMS},
        *("failed", "pytest", "api/tests/test_sums.py"),
    ),
    "python, gone": (
        dict.fromkeys(API, ""),
        *("failed", "pytest", "Restore api"),
    ),
    "javascript, behind a skipped test": (
        {
            "web/cart.js": JS_BAD["cart.js"],
            "web/test/cart.test.js": JS_TEST.replace('it("gives', 'it.skip("gives'),
        },
        *("asks", "web", "gives the tenth for free"),
    ),
    "rust, behind an ignored test": (
        {
            "core/src/lib.rs": RUST_BAD["src/lib.rs"].partition("#[cfg(test)]")[0],
            "core/tests/total.rs": RUST_TEST.replace("#[test]\nfn the", "#[test]\n#[ignore]\nfn the"),
        },
        *("asks", "core", "the_tenth_is_free"),
    ),
    "go, behind another golden file": (
        {
            "tools/cart.go": GO_BAD["cart.go"].replace("/11", "/5"),
            "tools/testdata/receipt.txt": "Total: 1600\n",
        },
        *("failed", "tools", "TestReceipt"),
    ),
    "go, a finding": ({"tools/cart.go": VET}, "failed", "vet", "tools/cart.go"),
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository without a file of PhaseRunner."""
    place = tmp_path / "shop"
    lay_out(place, API)
    for directory, example in PROJECTS.items():
        shutil.copytree(EXAMPLES / example, place / directory)
        (place / directory / "phaserunner.toml").unlink()
    commit_all(place, "init")
    return place


async def judged(repository: Path, data: Path) -> EvaluationReport:
    async with judging_with(Settings(_env_file=None, DATA_DIR=data)) as judging:
        request = EvaluateRequest(path=str(repository), base="HEAD", deterministic_only=True)
        return await judging.judge(request)


@pytest.mark.parametrize(
    ("changes", "verdict", "gate", "told"), [pytest.param(*CASES[name], id=name) for name in CASES]
)
async def test_each_project_is_judged(
    tmp_path: Path, repository: Path, changes: dict[str, str], verdict: str, gate: str, told: str
) -> None:
    lay_out(repository, {"phaserunner.toml": FILE})
    commit_all(repository, "File")
    lay_out(repository, changes)
    if not any(changes.values()):
        shutil.rmtree(repository / "api")
    report = await judged(repository, tmp_path / "data")
    found = findings_of(report)
    assert report.verdict == verdict, report.reason
    assert {each.evaluator for each in found if each.level != "note"} >= ({gate} if gate else set())
    places = [f"{each.path} {each.message}" for each in found if each.evaluator == gate]
    assert any(told in each for each in places) or not gate, found


async def test_init_finds_each_project_and_a_judgement_without_its_file_says_so(
    tmp_path: Path, repository: Path
) -> None:
    shutil.rmtree(repository / "core")
    commit_all(repository, "Less")
    report = await judged(repository, tmp_path / "data")
    assert (
        "no gate knows Python in api, JavaScript in web, Go in tools. Run `phaserunner init`" in report.reason
    )
    root, out = root_at(tmp_path)
    assert await init(repository, options=Options(), root=root) == 0
    told = out.getvalue()
    assert "projects in api, tools, web" in told
    for each in ("pytest in api (", "node_test_web in web (", "go_test_tools in tools (", "go_vet_tools in"):
        assert each in told.partition("Only advise")[0], told
    document = tomllib.loads((repository / "phaserunner.toml").read_text())
    assert document["evaluators"]["pytest"] == {"directories": ["api"]}
    assert {(each["preset"], each["working_directory"]) for each in document["command"]} == {
        *(("node-test", "web"), ("go-test", "tools"), ("go-vet", "tools"))
    }
