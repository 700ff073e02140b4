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
        "def root(judged):\n"
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
