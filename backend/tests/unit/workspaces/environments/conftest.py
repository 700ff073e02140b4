"""A sandbox, an index of small packages, and environments that several tests share."""

import os
from pathlib import Path

import pytest

from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.interpreters import WorkspaceEnvironments
from tests.unit.workspaces.environments.index import add_pytest, make_wheel
from tests.unit.workspaces.environments.making import environments


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
