"""Environments made by the real uv in the real sandbox from a directory of wheels; nothing is fetched."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from app.runners.evaluators.deterministic import PytestEvaluator, TypeCheckEvaluator
from app.runners.evaluators.protocol import EvaluationStatus
from app.schemas.modes import CandidateDependencies
from app.schemas.questions import ProtectedPolicy
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.interpreters import OneInterpreter, WorkspaceEnvironments
from app.workspaces.environments.outcome import (
    Concessions,
    EnvironmentOutcome,
    EnvironmentUnavailable,
    Ready,
    Reason,
)
from tests.patience import PATIENCE
from tests.unit.workspaces.environments.making import (
    DEMO,
    environments,
    installed,
    judge,
    leftovers,
    outcome,
    write,
)

pytestmark = pytest.mark.anyio


async def test_what_the_base_declares_is_there_and_the_project_without_its_code(
    tmp_path: Path, shared: WorkspaceEnvironments
) -> None:
    base = write(tmp_path, DEMO)
    found = await outcome(shared, base)
    assert isinstance(found, Ready), found
    assert found.how == "pyproject.toml"
    assert {"alpha": "1.0", "demo": "4.2"}.items() <= (await installed(found.python)).items()
    site = next(found.python.parents[1].glob("lib/python*/site-packages"))
    assert (site / "alpha.py").is_file()
    assert not (site / "demo.py").exists()
    # Nothing that packages brought runs when the interpreter starts, and nobody can write.
    assert [path.name for path in site.glob("*.pth")] == ["phaserunner-tree.pth"]
    assert not os.stat(site / "alpha.py").st_mode & 0o222
    assert leftovers(shared) == []
    again = await outcome(shared, base)
    assert isinstance(again, Ready)
    assert (again.python, again.seconds) == (found.python, 0.0)


async def test_a_release_of_the_project_that_a_dependency_brings_along_is_replaced(
    tmp_path: Path, shared: WorkspaceEnvironments
) -> None:
    text = DEMO["pyproject.toml"].replace('"alpha>=1"', '"friend"')
    found = await outcome(shared, write(tmp_path, {"pyproject.toml": text}))
    assert isinstance(found, Ready), found
    assert (await installed(found.python))["demo"] == "4.2"
    assert not list(found.python.parents[1].glob("lib/python*/site-packages/demo.py"))


async def test_the_gate_judges_with_the_bases_packages_and_says_so(
    tmp_path: Path, sandbox: Sandbox, shared: WorkspaceEnvironments
) -> None:
    base = write(tmp_path / "base", DEMO)
    good = write(tmp_path / "good", DEMO)
    bad = write(tmp_path / "bad", {**DEMO, "src/demo.py": "def both() -> str:\n    return ''\n"})
    gate = PytestEvaluator(timeout=PATIENCE, interpreters=shared, sandbox=sandbox)
    passed, failed = await judge(gate, base, good), await judge(gate, base, bad)
    assert passed.status is EvaluationStatus.PASSED, passed.feedback
    assert passed.metadata["environment"] == "pyproject.toml"
    assert failed.status is EvaluationStatus.FAILED, failed.feedback


def adds_friend(root: Path) -> Path:
    adds = {
        "pyproject.toml": DEMO["pyproject.toml"].replace('"alpha>=1"', '"alpha>=1", "friend==1.0"'),
        "src/demo.py": DEMO["src/demo.py"] + "\n\nimport friend\n",
    }
    return write(root, {**DEMO, **adds})


async def test_a_refused_dependency_of_the_candidate_is_named(
    tmp_path: Path, sandbox: Sandbox, shared: WorkspaceEnvironments
) -> None:
    base, candidate = write(tmp_path / "base", DEMO), adds_friend(tmp_path / "candidate")
    refused = await judge(
        PytestEvaluator(timeout=PATIENCE, interpreters=shared, sandbox=sandbox), base, candidate
    )
    assert refused.status is EvaluationStatus.FAILED
    assert "friend==1.0" in refused.feedback
    assert "ENVIRONMENT_CANDIDATE_DEPENDENCIES" in refused.suggestions[0]
    assert refused.questions == []


async def test_a_dependency_of_the_candidate_is_installed_if_that_is_allowed(
    tmp_path: Path, sandbox: Sandbox, shared: WorkspaceEnvironments
) -> None:
    base, candidate = write(tmp_path / "base", DEMO), adds_friend(tmp_path / "candidate")
    allowing = replace(shared, candidate_dependencies=CandidateDependencies.INSTALL)
    allowed = await judge(
        PytestEvaluator(timeout=PATIENCE, interpreters=allowing, sandbox=sandbox), base, candidate
    )
    assert allowed.status is EvaluationStatus.PASSED, allowed.feedback


async def test_a_dependency_of_the_candidate_is_one_question_once_its_tests_pass(
    tmp_path: Path, sandbox: Sandbox, shared: WorkspaceEnvironments
) -> None:
    base, candidate = write(tmp_path / "base", DEMO), adds_friend(tmp_path / "candidate")
    asking = replace(shared, candidate_dependencies=CandidateDependencies.ASK)
    gate = PytestEvaluator(timeout=PATIENCE, interpreters=asking, sandbox=sandbox)
    asked = await judge(gate, base, candidate)
    assert [each.id for each in asked.questions] == ["friend==1.0"], asked.feedback
    assert "1 test passed" in asked.feedback
    # Wrong code still fails with the dependency, without a question.
    wrong = (candidate / "src" / "demo.py").read_text().replace("return", "return 'x' +")
    write(candidate, {"src/demo.py": wrong})
    failed = await judge(gate, base, candidate)
    assert failed.status is EvaluationStatus.FAILED
    assert failed.questions == []
    # Where changes are no questions, this is none.
    write(candidate, {"src/demo.py": DEMO["src/demo.py"] + "\n\nimport friend\n"})
    strict = await judge(replace(gate, protected=ProtectedPolicy.FAIL), base, candidate)
    assert (strict.status, strict.questions) == (EvaluationStatus.FAILED, [])
    assert "friend==1.0" in strict.feedback
    # A gate of held-out tests leaves the question to this one.
    second = replace(gate, protected=ProtectedPolicy.FAIL, asks_about_dependencies=False)
    assert (await judge(second, base, candidate)).status is EvaluationStatus.PASSED
    # One that no test needs is a question only because no source imports it.
    write(candidate, {"src/demo.py": DEMO["src/demo.py"]})
    unused = await judge(gate, base, candidate)
    assert [each.id for each in unused.questions] == ["requires friend"], unused.feedback


WITH_ZETA = {
    **DEMO,
    "pyproject.toml": DEMO["pyproject.toml"].replace('"alpha>=1"', '"alpha", "zeta==1.0"'),
}
UPGRADED = {
    **DEMO,
    "pyproject.toml": DEMO["pyproject.toml"].replace('"alpha>=1"', '"alpha", "zeta>=2"'),
    "src/demo.py": "import alpha\nimport zeta\n\n\ndef both() -> str:\n"
    "    return zeta.new() + ' ' + alpha.VERSION\n",
}


async def test_other_releases_are_one_question_once_the_tests_pass_with_them(
    tmp_path: Path, sandbox: Sandbox, shared: WorkspaceEnvironments
) -> None:
    base, candidate = write(tmp_path / "base", WITH_ZETA), write(tmp_path / "candidate", UPGRADED)
    asking = replace(shared, candidate_dependencies=CandidateDependencies.ASK)
    gate = PytestEvaluator(timeout=PATIENCE, interpreters=asking, sandbox=sandbox)
    asked = await judge(gate, base, candidate)
    assert [each.text for each in asked.questions] == [
        "The change asks for other releases than the base: `zeta>=2`: may it?"
    ], asked.feedback
    types = replace(TypeCheckEvaluator(timeout=PATIENCE, interpreters=asking), unconfigured="fail")
    asked = await judge(types, base, candidate)
    assert [each.id for each in asked.questions] == ["zeta>=2"], asked.feedback
    # Wrong code fails with its own releases, too.
    wrong = UPGRADED["src/demo.py"].replace("zeta.new()", "zeta.__name__")
    failed = await judge(gate, base, write(tmp_path / "wrong", {**UPGRADED, "src/demo.py": wrong}))
    assert (failed.status, failed.questions) == (EvaluationStatus.FAILED, [])
    assert "zeta 1.0" in failed.feedback
    # What passes with the base's releases needs no others.
    same = {**UPGRADED, "src/demo.py": DEMO["src/demo.py"]}
    assert (await judge(gate, base, write(tmp_path / "same", same))).status is EvaluationStatus.PASSED


async def test_other_releases_are_refused_or_installed_as_the_operator_says(
    tmp_path: Path, sandbox: Sandbox, shared: WorkspaceEnvironments
) -> None:
    base, candidate = write(tmp_path / "base", WITH_ZETA), write(tmp_path / "candidate", UPGRADED)
    gate = PytestEvaluator(timeout=PATIENCE, interpreters=shared, sandbox=sandbox)
    refused = await judge(gate, base, candidate)
    assert (refused.status, refused.questions) == (EvaluationStatus.FAILED, [])
    assert "asks for other releases than the base: `zeta>=2`" in refused.feedback
    asking = replace(shared, candidate_dependencies=CandidateDependencies.ASK)
    strict = replace(gate, interpreters=asking, protected=ProtectedPolicy.FAIL)
    assert (await judge(strict, base, candidate)).questions == []
    allowing = replace(shared, candidate_dependencies=CandidateDependencies.INSTALL)
    installed = await judge(replace(gate, interpreters=allowing), base, candidate)
    assert installed.status is EvaluationStatus.PASSED, installed.feedback


async def test_a_dependency_that_cannot_be_had_leaves_the_verdict_without_it(
    tmp_path: Path, sandbox: Sandbox, shared: WorkspaceEnvironments
) -> None:
    base, candidate = write(tmp_path / "base", DEMO), adds_friend(tmp_path / "candidate")
    text = (candidate / "pyproject.toml").read_text().replace("friend==1.0", "stranger>=1")
    write(candidate, {"pyproject.toml": text})
    asking = replace(shared, candidate_dependencies=CandidateDependencies.ASK)
    refused = await judge(
        PytestEvaluator(timeout=PATIENCE, interpreters=asking, sandbox=sandbox), base, candidate
    )
    assert refused.status is EvaluationStatus.FAILED
    assert "stranger>=1" in refused.feedback
    assert refused.questions == []


NEEDS_A_LATER_ALPHA = '[project]\nname = "demo"\nversion = "1"\ndependencies = ["alpha>=7"]\n'
NEEDS_NOTHING_FITTING = '[project]\nname = "demo"\nversion = "1"\nrequires-python = ">=3.99"\n'


@pytest.mark.parametrize(
    ("files", "reason", "said"),
    [
        ({"requirements.txt": "not-in-any-index\n"}, None, "not-in-any-index"),
        ({"pyproject.toml": NEEDS_A_LATER_ALPHA}, Reason.UNRESOLVABLE, "alpha"),
        ({"requirements.txt": "-r gone.txt\n"}, Reason.DECLARATION, "gone.txt"),
        ({"pyproject.toml": DEMO["pyproject.toml"], "uv.lock": "no lock"}, None, "uv.lock"),
        ({"pyproject.toml": NEEDS_NOTHING_FITTING}, Reason.NO_PYTHON, ">=3.99"),
        ({".python-version": "3.99\n", "requirements.txt": "alpha\n"}, Reason.NO_PYTHON, "3.99"),
        (
            {
                "pyproject.toml": '[project]\nname = "pytest"\nversion = "1"\n',
                "a.py": "import pkg_resources\n",
            },
            Reason.TEST_RUNNER,
            "pytest itself",
        ),
    ],
    ids=[
        "unknown package",
        "no such release",
        "missing file",
        "broken lock",
        "no python",
        "pinned python",
        "pytest itself",
    ],
)
async def test_an_environment_that_cannot_be_made_is_neither_a_pass_nor_a_fail(
    tmp_path: Path, shared: WorkspaceEnvironments, files: dict[str, str], reason: Reason | None, said: str
) -> None:
    base = write(tmp_path / "base", {**files, "test_it.py": "def test_it():\n    pass\n"})
    found = await outcome(shared, base)
    assert isinstance(found, EnvironmentUnavailable)
    assert reason is None or found.reason is reason, found
    assert said in found.detail
    result = await judge(PytestEvaluator(timeout=PATIENCE, interpreters=shared), base, base)
    assert result.status is EvaluationStatus.ERRORED
    assert result.metadata["reason"] == "environment"
    assert said in result.feedback
    # Types can be checked without the packages, and the result says so.
    result = await judge(TypeCheckEvaluator(timeout=PATIENCE, interpreters=shared), base, base)
    assert result.status in (EvaluationStatus.PASSED, EvaluationStatus.ERRORED)
    assert said in result.feedback
    assert not list(shared.shelf.root.glob(".*"))


async def test_offline_is_said_and_may_be_tried_again(tmp_path: Path, sandbox: Sandbox, index: Path) -> None:
    # Loopback, where nobody listens; in the sandbox there is not even that.
    env = {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple"}
    made = environments(tmp_path / "data", sandbox, index, env=env)
    found = await outcome(made, write(tmp_path / "base", {"requirements.txt": "alpha\n"}))
    assert isinstance(found, EnvironmentUnavailable)
    assert found.reason is Reason.OFFLINE, found.detail
    assert found.retryable
    assert "ENVIRONMENT_NETWORK" in found.detail


async def test_too_slow_an_installation_ends(tmp_path: Path, sandbox: Sandbox, index: Path) -> None:
    made = environments(tmp_path / "data", sandbox, index, seconds=0.001)
    found = await outcome(made, write(tmp_path / "base", {"requirements.txt": "alpha\n"}))
    assert isinstance(found, EnvironmentUnavailable)
    assert found.reason is Reason.TIMED_OUT
    assert leftovers(made) == []


async def test_those_who_want_the_same_at_once_get_one_that_was_made_once(
    tmp_path: Path, sandbox: Sandbox, index: Path
) -> None:
    base = write(tmp_path / "base", {"requirements.txt": "alpha\n"})
    made = [environments(tmp_path / "data", sandbox, index) for _ in range(3)]
    found: list[EnvironmentOutcome] = []

    async def want(who: WorkspaceEnvironments) -> None:
        found.append(await outcome(who, base))

    async with anyio.create_task_group() as group:
        for who in made:
            group.start_soon(want, who)
    assert len({each.python for each in found if isinstance(each, Ready)}) == 1
    assert len(found) == 3
    assert made[0].shelf.contents()[0] == 1


async def test_who_declares_nothing_gets_the_services_own_interpreter(
    tmp_path: Path, shared: WorkspaceEnvironments
) -> None:
    assert await outcome(shared, tmp_path) == Ready(Path(sys.executable))
    async with OneInterpreter(Path("/usr/bin/python3")).lent(tmp_path) as found:
        assert found == Ready(Path("/usr/bin/python3"))


async def test_a_version_that_the_index_lacks_becomes_another_one_and_is_named(
    tmp_path: Path, shared: WorkspaceEnvironments
) -> None:
    base = write(tmp_path / "base", {**DEMO, "requirements/test.txt": "pytest\nfriend==9\n"})
    found = await outcome(shared, base)
    assert isinstance(found, Ready), found
    assert found.conceded == Concessions(unpinned=("friend",))
    assert "friend" in await installed(found.python)
    again = await outcome(shared, base)
    assert isinstance(again, Ready)
    assert again.conceded == found.conceded, "what was made says what it lacks"
    passing = await judge(PytestEvaluator(interpreters=shared, outside=False), base, base)
    assert "the one named cannot be had: friend" in passing.feedback


CHILD = """
import os, subprocess, sys

import demo

assert "PHASERUNNER_TREE" in os.environ
assert "PYTHONPATH" not in os.environ
assert os.environ["VIRTUAL_ENV"] == sys.prefix


def test_child():
    env = {**os.environ, "PYTHONPATH": "/nowhere"}
    command = [sys.executable, "-c", "import demo; print(demo.both())"]
    told = subprocess.run(command, env=env, capture_output=True)
    assert told.stdout.decode().strip() == demo.both(), told.stderr


def test_child_without_variables():
    command = [sys.executable, "-c", "import demo; print(demo.both())"]
    told = subprocess.run(command, env={}, capture_output=True)
    assert told.stdout.decode().strip() == demo.both(), told.stderr
"""


async def test_programs_that_tests_start_find_the_project_whatever_path_they_get(
    tmp_path: Path, shared: WorkspaceEnvironments
) -> None:
    base = write(tmp_path / "base", {**DEMO, "tests/test_child.py": CHILD})
    result = await judge(PytestEvaluator(interpreters=shared, outside=False), base, base)
    assert result.status is EvaluationStatus.PASSED, result.feedback
    # A module of the tree that is called like one of the runner's is not taken for it.
    planted = write(tmp_path / "planted", {**DEMO, "tests/test_child.py": CHILD, "src/json.py": "1 / 0\n"})
    result = await judge(PytestEvaluator(interpreters=shared, outside=False), base, planted)
    assert result.status is EvaluationStatus.PASSED, result.feedback


async def test_an_older_pytest_that_is_pinned_gives_way(
    tmp_path: Path, shared: WorkspaceEnvironments
) -> None:
    files = {**DEMO, "requirements/test.txt": "pytest==7.2.0\nfriend\n"}
    base = write(tmp_path / "base", files)
    found = await outcome(shared, base)
    assert isinstance(found, Ready), found
    assert found.conceded == Concessions(newer_pytest=True)
    passing = await judge(PytestEvaluator(interpreters=shared, outside=False), base, base)
    assert passing.status is EvaluationStatus.PASSED, passing.feedback
    assert "The base pins an older pytest" in passing.feedback
    later = await outcome(shared, write(base, {"requirements/test.txt": "pytest==7.2.0\nfriend>9\n"}))
    assert isinstance(later, Ready), later
    assert later.conceded == Concessions(("friend",), newer_pytest=True)
