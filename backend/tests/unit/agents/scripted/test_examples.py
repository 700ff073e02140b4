"""The examples that come with the program do what they say."""

import sys
from pathlib import Path

import pytest

from app.agents.built_in.pytest_tool import run_pytest
from app.agents.files import WorkspaceFiles
from app.agents.scripted import examples as module
from app.agents.scripted.examples import examples_directory, find_example, list_examples, materialise_example
from app.core.errors import InvalidInputError, NotFoundError, WorkspaceError
from app.schemas.runs import Phase
from app.workspaces.process import run_process
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

PYTHON = Path(sys.executable)


async def run(*argv: str, cwd: Path) -> str:
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/dev/null", "LANG": "C.UTF-8"}
    outcome = await run_process(argv, cwd=cwd, env=env, timeout=PATIENCE)
    return outcome.stdout + outcome.stderr


async def lint(project: Path) -> str:
    return await run(
        str(PYTHON),
        "-m",
        "ruff",
        "check",
        "--no-cache",
        "--isolated",
        "--select=E4,E7,E9,F",
        "--output-format=concise",
        ".",
        cwd=project,
    )


async def run_tests(project: Path) -> str:
    return await run_pytest(
        WorkspaceFiles(project), run_process, PYTHON, targets=[], keyword="", timeout=60.0
    )


def test_every_example_is_complete() -> None:
    examples = list_examples()
    assert [each.name for each in examples] == ["teatime", "teatime-escalation"]
    for example in examples:
        assert example.title
        assert example.goal
        assert (example.project / "pyproject.toml").is_file()
        script = example.load_script()
        assert set(script.phases) == set(Phase)
        assert script.phases[Phase.DISCOVERY][0].say.endswith("Discovery Complete")


async def test_a_project_becomes_a_repository_with_one_commit(tmp_path: Path) -> None:
    project = tmp_path / "a place"
    example = await materialise_example("teatime", project, run_process)
    assert example.name == "teatime"
    log = await run("git", "-c", "safe.directory=*", "log", "--format=%s by %an", "main", cwd=project)
    assert log == "The project teatime by PhaseRunner examples\n"
    assert await run("git", "-c", "safe.directory=*", "status", "--porcelain", cwd=project) == ""
    printed = await run_tests(project)
    assert "test_reads_hours" in printed
    assert "10 failed, 15 passed" in printed
    assert "All checks passed" in await lint(project)


async def test_a_place_that_is_taken_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    for dest in (tmp_path, tmp_path / "mine"):
        with pytest.raises(InvalidInputError, match="not an empty directory") as refusal:
            await materialise_example("teatime", dest, run_process)
        assert refusal.value.field == "dest"
    assert (tmp_path / "mine").read_text() == "x"


def test_an_unknown_name_names_the_known_ones() -> None:
    with pytest.raises(NotFoundError, match="teatime, teatime-escalation"):
        find_example("coffee")


def test_an_installation_may_have_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "_PLACES", (tmp_path / "a", tmp_path / "b"))
    with pytest.raises(NotFoundError, match="without examples"):
        examples_directory()


async def test_git_that_fails_is_said(tmp_path: Path) -> None:
    async def broken(*args: object, **kwargs: object) -> object:
        raise FileNotFoundError("no git")

    with pytest.raises(WorkspaceError, match="git cannot be started"):
        await materialise_example("teatime", tmp_path / "p", broken)  # type: ignore[arg-type]
