"""The members of uv's workspaces: their metadata is there, and their code is the tree's."""

from pathlib import Path

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from app.runners.evaluators.protocol import EvaluationStatus
from app.workspaces.environments.beside import metadata_of, projects_beside
from app.workspaces.environments.interpreters import OneInterpreter, WorkspaceEnvironments
from app.workspaces.environments.outcome import Ready
from app.workspaces.environments.plan import plan_for
from app.workspaces.environments.project import project_of
from app.workspaces.files.origin import TreeOrigin, write_origin
from tests.unit.workspaces.environments.making import installed, judge, outcome, write

ROOT = '[project]\nname = "demo"\nversion = "4.2"\ndependencies = ["demo-slim"]\n'
BUILD = '[build-system]\nrequires = ["hatchling", "uv-dynamic-versioning>=0.7"]\n'
WORKSPACE = {
    "pyproject.toml": f'{ROOT}[tool.uv.workspace]\nmembers = ["packages/*"]\n',
    "uv.lock": (
        'version = 1\nrequires-python = ">=3.11"\n[manifest]\nmembers = ["demo", "demo-other", "demo-slim"]\n'
        '[[package]]\nname = "demo"\nversion = "4.2"\nsource = { editable = "." }\n'
        'dependencies = [{ name = "demo-slim" }]\n'
        '[[package]]\nname = "demo-other"\nsource = { editable = "packages/other" }\n'
        '[[package]]\nname = "demo-slim"\nsource = { editable = "packages/slim" }\n'
    ),
    "packages/other/pyproject.toml": '[project]\nname = "demo-other"\nversion = "3"\n',
    "packages/slim/pyproject.toml": f'[project]\nname = "demo_slim"\ndynamic = ["version"]\n{BUILD}',
    "packages/slim/demo_slim/__init__.py": (
        "from importlib.metadata import version\n\nV = version('demo_slim')\n"
    ),
    "tests/test_demo.py": "import demo_slim\n\n\ndef test_version():\n    assert demo_slim.V == '1.5'\n",
}


def members_of(tree: Path) -> dict[str, str]:
    found = metadata_of(tree, projects_beside(tree), project_of(tree))
    return {place: f"{each.name} {each.version}" for place, each in found.items()}


@pytest.mark.anyio
async def test_a_member_reads_its_version_from_its_metadata(
    tmp_path: Path, shared: WorkspaceEnvironments
) -> None:
    base, candidate = (write(tmp_path / name, WORKSPACE) for name in ("base", "candidate"))
    write_origin(base, TreeOrigin(described="v1.5-0-gabcdef1"))
    found = await outcome(shared, base)
    assert isinstance(found, Ready), found
    names = {name: version for name, version in (await installed(found.python)).items() if "demo" in name}
    # Uv does not install the other member either, as nothing requires it.
    assert names == {"demo": "4.2", "demo_slim": "1.5"}
    site = next(found.python.parents[1].glob("lib/python*/site-packages"))
    assert not (site / "demo_slim").exists()
    gate = PytestEvaluator(interpreters=OneInterpreter(found.python), outside=False)
    result = await judge(gate, base, candidate)
    assert result.status is EvaluationStatus.PASSED, result.feedback


def test_a_member_that_would_do_harm_is_left_out(tmp_path: Path) -> None:
    more = {
        "packages/same/pyproject.toml": '[project]\nname = "Demo"\nversion = "9"\n',
        "packages/runner/pyproject.toml": '[project]\nname = "Packaging"\nversion = "1"\n',
        "packages/broken/pyproject.toml": "[project\n",
        "packages/nameless/pyproject.toml": "[tool.ruff]\n",
        "packages/twice/pyproject.toml": '[project]\nname = "demo-slim"\nversion = "7"\n',
        "packages/rust/pyproject.toml": (
            '[project]\nname = "fast"\nversion = "1"\n[build-system]\nbuild-backend = "maturin"\n'
        ),
    }
    assert members_of(write(tmp_path, {**WORKSPACE, **more})) == {
        "packages/other": "demo-other 3",
        "packages/slim": "demo_slim 0",
    }


def test_another_version_of_a_member_needs_another_environment(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", WORKSPACE)
    before = plan_for(tree).digest()
    write_origin(tree, TreeOrigin(described="v1.5-0-gabcdef1"))
    assert plan_for(tree).digest() != before
