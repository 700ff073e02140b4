"""The entry point: usage, help, and errors that nobody foresaw."""

import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.exits import CliError, ExitCode
from app.cli.main import explain
from app.core.errors import InvalidInputError, UnavailableError
from tests.unit.cli.fakes import FakeService, invoke

BACKEND = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(["lst"], "did you mean list?", id="a typo"),
        pytest.param(["frobnicate"], "there are", id="no command"),
        pytest.param(["show"], "RUN", id="an argument is missing"),
        pytest.param(["show", "a", "b", "c"], "b", id="too many arguments"),
        pytest.param(["list", "--limit", "many"], "many", id="not a number"),
        pytest.param(["list", "--colour"], "--colour", id="an unknown option"),
        pytest.param(["escalations", "reslove"], "reslove", id="a typo in a subcommand"),
    ],
)
def test_usage_errors_are_one_line(arguments: list[str], told: str) -> None:
    outcome = invoke(FakeService(), *arguments)
    assert outcome.code == 2
    assert told.lower() in outcome.err.lower()
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "line", "code"),
    [
        pytest.param(CliError("no", ExitCode.AUTH), "no", 4, id="ours"),
        pytest.param(InvalidInputError("is bad", field="path"), "path: is bad", 2, id="bad input"),
        pytest.param(UnavailableError("is away"), "is away", 6, id="infrastructure"),
        pytest.param(ExceptionGroup("", [CliError("inner")]), "inner", 2, id="from a task group"),
    ],
)
def test_explain(error: Exception, line: str, code: int) -> None:
    assert explain(error) == (line, code)


def test_a_defect_is_one_line_with_its_place() -> None:
    with pytest.raises(RuntimeError) as caught:
        exec("raise RuntimeError('a\\nb\\x1b[2J')")
    line, code = explain(caught.value)
    assert code == 6
    assert "RuntimeError: a b (<string>:1)" in line


def python(code: str) -> str:
    """Run code in a fresh interpreter."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=BACKEND, capture_output=True, text=True, check=True).stdout


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
    code = (
        "import atexit, sys\n"
        "from app.cli.main import main\n"
        f"unwanted = {sorted(unwanted)!r}\n"
        "loaded = lambda: [each for each in unwanted if sys.modules.get(each)]\n"
        "atexit.register(lambda: print('LOADED', loaded()))\n"
        "main()\n"
    )
    command = [sys.executable, "-c", code, *arguments]
    environment = {"PYTHONPATH": str(BACKEND), "HOME": str(tmp_path)}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ended.stdout.splitlines()[-1] == "LOADED []", ended.stderr


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


def test_a_reader_that_leaves_early_ends_it_quietly() -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "import httpx\n"
        "from app.cli.main import run\n"
        "from app.cli.root import Root\n"
        "from app.cli.terminal import console_for\n"
        "from app.core.config import Settings\n"
        "from tests.unit.cli.fakes import FakeService, sprint_detail\n"
        "service = FakeService(sprints=[sprint_detail(name='x' * 200) for _ in range(1000)])\n"
        "def root():\n"
        "    out, err = console_for(sys.stdout), console_for(sys.stderr)\n"
        "    transport = httpx.MockTransport(service)\n"
        "    return Root(Settings(_env_file=None), out, err, sys.stdin, Path('/'), transport=transport)\n"
        "sys.exit(run(['list', '--limit', '1000', *sys.argv[1:]], root, sys.stderr))\n"
    )
    for arguments in ([], ["--json"]):
        command = [sys.executable, "-c", code, *arguments]
        process = subprocess.Popen(command, cwd=BACKEND, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.close()
        _, said = process.communicate()
        assert (process.returncode, said) == (141, b"")
