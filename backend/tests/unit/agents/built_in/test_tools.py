"""The tools that need a program: search and tests."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic_ai import ToolFailed

from app.agents.built_in.pytest_tool import run_pytest
from app.agents.built_in.tools import WorkspaceTools
from app.agents.files import FileRefusedError, WorkspaceFiles
from app.workspaces.process import ProcessOutcome, run_process
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

PYTHON = Path(sys.executable)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    workspace = tmp_path / "a workspace"
    (workspace / "tests").mkdir(parents=True)
    (workspace / "a.py").write_text("def double(x):\n    return x * 2\n")
    (workspace / "tests/test_a.py").write_text(
        "import os\nfrom a import double\n\n"
        "def test_double():\n    assert double(2) == 4\n\n"
        "def test_wrong():\n    assert double(2) == 5\n\n"
        "def test_environment():\n    assert not [name for name in os.environ if 'KEY' in name]\n"
    )
    return workspace


@pytest.fixture
def tools(root: Path) -> WorkspaceTools:
    return WorkspaceTools(WorkspaceFiles(root), run_process, PYTHON, test_seconds=PATIENCE)


async def test_finds_lines_with_their_place(tools: WorkspaceTools) -> None:
    found = await tools.search(r"double\(2\)", files="*.py")
    assert found.splitlines() == [
        "tests/test_a.py:5:     assert double(2) == 4",
        "tests/test_a.py:8:     assert double(2) == 5",
    ]
    assert await tools.search("double", path="a.py") == "a.py:1: def double(x):\n"
    assert await tools.search("nowhere to be found") == "nothing matches"


async def test_search_is_bounded_and_reads_only_what_is_inside(tools: WorkspaceTools, root: Path) -> None:
    (root / "many.txt").write_text("needle\n" * 300)
    (root / "binary").write_bytes(b"needle\0")
    (root.parent / "outside.txt").write_text("needle")
    (root / "link.txt").symlink_to(root.parent / "outside.txt")
    found = (await tools.search("needle")).splitlines()
    assert len(found) == 201
    assert "more than 200 lines match" in found[-1]
    assert {line.partition(":")[0] for line in found[:-1]} == {"many.txt"}


@pytest.mark.parametrize(
    ("pattern", "path", "told"),
    [
        ("(", ".", "not a regular expression"),
        ("x", "../", "no '..'"),
        ("x", "/etc", "relative to the workspace"),
    ],
)
async def test_a_search_that_cannot_be_made_is_told(
    tools: WorkspaceTools, pattern: str, path: str, told: str
) -> None:
    with pytest.raises(ToolFailed, match=told):
        await tools.search(pattern, path)


async def test_a_pattern_that_takes_for_ever_is_ended(root: Path) -> None:
    (root / "trap.txt").write_text("a" * 200 + "b")

    async def impatient(
        argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float, output_limit: int
    ) -> ProcessOutcome:
        return await run_process(argv, cwd=cwd, env=env, timeout=0.5, output_limit=output_limit)

    tools = WorkspaceTools(WorkspaceFiles(root), impatient, PYTHON)
    with pytest.raises(ToolFailed, match="simpler pattern"):
        await tools.search(r"^(a+)+$", path="trap.txt")


async def test_runs_tests_without_the_services_environment(
    tools: WorkspaceTools, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    printed = await tools.run_tests()
    assert printed.startswith("pytest: exit status 1\n")
    assert "test_wrong" in printed
    assert "1 failed, 2 passed" in printed
    assert sorted(os.listdir(root)) == ["a.py", "tests"]


async def test_runs_chosen_tests(tools: WorkspaceTools) -> None:
    one = await tools.run_tests("tests/test_a.py::test_double")  # models often give a text for a list of one
    assert "1 passed" in one
    assert "failed" not in one
    assert "2 passed, 1 deselected" in await tools.run_tests(keyword="not wrong")


async def test_settings_above_the_workspace_play_no_part(tools: WorkspaceTools, root: Path) -> None:
    (root.parent / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    (root.parent / "conftest.py").write_text("raise RuntimeError('not yours')\n")
    assert "1 failed, 2 passed" in await tools.run_tests()


async def test_settings_of_the_workspace_do(tools: WorkspaceTools, root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '-k double'\n")
    assert "1 passed, 2 deselected" in await tools.run_tests()


@pytest.mark.parametrize("target", ["../x", "/etc", "missing.py", "-p"])
async def test_targets_are_places_in_the_workspace(tools: WorkspaceTools, target: str) -> None:
    with pytest.raises(ToolFailed):
        await tools.run_tests([target])


async def test_tests_that_do_not_end_are_killed(root: Path) -> None:
    (root / "tests/test_b.py").write_text("import time\ndef test_b():\n    time.sleep(60)\n")
    printed = await run_pytest(
        WorkspaceFiles(root), run_process, PYTHON, targets=["tests/test_b.py"], keyword="", timeout=0.5
    )
    assert "killed after 0.5 s" in printed


async def test_a_missing_interpreter_is_told(root: Path) -> None:
    with pytest.raises(FileRefusedError, match="cannot be started"):
        await run_pytest(
            WorkspaceFiles(root), run_process, Path("/no/python"), targets=[], keyword="", timeout=5.0
        )


def test_reads_parts_of_a_file(tools: WorkspaceTools, root: Path) -> None:
    (root / "lines.txt").write_text("".join(f"line {number}\n" for number in range(1, 1001)))
    assert tools.read_file("lines.txt", 999) == "line 999\nline 1000\n\n[lines 999 to 1000 of 1000]"
    assert tools.read_file("lines.txt", -5, 1) == "line 1\n\n[lines 1 to 1 of 1000]"
    assert tools.read_file("lines.txt", 5000) == "[the file has 1000 lines]"
    assert tools.read_file("a.py") == "def double(x):\n    return x * 2\n"


def test_an_edit_that_does_not_fit_is_told(tools: WorkspaceTools) -> None:
    with pytest.raises(ToolFailed, match="0 times"):
        tools.edit_file("a.py", "treble", "x")


@dataclass
class Waiting:
    """Runs a program and says when it has started."""

    started: asyncio.Event

    async def __call__(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float, output_limit: int
    ) -> ProcessOutcome:
        self.started.set()
        return await run_process(argv, cwd=cwd, env=env, timeout=timeout, output_limit=output_limit)


async def test_cancelling_ends_a_test_run(root: Path) -> None:
    (root / "tests/test_b.py").write_text("import time\ndef test_b():\n    time.sleep(60)\n")
    run = Waiting(asyncio.Event())
    tools = WorkspaceTools(WorkspaceFiles(root), run, PYTHON, test_seconds=PATIENCE)
    task = asyncio.create_task(tools.run_tests())
    await run.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
