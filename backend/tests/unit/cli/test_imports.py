"""What commands import: start-up is quick only as long as they leave out what they do not use."""

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.importing import quick_imports

BACKEND = Path(__file__).parents[3]

_OF_THE_SERVICE = frozenset(
    {"sqlalchemy", "fastapi", "pydantic_ai", "procrastinate", "openai", "anthropic", "mcp"}
)
_OF_FOLLOWERS = frozenset({"websockets", "cel", "prompt_toolkit", "httpx._main", "app.core.events.union"})
_OF_ANY_COMMAND = frozenset({"pydantic", "httpx"})
_OF_A_REQUEST = frozenset({"httpx", "pydantic_settings", "app.schemas.api.runs"})


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        pytest.param(["--help"], _OF_THE_SERVICE | _OF_FOLLOWERS | _OF_ANY_COMMAND, id="help"),
        pytest.param(["list", "--help"], _OF_THE_SERVICE | _OF_FOLLOWERS, id="help of list"),
        pytest.param(["list", "--url", "http://127.0.0.1:9"], _OF_THE_SERVICE | _OF_FOLLOWERS, id="list"),
        pytest.param(
            ["evaluate", "--help"], _OF_THE_SERVICE | _OF_FOLLOWERS | _OF_A_REQUEST, id="evaluate --help"
        ),
        pytest.param(["hook", "--help"], _OF_THE_SERVICE | _OF_FOLLOWERS | _OF_A_REQUEST, id="hook --help"),
        pytest.param(["mcp", "--help"], _OF_THE_SERVICE | _OF_FOLLOWERS, id="mcp --help"),
    ],
)
def test_a_command_imports_only_what_it_needs(
    arguments: list[str], unwanted: frozenset[str], tmp_path: Path
) -> None:
    assert imported(unwanted, arguments, tmp_path)[-1] == "LOADED []"


_OF_OTHER_WORK = frozenset(
    {
        *("httpx", "uvicorn", "logfire", "opentelemetry.sdk", "numpy", "requests", "jwt", "cryptography"),
        *("app.agents.provider", "app.agents.models.factory", "app.gateway", "app.forges", "app.db"),
    }
)
_OF_PYTHON_TESTS = frozenset({"doctest", "app.runners.evaluators.testing.gate_run"})
_ONE_GATE = """
[evaluators]
pytest = { enabled = false }
ruff_lint = { enabled = false }
type_check = { enabled = false }

[[command]]
name = "tea"
run = ["grep", "green", "tea.txt"]
"""


NO_STANDBY = {"HOOK_STANDBY_SECONDS": "0"}


def project_with_one_gate(tmp_path: Path) -> Path:
    """Make a repository whose only gate fails."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "phaserunner.toml").write_text(_ONE_GATE)
    (project / "tea.txt").write_text("green")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.invalid")
    for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "Start"]):
        subprocess.run(["git", *command], cwd=project, check=True)
    (project / "tea.txt").write_text("black")
    return project


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(["hook", "claude-code", "--run", "--base", "HEAD"], '"decision": "block"', id="hook"),
        pytest.param(["evaluate", ".", "--base", "HEAD"], "tea", id="evaluate"),
    ],
)
def test_what_judges_without_models_imports_only_what_it_needs(
    arguments: list[str], told: str, tmp_path: Path
) -> None:
    project = project_with_one_gate(tmp_path)
    event = {"hook_event_name": "Stop", "session_id": "one", "cwd": str(project), "stop_hook_active": False}
    unwanted = _OF_THE_SERVICE | _OF_OTHER_WORK | _OF_PYTHON_TESTS
    *said, loaded = imported(unwanted, arguments, project, json.dumps(event))
    assert told in "\n".join(said)
    assert loaded == "LOADED []"


def test_what_stands_by_for_hooks_has_imported_what_they_need(tmp_path: Path) -> None:
    project = project_with_one_gate(tmp_path)
    event = {"hook_event_name": "Stop", "session_id": "one", "cwd": str(project), "stop_hook_active": False}
    code = (
        "import io, os, sys\n"
        "from app.cli.standby.needed import load_models, load_needed\n"
        "def late():\n"
        "    from app.cli.main import run\n"
        "    from app.cli.root import read_root\n"
        "    before = set(sys.modules)\n"
        f"    sys.stdin = io.StringIO({json.dumps(event)!r})\n"
        "    code = run(['hook', 'codex', '--run', '--base', 'HEAD'], read_root, sys.stderr)\n"
        "    libraries = ('app.', 'cyclopts', 'pydantic', 'anthropic', 'openai', 'httpx')\n"
        "    print(code, [each for each in set(sys.modules) - before if each.startswith(libraries)])\n"
        "load_needed()\n"
        "late()\n"
        "load_models()\n"
        "os.environ['ANTHROPIC_API_KEY'] = 'sk-ant-none'\n"
        "late()\n"
    )
    environment = {"PYTHONPATH": str(BACKEND), "HOME": str(tmp_path), "PATH": os.defpath, **NO_STANDBY}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert [line for line in done.stdout.splitlines() if not line.startswith("{")] == ["0 []"] * 2, (
        done.stderr
    )


def test_a_hook_asks_what_stands_by_before_it_imports_anything_slow(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "import phaserunner.__main__\n"
        "from app.cli.standby.asking import answered\n"
        "assert answered(['hook']) is None\n"
        "slow = {'asyncio', 'pydantic', 'cyclopts', 'anyio', 'rich', 'typing_extensions', 'app.cli.main'}\n"
        "print(sorted(slow & set(sys.modules)))\n"
    )
    assert python(code, HOME=str(tmp_path)).strip() == "[]"


def test_quick_imports_leave_the_collector_as_it_was() -> None:
    with quick_imports():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_runs_without_a_model_import_no_sdk_of_a_provider() -> None:
    code = (
        "import sys\n"
        "import app.composition.services\n"
        "print(sorted({'openai', 'anthropic'} & set(sys.modules)))\n"
    )
    assert python(code).strip() == "[]"


def test_every_command_of_a_client_stays_light() -> None:
    code = (
        "import importlib, sys\n"
        "for name in ('run', 'watch', 'runs', 'diff', 'result', 'escalations', 'evaluators'):\n"
        "    importlib.import_module(f'app.cli.commands.{name}')\n"
        "print(sorted({'sqlalchemy', 'fastapi', 'pydantic_ai', 'procrastinate'} & set(sys.modules)))\n"
    )
    assert python(code).strip() == "[]"


def imported(unwanted: frozenset[str], arguments: list[str], place: Path, stdin: str = "") -> list[str]:
    """Run a command line in a directory; give its output, and last which of the modules it imported."""
    code = (
        "import atexit, sys\n"
        "from app.cli.main import main\n"
        f"unwanted = {sorted(unwanted)!r}\n"
        "loaded = lambda: [each for each in unwanted if sys.modules.get(each)]\n"
        "atexit.register(lambda: print('LOADED', loaded()))\n"
        "main()\n"
    )
    environment = {"PYTHONPATH": str(BACKEND), "HOME": str(place), "PATH": os.defpath, **NO_STANDBY}
    command = [sys.executable, "-c", code, *arguments]
    ended = subprocess.run(command, cwd=place, env=environment, input=stdin, capture_output=True, text=True)
    return [ended.stderr, *ended.stdout.splitlines()]


def python(code: str, **env: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=BACKEND,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
