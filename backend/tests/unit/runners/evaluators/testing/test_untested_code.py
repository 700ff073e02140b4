"""New statements that ran in no test are named. A project may want a person to be asked, or a failure."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from app.runners.evaluators.protocol import EvaluationResult
from app.runners.evaluators.testing.pytest_runner.watched_lines import WatchedLines
from app.runners.evaluators.verdict import questions_of
from app.schemas.modes import UntestedCode
from app.workspaces.environments.outcome import EnvironmentUnavailable
from app.workspaces.environments.pythons import choose_python
from tests.unit.runners.evaluators.conftest import Context

pytestmark = pytest.mark.anyio

CAN_TELL = (3, 12)
BASE = {
    "shop.py": "def total(prices):\n    return sum(prices)\n",
    "tests/test_shop.py": "from shop import total\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
}
UNTESTED = {
    **BASE,
    "shop.py": (
        "def total(prices, discount=0):\n    found = sum(prices)\n    if discount:\n"
        "        found -= discount\n    return found\n"
    ),
}
TESTED = {
    **UNTESTED,
    "tests/test_discount.py": (
        "from shop import total\n\ndef test_discount():\n    assert total([3], discount=1) == 2\n"
    ),
}
SENTENCE = "No test ran 1 of 4 new statements: shop.py:4"


@pytest.fixture(scope="module")
def new_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that reports lines, with pytest."""
    if sys.version_info >= CAN_TELL:
        return Path(sys.executable)
    uv = shutil.which("uv", path=os.pathsep.join((str(Path(sys.executable).parent), os.defpath)))
    if uv is None:
        pytest.skip("no uv to look for another Python")
    env = {"PATH": os.defpath, "HOME": str(Path.home())}
    found = asyncio.run(choose_python(Path(uv), ">=3.12", "", env))
    if isinstance(found, EnvironmentUnavailable):
        pytest.skip("this machine has no Python 3.12 or newer")
    place = tmp_path_factory.mktemp("new") / "environment"
    subprocess.run([found.path, "-m", "venv", "--without-pip", place], check=True)
    packages = next(place.glob("lib/python3*/site-packages"))
    for name in ("pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        for file in distribution(name).files or ():
            if file.suffix == ".py" or ".dist-info" in str(file):
                target = packages / file
                if packages in target.resolve().parents:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file.locate(), target)
    return place / "bin" / "python"


async def judge(
    context: Context,
    python: Path,
    files: Mapping[str, str],
    base: Mapping[str, str] | None = BASE,
    policy: UntestedCode = UntestedCode.NOTE,
) -> EvaluationResult:
    gate = PytestEvaluator(python=python, untested_code=policy)
    return await gate.evaluate("coding", "", context(files, base))


async def test_the_result_of_a_pass_names_them(context: Context, new_python: Path) -> None:
    result = await judge(context, new_python, UNTESTED)
    assert result.passed, result.feedback
    assert f"{SENTENCE}." in result.feedback.splitlines()
    assert result.metadata["new_code"] == {"statements": 4, "unrun": 1, "unrun_lines": {"shop.py": [[4, 4]]}}


async def test_the_candidates_own_tests_count(context: Context, new_python: Path) -> None:
    result = await judge(context, new_python, TESTED)
    assert result.passed, result.feedback
    assert "Tests ran all of 4 new statements." in result.feedback.splitlines()


async def test_a_person_can_be_asked(context: Context, new_python: Path) -> None:
    result = await judge(context, new_python, UNTESTED, policy=UntestedCode.ASK)
    (question,) = questions_of([result])
    assert not result.passed
    assert question.text == f"{SENTENCE}. Is that enough?"
    assert question.after == "# shop.py\n        found -= discount"
    assert result.feedback.count(SENTENCE) == 1


async def test_it_can_fail(context: Context, new_python: Path) -> None:
    result = await judge(context, new_python, UNTESTED, policy=UntestedCode.FAIL)
    assert not result.passed
    assert questions_of([result]) == ()
    assert result.feedback.splitlines()[0] == SENTENCE


@pytest.mark.parametrize("policy", UntestedCode)
async def test_tested_code_passes_with_each_policy(
    context: Context, new_python: Path, policy: UntestedCode
) -> None:
    assert (await judge(context, new_python, TESTED, policy=policy)).passed


async def test_a_project_without_tests_begins_with_its_own(context: Context, new_python: Path) -> None:
    result = await judge(context, new_python, UNTESTED, {"README.md": "A shop.\n"})
    assert result.passed, result.feedback
    assert f"{SENTENCE}." in result.feedback.splitlines()


async def test_a_failing_candidate_is_told_of_its_failures_only(context: Context, new_python: Path) -> None:
    wrong = {**UNTESTED, "shop.py": UNTESTED["shop.py"].replace("return found", "return found + 1")}
    result = await judge(context, new_python, wrong)
    assert not result.passed
    assert "new statement" not in result.feedback


async def test_code_that_frees_the_tool_breaks_nothing(context: Context, new_python: Path) -> None:
    frees = "import sys\nfor tool in (3, 4):\n    sys.monitoring.free_tool_id(tool)\n"
    result = await judge(context, new_python, {**UNTESTED, "shop.py": frees + UNTESTED["shop.py"]})
    assert result.passed, result.feedback


@pytest.mark.skipif(sys.version_info >= CAN_TELL, reason="this Python can tell")
async def test_an_older_python_says_nothing(context: Context, tmp_path: Path) -> None:
    lines = WatchedLines(tmp_path, ["shop.py"])
    with lines.on():
        assert lines.ran == {}
    result = await judge(context, Path(sys.executable), UNTESTED, policy=UntestedCode.FAIL)
    assert result.passed, result.feedback
    assert "new statement" not in result.feedback
