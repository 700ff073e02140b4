"""What cannot be judged: each case says what is wrong and what to do next, and none passes."""

import json
import shlex
from pathlib import Path

import pytest

from app.cli.commands.hook import HookOptions, hook
from app.cli.hooks.clients import HookClient
from app.core.config import Settings
from app.core.errors import UnavailableError, WorkspaceError
from app.schemas.api.workspace_reports import EvaluateRequest, EvaluationReport
from app.schemas.modes import ConfinementKind
from app.services.local.findings import findings_of
from tests.integration.evaluators.changes import BASE, FEWER_CUPS, NO_VERDICT
from tests.integration.evaluators.support import commit_all, git, judging_with, lay_out, needs_node, root_at
from tests.unit.workspaces.confine.containers import engine_here

pytestmark = pytest.mark.anyio


def crlf(files: dict[str, str]) -> dict[str, str]:
    return {name: text.replace("\n", "\r\n") for name, text in files.items()}


def lay_out_bytes(place: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(text.encode())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    lay_out(project, BASE)
    commit_all(project, "Start")
    return project


async def judged(place: Path, base: str = "HEAD") -> EvaluationReport:
    async with judging_with(Settings(_env_file=None, DATA_DIR=place.parent / "data")) as judging:
        return await judging.judge(EvaluateRequest(path=str(place), base=base, deterministic_only=True))


async def test_a_base_that_a_shallow_clone_lacks(tmp_path: Path, project: Path) -> None:
    first = git(project, "rev-parse", "HEAD")
    lay_out(project, {"tea.txt": "black\n"})
    commit_all(project, "More")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{project}", str(clone))
    with pytest.raises(WorkspaceError, match=r"the clone is shallow: .* `git fetch --unshallow`"):
        await judged(clone, first)
    lay_out(clone, {"tea.txt": "BUG\n"})
    assert "git fetch --unshallow" in await said_by_hook(tmp_path, clone, first)
    assert (await judged(clone)).verdict == "failed", "what the clone has can be judged"


async def said_by_hook(place: Path, project: Path, base: str = "HEAD") -> str:
    event = {"hook_event_name": "Stop", "session_id": "s", "cwd": str(project), "stop_hook_active": False}
    root, out = root_at(place, json.dumps(event))
    assert await hook(HookClient.CLAUDE_CODE, given=HookOptions(run=True, base=base), root=root) == 0
    return json.loads(out.getvalue())["systemMessage"]


async def test_a_directory_without_a_repository(tmp_path: Path) -> None:
    lay_out(tmp_path / "project", BASE)
    with pytest.raises(WorkspaceError, match=r"is not a git repository, .* `git init`, and commit"):
        await judged(tmp_path / "project")
    told = await said_by_hook(tmp_path, tmp_path / "project")
    assert "is not in a git repository, so there is no base; run: git init" in told


async def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    lay_out(tmp_path / "project", BASE)
    git(tmp_path, "init", "-q", "project")
    with pytest.raises(WorkspaceError, match=r"has no commits yet; make one first"):
        await judged(tmp_path / "project")
    assert "base: 'HEAD' is not a commit" in await said_by_hook(tmp_path, tmp_path / "project")


async def test_a_machine_without_git(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(project, {"tea.txt": "black\n"})
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(UnavailableError, match=r"git is not installed .* install it"):
        await judged(project)
    told = await said_by_hook(project.parent, project)
    assert "no verdict, so nothing passed: git is not installed" in told


async def test_an_image_that_is_missing(project: Path) -> None:
    lay_out(project, {"tea.txt": "black\n"})
    with engine_here() as engine:
        settings = Settings(
            _env_file=None,
            DATA_DIR=project.parent / "data",
            CONFINEMENT=ConfinementKind.CONTAINER,
            CONTAINER_ENGINE=shlex.join(engine.settings.engine),
            CONTAINER_IMAGE="localhost/none:1",
        )
        async with judging_with(settings) as judging:
            request = EvaluateRequest(path=str(project), base="HEAD", deterministic_only=True)
            report = await judging.judge(request)
    assert report.verdict == "errored"
    assert "the image localhost/none:1 is not on this machine; get it with: " in report.reason


async def test_a_base_that_does_not_exist(project: Path) -> None:
    with pytest.raises(WorkspaceError, match=r"'release/9' is not a commit, branch or tag .* `git fetch`"):
        await judged(project, "release/9")


async def test_a_detached_head_is_judged(project: Path) -> None:
    git(project, "checkout", "-q", "--detach")
    lay_out(project, {"tea.txt": "BUG\n"})
    assert (await judged(project)).verdict == "failed"


@needs_node
@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        (crlf({"cup.js": FEWER_CUPS}), "failed"),
        (crlf({"cup.js": f"// Big cups.\n{BASE['cup.js']}"}), "passed"),
        ({"cup.js": BASE["cup.js"]}, "passed"),
        (crlf({"cup.js": FEWER_CUPS, "cup.test.js": BASE["cup.test.js"].replace("8", "6")}), "asks"),
    ],
    ids=["bad", "good", "other line ends", "bad behind another test"],
)
async def test_windows_line_ends_change_no_verdict(
    tmp_path: Path, changes: dict[str, str], verdict: str
) -> None:
    project = tmp_path / "project"
    lay_out_bytes(project, crlf(dict(BASE)))
    git(tmp_path, "init", "-q", "project")
    git(project, "config", "core.autocrlf", "false")
    commit_all(project, "Start")
    lay_out_bytes(project, changes)
    report = await judged(project)
    assert report.verdict == verdict, report.reason


@pytest.mark.parametrize(
    ("file", "told"),
    [
        pytest.param(NO_VERDICT, "a-program-that-is-nowhere is not installed here", id="a program"),
    ],
)
async def test_a_runner_that_is_not_installed(project: Path, file: str, told: str) -> None:
    lay_out(project, {"phaserunner.toml": file})
    commit_all(project, "Runner")
    lay_out(project, {"tea.txt": "black\n"})
    report = await judged(project)
    assert report.verdict == "errored", report.reason
    assert any(told in each.message for each in findings_of(report)), findings_of(report)
