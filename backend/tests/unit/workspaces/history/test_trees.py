"""Attempts are checked out and committed, whatever an agent leaves behind."""

import os
import socket
from pathlib import Path

import pytest

from app.core.errors import WorkspaceError
from app.schemas.workspaces import LocalSource
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.files.removal import remove_tree
from app.workspaces.history.git import Git
from app.workspaces.history.repository import RunRepository
from app.workspaces.history.trees import CommitOutcome
from app.workspaces.process import run_process
from app.workspaces.sources.importing import import_source
from app.workspaces.sources.inspection import SourcePolicy
from tests.patience import PATIENCE
from tests.unit.workspaces.conftest import UserRepository

pytestmark = pytest.mark.anyio


class Attempt:
    """A run's repository with one tree checked out of the base."""

    def __init__(self, repository: RunRepository, base: str, tree: Path) -> None:
        self.repository, self.base, self.tree = repository, base, tree

    async def commit(self) -> CommitOutcome:
        return await self.repository.commit_tree(self.tree, self.base, "attempt 1")

    async def contents(self, commit: str) -> dict[str, str]:
        """Mode, or text, of each file as a judge would see it."""
        listing = await self.repository.git.run(
            ["ls-tree", "-r", "-z", "--name-only", commit], self.repository.target
        )
        found: dict[str, str] = {}
        for path in listing.decode("utf-8", "surrogateescape").split("\0")[:-1]:
            blob = await self.repository.git.attempt(
                ["cat-file", "blob", f"{commit}:{path}"], self.repository.target
            )
            found[path] = blob.stdout.decode("utf-8", "replace")
        return found


async def start(user: UserRepository, repository: RunRepository, tmp_path: Path) -> Attempt:
    user.commit()
    base = await import_source(LocalSource(path=str(user.path)), repository, SourcePolicy())
    tree = tmp_path / "claim dir" / "tree"
    await repository.checkout(base, tree)
    return Attempt(repository, base, tree)


@pytest.fixture
async def attempt(user: UserRepository, run_repository: RunRepository, tmp_path: Path) -> Attempt:
    return await start(user, run_repository, tmp_path)


async def test_a_tree_holds_the_files_and_no_git(attempt: Attempt) -> None:
    assert sorted(os.listdir(attempt.tree)) == ["app.py", "notes.txt", "pkg"]
    assert (attempt.tree / "app.py").stat().st_uid == os.geteuid()


async def test_changes_of_all_kinds_are_committed(attempt: Attempt) -> None:
    (attempt.tree / "app.py").write_text("x = 2\n")
    (attempt.tree / "notes.txt").unlink()
    (attempt.tree / "new").mkdir()
    (attempt.tree / "new" / "run.sh").write_text("#!/bin/sh\n")
    (attempt.tree / "new" / "run.sh").chmod(0o755)
    (attempt.tree / "link").symlink_to("pkg/mod.py")
    outcome = await attempt.commit()
    assert outcome.changed
    assert outcome.changed_files == ("app.py", "link", "new/run.sh", "notes.txt")
    assert outcome.dropped == ()
    assert outcome.tree == await attempt.repository.tree_of(outcome.commit)
    log = await attempt.repository.git.run(
        ["log", "--format=%P|%an <%ae>|%cn|%s", "-1", outcome.commit], attempt.repository.target
    )
    assert log.decode() == f"{attempt.base}|PhaseRunner <phaserunner@localhost>|PhaseRunner|attempt 1\n"


async def test_no_change_is_a_commit_with_the_same_tree(attempt: Attempt) -> None:
    outcome = await attempt.commit()
    assert not outcome.changed
    assert outcome.commit != attempt.base
    assert outcome.tree == await attempt.repository.tree_of(attempt.base)


async def test_a_change_that_hides_behind_old_times_and_the_same_size_is_seen(attempt: Attempt) -> None:
    path = attempt.tree / "app.py"
    before = path.stat()
    path.write_text("x = 9\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (await attempt.commit()).changed_files == ("app.py",)


async def test_everything_deleted(attempt: Attempt) -> None:
    for name in ("app.py", "notes.txt", "pkg/mod.py"):
        (attempt.tree / name).unlink()
    (attempt.tree / "pkg").rmdir()
    outcome = await attempt.commit()
    assert len(outcome.changed_files) == 3
    assert await attempt.contents(outcome.commit) == {}


async def test_a_deleted_tree_is_said_so(attempt: Attempt) -> None:
    await remove_tree(attempt.tree)
    with pytest.raises(WorkspaceError, match="is gone"):
        await attempt.commit()
    attempt.tree.symlink_to("/etc")
    with pytest.raises(WorkspaceError, match="is gone"):
        await attempt.commit()


async def test_caches_and_ignored_files_are_left_out(attempt: Attempt) -> None:
    for directory in ("__pycache__", ".venv", "node_modules", ".pytest_cache", "build"):
        (attempt.tree / directory).mkdir()
        (attempt.tree / directory / "f").write_text("x")
    (attempt.tree / ".venv" / "python").symlink_to("/usr/bin/python3")
    (attempt.tree / "a.pyc").write_text("x")
    (attempt.tree / ".gitignore").write_text("build/\n")
    outcome = await attempt.commit()
    assert outcome.changed_files == (".gitignore",)
    assert outcome.dropped == ()


async def test_a_gitignore_of_everything_hides_no_tracked_change(attempt: Attempt) -> None:
    (attempt.tree / ".gitignore").write_text("*\n")
    (attempt.tree / "app.py").write_text("x = 5\n")
    (attempt.tree / "new.py").write_text("")
    outcome = await attempt.commit()
    assert outcome.changed_files == ("app.py",)


async def test_attributes_change_no_byte_and_run_nothing(attempt: Attempt, tmp_path: Path) -> None:
    (attempt.tree / ".gitattributes").write_text(
        "* text eol=crlf ident filter=evil working-tree-encoding=UTF-16 -diff export-ignore\n"
    )
    (attempt.tree / "app.py").write_bytes(b"# $Id$\r\nx = 1\ny = 2\r\n")
    outcome = await attempt.commit()
    assert (await attempt.contents(outcome.commit))["app.py"] == "# $Id$\r\nx = 1\ny = 2\r\n"
    judged = tmp_path / "judged"
    await attempt.repository.checkout(outcome.commit, judged)
    assert (judged / "app.py").read_bytes() == b"# $Id$\r\nx = 1\ny = 2\r\n"
    diff = await attempt.repository.diff(attempt.base, outcome.commit)
    assert [each.binary for each in diff.files] == [False, False]
    assert "+y = 2" in diff.files[1].patch


async def test_nested_repositories_are_dropped_but_their_files_kept(attempt: Attempt) -> None:
    nested = UserRepository(attempt.tree / "vendored")
    nested.git("init", "-q")
    (nested.path / "lib.py").write_text("z = 1\n")
    nested.commit()
    UserRepository(attempt.tree / "without-commits").git("init", "-q")
    UserRepository(attempt.tree).git("init", "-q")
    (attempt.tree / "pkg" / ".git").write_text("gitdir: /etc\n")
    (attempt.tree / "pkg" / ".GIT").symlink_to("/etc")
    outcome = await attempt.commit()
    assert outcome.changed_files == ("vendored/lib.py",)
    assert [(each.path, each.reason) for each in outcome.dropped] == [
        (path, "nested_repository")
        for path in (".git", "pkg/.GIT", "pkg/.git", "vendored/.git", "without-commits/.git")
    ]


async def test_a_hook_or_filter_that_the_agent_plants_never_runs(attempt: Attempt, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    planted = UserRepository(attempt.tree)
    planted.git("init", "-q")
    trap = f"touch '{marker}'; cat"
    for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "diff.external"):
        planted.git("config", key, trap)
    hook = attempt.tree / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{trap}\n")
    hook.chmod(0o755)
    (attempt.tree / ".gitattributes").write_text("* filter=evil\n")
    await attempt.commit()
    assert not marker.exists()


async def test_links_that_lead_out_are_dropped(attempt: Attempt, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    tree = attempt.tree
    (tree / "absolute").symlink_to("/etc/passwd")
    (tree / "up").symlink_to("../../secret")
    (tree / "pkg" / "through").symlink_to("../up")
    (tree / "loop").symlink_to("loop")
    (tree / "fine").symlink_to("pkg")
    (tree / "app.py").unlink()
    (tree / "app.py").symlink_to("/etc/hostname")
    (tree / ".gitmodules").symlink_to("app.py")
    outcome = await attempt.commit()
    assert [(each.path, each.reason) for each in outcome.dropped] == [
        (".gitmodules", "refused_name"),
        ("absolute", "escaping_link"),
        ("app.py", "escaping_link"),
        ("pkg/through", "escaping_link"),
        ("up", "escaping_link"),
    ]
    assert outcome.changed_files == ("app.py", "fine", "loop")
    assert (tmp_path / "secret").read_text() == "secret"


async def test_a_directory_replaced_by_a_link_out_of_the_tree(attempt: Attempt, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mod.py").write_text("secret\n")
    (attempt.tree / "pkg" / "mod.py").unlink()
    (attempt.tree / "pkg").rmdir()
    (attempt.tree / "pkg").symlink_to(outside)
    outcome = await attempt.commit()
    assert "secret" not in str(await attempt.contents(outcome.commit))
    assert outcome.changed_files == ("pkg/mod.py",)
    assert (outside / "mod.py").exists()


async def test_a_tracked_cache_directory_cannot_smuggle_a_link(
    user: UserRepository, run_repository: RunRepository, tmp_path: Path
) -> None:
    (user.path / "node_modules").mkdir()
    (user.path / "node_modules" / "kept").write_text("x")
    attempt = await start(user, run_repository, tmp_path)
    (attempt.tree / "node_modules" / "kept").unlink()
    (attempt.tree / "node_modules" / "kept").symlink_to("/etc/passwd")
    outcome = await attempt.commit()
    assert [(each.path, each.reason) for each in outcome.dropped] == [("node_modules/kept", "escaping_link")]
    assert "node_modules/kept" not in await attempt.contents(outcome.commit)


async def test_special_files_are_dropped(attempt: Attempt) -> None:
    os.mkfifo(attempt.tree / "pipe")
    (attempt.tree / "app.py").unlink()
    os.mkfifo(attempt.tree / "app.py")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(attempt.tree)  # a socket's path must be short
        try:
            listener.bind("sock")
        finally:
            os.chdir(here)
    outcome = await attempt.commit()
    assert [(each.path, each.reason) for each in outcome.dropped] == [
        (path, "special_file") for path in ("app.py", "pipe", "sock")
    ]
    assert outcome.changed_files == ("app.py",)


async def test_what_was_made_unreadable_is_read_all_the_same(attempt: Attempt) -> None:
    (attempt.tree / "closed").mkdir()
    (attempt.tree / "closed" / "f.py").write_text("x")
    (attempt.tree / "closed" / "f.py").chmod(0)
    (attempt.tree / "closed").chmod(0)
    outcome = await attempt.commit()
    assert outcome.changed_files == ("closed/f.py",)


NAMES = {
    "line-end": b"a\nb.py",
    "quote": b'a"b.py',
    "not-utf-8": b"a\xff\xfe.py",
    "space-and-tab": b" a\tb ",
    "option": b"--version",
    "pathspec": b":(exclude)*",
    "backslash": b"a\\b",
    "escape": b"\x1b]0;x\x07",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
async def test_odd_names_survive(attempt: Attempt, tmp_path: Path, name: bytes) -> None:
    (attempt.tree / os.fsdecode(name)).write_text("odd\n")
    outcome = await attempt.commit()
    assert len(outcome.changed_files) == 1
    assert outcome.changed_files[0].isprintable()
    judged = tmp_path / "judged"
    await attempt.repository.checkout(outcome.commit, judged)
    assert name in os.listdir(os.fsencode(judged))
    diff = await attempt.repository.diff(attempt.base, outcome.commit)
    assert [(each.path, each.additions) for each in diff.files] == [(outcome.changed_files[0], 1)]
    assert "+odd" in diff.files[0].patch


async def test_a_directory_deeper_than_a_path_may_be_long(attempt: Attempt) -> None:
    make_deep = 'i=0; while [ $i -lt 60 ]; do mkdir "$1" && cd "$1" || exit 1; i=$((i+1)); done; echo x > f'
    argv = ["/bin/sh", "-c", make_deep, "-", "d" * 100]
    await run_process(argv, cwd=attempt.tree, env={"PATH": "/usr/bin:/bin"}, timeout=PATIENCE)
    (attempt.tree / "app.py").write_text("x = 3\n")
    outcome = await attempt.commit()
    assert "app.py" in outcome.changed_files
    assert [each.reason for each in outcome.dropped] == ["unreadable"]
    await remove_tree(attempt.tree)
    assert not attempt.tree.exists()


async def test_more_than_the_limits_allow(user: UserRepository, git: Git, tmp_path: Path) -> None:
    limits = WorkspaceLimits(max_files=5, max_bytes=10_000)
    attempt = await start(user, RunRepository(git, tmp_path / "r.git", limits), tmp_path)
    (attempt.tree / ".gitignore").write_text("ignored/\n")
    (attempt.tree / "ignored").mkdir()
    for number in range(20):
        (attempt.tree / "ignored" / f"{number}").write_text("x" * 1000)
    assert (await attempt.commit()).changed_files == (".gitignore",)  # what is ignored does not count
    (attempt.tree / "huge").touch()
    os.truncate(attempt.tree / "huge", 10**12)
    with pytest.raises(WorkspaceError, match=r"at most 10,000 are allowed \(WORKSPACE_MAX_BYTES\)"):
        await attempt.commit()
    (attempt.tree / "huge").unlink()
    (attempt.tree / "one").touch()
    (attempt.tree / "two").touch()
    with pytest.raises(WorkspaceError, match="6 files; at most 5"):
        await attempt.commit()


async def test_links_of_the_base_that_lead_out_are_withheld_and_survive(
    user: UserRepository, run_repository: RunRepository, tmp_path: Path
) -> None:
    (user.path / "data").symlink_to("/srv/data")
    (user.path / "replaced").symlink_to("/srv/other")
    (user.path / "inside").symlink_to("pkg")
    attempt = await start(user, run_repository, tmp_path)
    assert "data" not in os.listdir(attempt.tree)
    assert os.readlink(attempt.tree / "inside") == "pkg"
    (attempt.tree / "app.py").write_text("x = 2\n")
    (attempt.tree / "replaced").write_text("now a file\n")
    outcome = await attempt.commit()
    assert outcome.changed_files == ("app.py", "replaced")
    contents = await attempt.contents(outcome.commit)
    assert (contents["data"], contents["replaced"]) == ("/srv/data", "now a file\n")
    checkout = await run_repository.checkout(outcome.commit, tmp_path / "judged")
    assert [(each.path, each.reason) for each in checkout.withheld] == [("data", "escaping_link")]


async def test_a_withheld_link_below_what_became_a_file(
    user: UserRepository, run_repository: RunRepository, tmp_path: Path
) -> None:
    (user.path / "dir").mkdir()
    (user.path / "dir" / "out").symlink_to("/srv/data")
    attempt = await start(user, run_repository, tmp_path)
    (attempt.tree / "dir").rmdir()
    (attempt.tree / "dir").write_text("a file\n")
    assert (await attempt.contents((await attempt.commit()).commit))["dir"] == "a file\n"


async def test_files_put_into_a_submodule_are_reported(
    user: UserRepository, run_repository: RunRepository, tmp_path: Path
) -> None:
    user.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(user.path), "sub")
    attempt = await start(user, run_repository, tmp_path)
    (attempt.tree / "app.py").write_text("x = 2\n")
    assert (await attempt.commit()).changed_files == ("app.py",)  # an empty directory is no deletion
    (attempt.tree / "sub" / "lost.py").write_text("")
    outcome = await attempt.commit()
    assert [(each.path, each.reason) for each in outcome.dropped] == [("sub", "submodule")]
    assert outcome.changed_files == ("app.py",)


async def test_without_its_index_a_tree_is_committed_all_the_same(attempt: Attempt) -> None:
    attempt.tree.with_name("tree.index").unlink()
    (attempt.tree / "app.py").write_text("x = 2\n")
    assert (await attempt.commit()).changed_files == ("app.py",)


async def test_a_second_attempt_builds_on_the_first(attempt: Attempt, tmp_path: Path) -> None:
    (attempt.tree / "one.py").write_text("1\n")
    first = await attempt.commit()
    tree = tmp_path / "second"
    await attempt.repository.checkout(first.commit, tree)
    (tree / "two.py").write_text("2\n")
    second = await attempt.repository.commit_tree(tree, first.commit, "attempt 2")
    assert second.changed_files == ("two.py",)
    diff = await attempt.repository.diff(attempt.base, second.commit)
    assert [each.path for each in diff.files] == ["one.py", "two.py"]


async def test_a_checkout_never_overwrites(attempt: Attempt) -> None:
    with pytest.raises(FileExistsError):
        await attempt.repository.checkout(attempt.base, attempt.tree)


async def test_an_unknown_commit(attempt: Attempt, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="read-tree failed"):
        await attempt.repository.checkout("f" * 40, tmp_path / "x")


@pytest.mark.parametrize("message", ["", "a\0b", "süß\n\nbody", "-m x"])
async def test_any_text_is_a_message(attempt: Attempt, message: str) -> None:
    assert (await attempt.repository.commit_tree(attempt.tree, attempt.base, message)).commit
