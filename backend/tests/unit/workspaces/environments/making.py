"""Makes environments from an index in a directory, for tests."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import anyio
from uv import find_uv_bin

from app.runners.evaluators.deterministic import PytestEvaluator, TypeCheckEvaluator
from app.runners.evaluators.protocol import EvaluationResult
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.installing import Installer
from app.workspaces.environments.interpreters import WorkspaceEnvironments
from app.workspaces.environments.launches import InstallOptions
from app.workspaces.environments.outcome import EnvironmentOutcome
from app.workspaces.environments.shelf import Shelf

DEMO = {
    "pyproject.toml": '[project]\nname = "demo"\nversion = "4.2"\ndependencies = ["alpha>=1"]\n',
    "src/demo.py": "import alpha\nfrom importlib.metadata import version\n\n\ndef both() -> str:\n"
    "    return version('demo') + ' ' + alpha.VERSION\n",
    "tests/test_demo.py": "import demo\n\n\ndef test_both():\n    assert demo.both() == '4.2 1.0'\n",
}
ASK = (
    "import importlib.metadata as m, json; print(json.dumps({d.name: d.version for d in m.distributions()}))"
)


def environments(data: Path, sandbox: Sandbox, index: Path, **options: object) -> WorkspaceEnvironments:
    env = {"UV_FIND_LINKS": str(index), "UV_NO_INDEX": "1"}
    # The options are of several types, which the checker cannot match with the fields.
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


async def judge(
    evaluator: PytestEvaluator | TypeCheckEvaluator, base: Path, candidate: Path
) -> EvaluationResult:
    return await evaluator.evaluate("coding", "", {"workspace_ref": str(candidate), "base_ref": str(base)})
