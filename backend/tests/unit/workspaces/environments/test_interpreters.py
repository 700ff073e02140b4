"""Environments made by the real uv in the real sandbox from a directory of wheels; nothing is fetched."""

import json
import os
import shutil
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from uv import find_uv_bin

from app.runners.evaluators.deterministic import PytestEvaluator, TypeCheckEvaluator
from app.runners.evaluators.protocol import EvaluationResult, EvaluationStatus
from app.schemas.modes import CandidateDependencies, EnvironmentBuild
from app.schemas.questions import ProtectedPolicy
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.installing import Installer
from app.workspaces.environments.interpreters import OneInterpreter, WorkspaceEnvironments
from app.workspaces.environments.launches import InstallOptions
from app.workspaces.environments.outcome import (
    Concessions,
    EnvironmentOutcome,
    EnvironmentUnavailable,
    Ready,
    Reason,
)
from app.workspaces.environments.shelf import Shelf
from app.workspaces.files.origin import TreeOrigin, write_origin
from tests.patience import PATIENCE
from tests.unit.workspaces.environments.index import add_pytest, make_wheel

pytestmark = pytest.mark.anyio

DEMO = {
    "pyproject.toml": '[project]\nname = "demo"\nversion = "4.2"\ndependencies = ["alpha>=1"]\n',
    "src/demo.py": "import alpha\nfrom importlib.metadata import version\n\n\ndef both() -> str:\n"
    "    return version('demo') + ' ' + alpha.VERSION\n",
    "tests/test_demo.py": "import demo\n\n\ndef test_both():\n    assert demo.both() == '4.2 1.0'\n",
}
ASK = (
    "import importlib.metadata as m, json; print(json.dumps({d.name: d.version for d in m.distributions()}))"
)


@pytest.fixture(scope="module")
async def sandbox() -> Sandbox:
    sandbox = Sandbox()
    state = await sandbox.state()
    if not state.confined and not os.environ.get("CI"):
        pytest.skip(state.detail)
    assert state.confined, state.detail
    return sandbox


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    index = tmp_path_factory.mktemp("index")
    # As root the sandbox makes uv another user.
    index.chmod(0o755)
    add_pytest(index)
    make_wheel(index, "alpha", "1.0", {"alpha.py": "VERSION = '1.0'\n", "alpha.pth": "import os\n"})
    make_wheel(index, "friend", "1.0", requires=["demo"])
    make_wheel(index, "zeta", "1.0", {"zeta/__init__.py": "", "zeta/py.typed": ""})
    new = "def new() -> str:\n    return '4.2'\n"
    make_wheel(index, "zeta", "2.0", {"zeta/__init__.py": new, "zeta/py.typed": ""})
    make_wheel(index, "demo", "9.0", {"demo.py": "raise SystemExit('the released code')\n"})
    return index


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox, index: Path) -> WorkspaceEnvironments:
    return environments(tmp_path_factory.mktemp("data"), sandbox, index)


def environments(data: Path, sandbox: Sandbox, index: Path, **options: object) -> WorkspaceEnvironments:
    env = {"UV_FIND_LINKS": str(index), "UV_NO_INDEX": "1"}
    allowed = replace(InstallOptions(network=False, env=env), **options)  # type: ignore[arg-type]
    installer = Installer(Path(find_uv_bin()), sandbox, data / "uv-cache", allowed)
    search = {"PATH": "/usr/bin:/bin", "HOME": str(data)}
    return WorkspaceEnvironments(Shelf(data / "environments"), installer, search)


def write(tree: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    return tree


async def outcome(made: WorkspaceEnvironments, base: Path) -> EnvironmentOutcome:
    async with made.lent(base) as found:
        return found


async def installed(python: Path) -> dict[str, str]:
    asked = await anyio.run_process([str(python), "-c", ASK], cwd="/")
    return json.loads(asked.stdout)


def leftovers(made: WorkspaceEnvironments) -> list[str]:
    return [path.name for path in made.shelf.root.iterdir() if path.name.startswith(".")]


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


async def judge(
    evaluator: PytestEvaluator | TypeCheckEvaluator, base: Path, candidate: Path
) -> EvaluationResult:
    return await evaluator.evaluate("coding", "", {"workspace_ref": str(candidate), "base_ref": str(base)})


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
    # A declared dependency that no test needs is no question.
    write(candidate, {"src/demo.py": DEMO["src/demo.py"]})
    assert (await judge(gate, base, candidate)).status is EvaluationStatus.PASSED


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


@pytest.fixture
def with_source(tmp_path: Path, index: Path) -> Path:
    """An index that has a package `beta` only as a source distribution, whose build fails."""
    source = {
        "setup.py": "raise SystemExit(3)\n",
        "PKG-INFO": "Metadata-Version: 2.1\nName: beta\nVersion: 1.0\n",
    }
    write(tmp_path / "beta-1.0", source)
    links = tmp_path / "links"
    shutil.copytree(index, links)
    with tarfile.open(links / "beta-1.0.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "beta-1.0", "beta-1.0")
    return links


async def test_what_only_tests_want_and_has_no_wheel_is_left_out_and_named(
    tmp_path: Path, sandbox: Sandbox, with_source: Path
) -> None:
    make_wheel(with_source, "docs", "1.0", requires=["beta"])
    made = environments(tmp_path / "data", sandbox, with_source)
    files = {**DEMO, "requirements.txt": "docs\n", "requirements/test.txt": "beta==1.0\nfriend\n"}
    base = write(tmp_path / "base", files)
    found = await outcome(made, base)
    assert isinstance(found, Ready), found
    assert found.conceded == Concessions(("beta", "docs"))
    assert await outcome(made, base) == replace(found, seconds=0.0)
    names = await installed(found.python)
    assert {"alpha", "friend"} <= names.keys()
    assert not {"beta", "docs"} & names.keys()
    passing = await judge(PytestEvaluator(interpreters=made, outside=False), base, base)
    assert passing.status is EvaluationStatus.PASSED, passing.feedback
    assert "Not installed, as no fitting wheel can be had: beta, docs." in passing.feedback
    # What is left out makes no wrong work pass.
    wrong = write(tmp_path / "wrong", {**files, "src/demo.py": "def both():\n    return ''\n"})
    assert (await judge(PytestEvaluator(interpreters=made), base, wrong)).status is EvaluationStatus.FAILED


@pytest.mark.parametrize("imports", [True, False])
async def test_packages_that_import_pkg_resources_get_a_setuptools_that_has_it(
    tmp_path: Path, sandbox: Sandbox, index: Path, *, imports: bool
) -> None:
    links = tmp_path / "links"
    shutil.copytree(index, links)
    make_wheel(links, "setuptools", "80.0", {"setuptools/__init__.py": "", "pkg_resources/__init__.py": ""})
    make_wheel(links, "setuptools", "84.0", {"setuptools/__init__.py": ""})
    text = (
        "try:\n    import pkg_resources\nexcept ImportError:\n    raise\n"
        if imports
        else "PKG = 'pkg_resources'\n"
    )
    make_wheel(links, "old", "1.0", {"old.py": text}, requires=["setuptools"])
    made = environments(tmp_path / "data", sandbox, links)
    found = await outcome(made, write(tmp_path / "base", {**DEMO, "requirements.txt": "old\n"}))
    assert isinstance(found, Ready), found
    assert (await installed(found.python))["setuptools"] == ("80.0" if imports else "84.0")


BUILDER = """
import base64, hashlib, zipfile

def build_wheel(place, settings=None, metadata=None):
    about = "gamma-1.0.dist-info"
    files = {
        "gamma.py": "MADE = 'here'\\n",
        f"{about}/METADATA": "Metadata-Version: 2.1\\nName: gamma\\nVersion: 1.0\\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    def line(name, text):
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        return f"{name},sha256={digest},{len(text)}"
    record = "".join(f"{line(*each)}\\n" for each in files.items()) + f"{about}/RECORD,,\\n"
    with zipfile.ZipFile(f"{place}/gamma-1.0-py3-none-any.whl", "w") as archive:
        for name, text in {**files, f"{about}/RECORD": record}.items():
            archive.writestr(name, text)
    return "gamma-1.0-py3-none-any.whl"
"""


@pytest.fixture
def with_buildable(tmp_path: Path, with_source: Path) -> Path:
    """An index that also has a package `gamma` only as a source distribution, whose build works."""
    source = {
        "pyproject.toml": '[project]\nname = "gamma"\nversion = "1.0"\n'
        '[build-system]\nrequires = []\nbuild-backend = "builder"\nbackend-path = ["."]\n',
        "builder.py": BUILDER,
        "PKG-INFO": "Metadata-Version: 2.1\nName: gamma\nVersion: 1.0\n",
    }
    write(tmp_path / "gamma-1.0", source)
    with tarfile.open(with_source / "gamma-1.0.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "gamma-1.0", "gamma-1.0")
    return with_source


@pytest.mark.parametrize(
    ("build", "credential", "is_built"),
    [
        pytest.param(EnvironmentBuild.MISSING, "", True, id="missing"),
        pytest.param(EnvironmentBuild.NEVER, "", False, id="never"),
        pytest.param(EnvironmentBuild.MISSING, "secret", False, id="a build could read a credential"),
    ],
)
async def test_what_has_no_wheel_is_built_after_all_the_rest(
    tmp_path: Path,
    sandbox: Sandbox,
    with_buildable: Path,
    build: EnvironmentBuild,
    credential: str,
    is_built: bool,
) -> None:
    env = {"UV_FIND_LINKS": str(with_buildable), "UV_NO_INDEX": "1"}
    env |= {"UV_INDEX_OURS_PASSWORD": credential} if credential else {}
    made = environments(tmp_path / "data", sandbox, with_buildable, build=build, env=env)
    needs = {"requirements.txt": "gamma\n", "requirements/test.txt": "beta==1.0\nfriend\n"}
    found = await outcome(made, write(tmp_path / "base", {**DEMO, **needs}))
    assert isinstance(found, Ready), found
    assert found.conceded == Concessions(("beta",) if is_built else ("beta", "gamma"))
    names = await installed(found.python)
    assert ("gamma" in names) is is_built
    assert {"alpha", "friend"} <= names.keys()
    assert leftovers(made) == []
    assert not (found.python.parents[2] / "build-cache").exists()


async def test_what_only_the_candidate_wants_is_never_built(
    tmp_path: Path, sandbox: Sandbox, with_buildable: Path
) -> None:
    made = environments(tmp_path / "data", sandbox, with_buildable, build=EnvironmentBuild.MISSING)
    asking = replace(made, candidate_dependencies=CandidateDependencies.INSTALL)
    base = write(tmp_path / "base", DEMO)
    candidate = write(tmp_path / "candidate", {**DEMO, "requirements.txt": "gamma\n"})
    async with asking.lent(base, candidate) as found:
        assert isinstance(found, Ready), found
        assert "gamma" not in await installed(found.python)


async def test_an_index_that_knows_no_days_serves_an_old_base_with_what_it_has(
    tmp_path: Path, sandbox: Sandbox, with_source: Path
) -> None:
    made = environments(tmp_path / "data", sandbox, with_source)
    base = write(tmp_path / "base", {**DEMO, "requirements.txt": "beta\nfriend\n"})
    write_origin(base, TreeOrigin(committed=1_500_000_000))
    found = await outcome(made, base)
    assert isinstance(found, Ready), found
    assert found.conceded == Concessions(("beta",))
    assert {"alpha", "friend"} <= (await installed(found.python)).keys()


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


async def test_a_source_distribution_is_not_built_unless_that_is_allowed(
    tmp_path: Path, sandbox: Sandbox, with_source: Path
) -> None:
    made = environments(tmp_path / "data", sandbox, with_source)
    text = DEMO["pyproject.toml"].replace('"alpha>=1"', '"beta"')
    files = {
        "pyproject.toml": text,
        "src/demo.py": "def both():\n    return 'ab'\n",
        "src/extra.py": "import beta\n",
        "tests/test_demo.py": "from demo import both\n\n\ndef test_both():\n    assert both() == 'ab'\n",
        "tests/test_extra.py": "import extra\n\n\ndef test_extra():\n    assert extra.beta\n",
    }
    base = write(tmp_path / "base", files)
    found = await outcome(made, base)
    assert isinstance(found, Ready), found
    assert found.conceded == Concessions(("beta",))
    assert "beta" not in await installed(found.python)
    # The rest is judged without it, and the result says so.
    passing = await judge(PytestEvaluator(interpreters=made, outside=False), base, base)
    assert passing.status is EvaluationStatus.PASSED, passing.feedback
    assert "Not installed, as no fitting wheel can be had: beta." in passing.feedback
    assert "tests/test_extra.py" in str(passing.metadata["red_at_base"])
    wrong = write(tmp_path / "wrong", {**files, "src/demo.py": "def both():\n    return ''\n"})
    refused = await judge(PytestEvaluator(interpreters=made, outside=False), base, wrong)
    assert refused.status is EvaluationStatus.FAILED, refused.feedback
    # Where every test needs it, nothing speaks for a pass.
    alone = write(tmp_path / "alone", {each: files[each] for each in files if not each.endswith("_demo.py")})
    unknown = await judge(PytestEvaluator(interpreters=made, outside=False), alone, alone)
    assert unknown.status is EvaluationStatus.ERRORED, unknown.feedback
