"""Packages without a wheel: what is built, what is left out, and what the result says."""

import shutil
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from app.runners.evaluators.protocol import EvaluationStatus
from app.schemas.modes import CandidateDependencies, EnvironmentBuild
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.outcome import Concessions, Ready
from app.workspaces.files.origin import TreeOrigin, write_origin
from tests.unit.workspaces.environments.index import make_wheel
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
