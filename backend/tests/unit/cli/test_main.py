"""The entry point: usage, help, and errors that nobody foresaw."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.exits import CliError, ExitCode
from app.cli.main import explain
from app.core.errors import InvalidInputError, UnavailableError
from tests.unit.cli.fakes import FakeService, invoke

BACKEND = Path(__file__).parents[3]
PROGRAM = [sys.executable, "-m", "phaserunner"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(["lst"], "did you mean list?", id="a typo"),
        pytest.param(["frobnicate"], "there are", id="no command"),
        pytest.param(["show"], "RUN", id="an argument is missing"),
        pytest.param(["show", "a", "b", "c"], "'b' is one argument too many", id="too many arguments"),
        pytest.param(["list", "--limit", "many"], "many", id="not a number"),
        pytest.param(["list", "--colour"], "--colour", id="an unknown option"),
        pytest.param(["escalations", "reslove"], "did you mean resolve?", id="a typo in a subcommand"),
        pytest.param(["escalations", "list", "x"], "'x' is one argument", id="too many for a subcommand"),
    ],
)
def test_usage_errors_are_one_line(arguments: list[str], told: str) -> None:
    outcome = invoke(FakeService(), *arguments)
    assert outcome.code == 2
    assert told.lower() in outcome.err.lower()
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["result", "7f3a21", "--repo", "."], "--repo: needs --branch"),
        (["result", "7f3a21", "--patch", "-", "--repo", "."], "--repo: needs --branch"),
        (["logs", "7f3a21", "--format", "ndjson"], "--format: needs --download"),
        (["doctor", "--yes"], "--yes: needs --fix"),
        (["run", "Fix it", "--no-watch", "--timeout", "5"], "--timeout: has no effect with --no-watch"),
        (["loop", "-", "--detach", "--stay"], "--stay: has no effect with --no-watch"),
        (["answer", "Why?", "--detach", "--stay"], "--stay: has no effect with --no-watch"),
    ],
)
def test_options_without_effect_are_usage_errors(arguments: list[str], told: str) -> None:
    service = FakeService()
    outcome = invoke(service, *arguments)
    assert (outcome.code, service.requests) == (2, [])
    assert outcome.err.startswith(f"phaserunner: {told}")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(
            ["cancel", "7f3a21", "--reason", "\udcff"], "argument 4 (--reason): is not", id="option"
        ),
        pytest.param(["list", "--search=\udcff"], "argument 2 (--search): is not UTF-8", id="joined"),
        pytest.param(["say", "7f3a21", "\udcff"], "argument 3: is not UTF-8", id="positional"),
    ],
)
def test_arguments_that_are_not_utf8_are_usage_errors(arguments: list[str], told: str) -> None:
    outcome = invoke(FakeService(), *arguments)
    assert outcome.code == 2
    assert outcome.err.startswith(f"phaserunner: {told}")


def test_standard_input_that_is_not_utf8_is_a_usage_error() -> None:
    ended = subprocess.run(
        [*PROGRAM, "run", "-"], cwd=BACKEND, input=b"\xff", capture_output=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (2, b"phaserunner: GOAL: standard input is not UTF-8\n")


def test_standard_input_with_lone_surrogates_is_a_usage_error() -> None:
    outcome = invoke(FakeService(), "run", "-", stdin="\udcff")  # as Python reads bytes in some locales
    assert (outcome.code, outcome.err) == (2, "phaserunner: GOAL: standard input is not UTF-8\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["version"], "phaserunner"),
        (["list", "--url", "nowhere"], "--url"),
    ],
    ids=["output", "error"],
)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])
def test_closed_streams_do_no_harm(arguments: list[str], told: str, closed: str) -> None:
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *PROGRAM, *arguments]
    ended = subprocess.run(command, cwd=BACKEND, capture_output=True, text=True, check=False)
    assert "report it" not in ended.stderr
    assert ended.returncode == (2 if told in ended.stderr else 0)


@pytest.mark.parametrize("arguments", [["list"], ["escalations", "resolve"], ["up"]], ids=" ".join)
def test_help_fills_a_narrow_terminal_and_offers_no_empty_lists(arguments: list[str]) -> None:
    env = {**os.environ, "COLUMNS": "80"}
    shown = subprocess.run(
        [*PROGRAM, *arguments, "--help"], cwd=BACKEND, env=env, capture_output=True, text=True, check=True
    ).stdout
    assert shown.strip().startswith(f"Usage: phaserunner {' '.join(arguments)}")
    assert "--empty-" not in shown
    rows = [line.strip("│ ") for line in shown.splitlines()]
    assert not [row for row in rows if row in ("exactly one is open.", "file. A sentence may begin with @.")]


@pytest.mark.parametrize("arguments", [["--help"], ["list", "--help"], ["--version"], ["version"]])
def test_help_and_version_end_quietly_without_a_reader(arguments: list[str]) -> None:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    pipe = subprocess.PIPE
    process = subprocess.Popen([*PROGRAM, *arguments], cwd=BACKEND, env=env, stdout=pipe, stderr=pipe)
    assert process.stdout is not None
    process.stdout.close()
    _, said = process.communicate()
    assert (process.returncode, said) == (141, b"")


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
