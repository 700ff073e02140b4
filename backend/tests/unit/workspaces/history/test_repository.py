"""Snapshots restore elsewhere, results attach to the user's history, and diffs say what changed."""

from pathlib import Path

import pytest

from app.core.errors import InvalidInputError, WorkspaceError
from app.schemas.workspaces import ArchiveSource, EmptySource, LocalSource
from app.workspaces.history.bundle import decode_bundle
from app.workspaces.history.diffs import DiffLimits
from app.workspaces.history.git import Git
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.importing import import_source
from app.workspaces.sources.inspection import SourcePolicy
from tests.unit.workspaces.conftest import UserRepository
from tests.unit.workspaces.sources.test_archive import info, tar

pytestmark = pytest.mark.anyio


class Run:
    """A run with two attempts, the second on top of the first."""

    def __init__(self, repository: RunRepository, base: str, first: str, second: str) -> None:
        self.repository, self.base, self.first, self.second = repository, base, first, second


async def work(repository: RunRepository, base: str, tmp_path: Path) -> Run:
    one, two = tmp_path / "one" / "tree", tmp_path / "two" / "tree"
    await repository.checkout(base, one)
    (one / "result.py").write_text("answer = 41\n")
    first = await repository.commit_tree(one, base, "first")
    await repository.checkout(first.commit, two)
    (two / "result.py").write_text("answer = 42\n")
    (two / "blob").write_bytes(bytes(range(256)))
    second = await repository.commit_tree(two, first.commit, "second")
    return Run(repository, base, first.commit, second.commit)


@pytest.fixture
async def run(user: UserRepository, run_repository: RunRepository, tmp_path: Path) -> Run:
    base = await import_source(LocalSource(path=str(user.path)), run_repository, SourcePolicy())
    return await work(run_repository, base, tmp_path)


async def test_snapshots_restore_on_another_machine(run: Run, git: Git, tmp_path: Path) -> None:
    snapshots = [
        await run.repository.bundle(run.base),
        await run.repository.bundle(run.second, run.base),  # in any order: each stands on the base
        await run.repository.bundle(run.first, run.base),
    ]
    elsewhere = RunRepository(git, tmp_path / "elsewhere" / "repo.git")
    assert await elsewhere.restore(*snapshots) == run.base
    assert elsewhere.exists
    assert await elsewhere.has(run.first)
    await elsewhere.checkout(run.second, tmp_path / "again")
    assert (tmp_path / "again" / "result.py").read_text() == "answer = 42\n"
    assert await elsewhere.bundle(run.base)  # it can be handed on
    assert await elsewhere.diff(run.base, run.second) == await run.repository.diff(run.base, run.second)
    third = await elsewhere.commit_tree(tmp_path / "again", run.second, "third")
    assert not third.changed
    checked = await git.attempt(["fsck", "--strict"], elsewhere.target)
    assert checked.returncode == 0


async def test_a_base_snapshot_stands_alone_and_an_attempts_does_not(run: Run) -> None:
    assert decode_bundle(await run.repository.bundle(run.base)).prerequisites == ()
    assert decode_bundle(await run.repository.bundle(run.second, run.base)).prerequisites == (run.base,)


async def test_restoring_replaces_what_was_there(run: Run) -> None:
    snapshots = await run.repository.bundle(run.base), await run.repository.bundle(run.first, run.base)
    await run.repository.restore(*snapshots)
    assert await run.repository.has(run.first)
    assert not await run.repository.has(run.second)


async def test_further_snapshots_can_be_added(run: Run, git: Git, tmp_path: Path) -> None:
    elsewhere = RunRepository(git, tmp_path / "elsewhere.git")
    await elsewhere.restore(await run.repository.bundle(run.base))
    await elsewhere.add(await run.repository.bundle(run.second, run.base))
    assert await elsewhere.has(run.second)


async def test_damaged_snapshots_are_refused(run: Run, git: Git, tmp_path: Path) -> None:
    good = await run.repository.bundle(run.base)
    elsewhere = RunRepository(git, tmp_path / "elsewhere.git")
    for data in (
        b"",
        b"hello",
        good[:-5],
        good[:200],
        good.replace(b"PACK", b"KCAP"),
        good[:-30] + b"x" * 30,
    ):
        with pytest.raises(WorkspaceError):
            await elsewhere.restore(data)
        assert not elsewhere.exists
    with pytest.raises(WorkspaceError):
        await elsewhere.restore(good.replace(run.base.encode(), b"f" * 40, 1))


async def test_an_exported_bundle_attaches_to_the_users_history(
    run: Run, user: UserRepository, tmp_path: Path
) -> None:
    file = tmp_path / "result.bundle"
    file.write_bytes(await run.repository.bundle_for_export(run.base, run.second, "phaserunner/result"))
    user.git("bundle", "verify", str(file))
    user.git("fetch", "-q", str(file), "phaserunner/result:phaserunner/result")
    assert user.git("merge-base", "main", "phaserunner/result") == run.base
    assert user.git("rev-list", "--count", "phaserunner/result").split() == ["5"]
    assert user.git("show", "phaserunner/result:result.py") == "answer = 42"
    user.git("merge", "-q", "--ff-only", "phaserunner/result")


async def test_an_exported_bundle_of_a_repository_with_one_commit(
    run_repository: RunRepository, tmp_path: Path
) -> None:
    user = UserRepository(tmp_path / "single")
    user.git("init", "-q", "-b", "main")
    (user.path / "a").write_text("a\n")
    base = user.commit()
    await import_source(LocalSource(path=str(user.path)), run_repository, SourcePolicy())
    run = await work(run_repository, base, tmp_path)
    file = tmp_path / "b"
    file.write_bytes(await run_repository.bundle_for_export(base, run.second, "result"))
    user.git("fetch", "-q", str(file), "result:result")
    assert user.git("merge-base", "main", "result") == base


@pytest.mark.parametrize("kind", ["empty", "archive"])
async def test_without_a_users_history_the_bundle_is_complete(
    run_repository: RunRepository, tmp_path: Path, kind: str
) -> None:
    source = EmptySource() if kind == "empty" else ArchiveSource(data=tar((info("a"), b"a\n")))
    base = await import_source(source, run_repository, SourcePolicy())
    run = await work(run_repository, base, tmp_path)
    file = tmp_path / "b"
    file.write_bytes(await run_repository.bundle_for_export(base, run.second, "main"))
    fresh = UserRepository(tmp_path / "fresh")
    fresh.git("clone", "-q", "-b", "main", str(file), "clone")
    assert (fresh.path / "clone" / "result.py").read_text() == "answer = 42\n"


@pytest.mark.parametrize("branch", ["", "-x", "a b", "a..b", "x.lock"])
async def test_a_branch_needs_a_name(run: Run, branch: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        await run.repository.bundle_for_export(run.base, run.second, branch)
    assert refused.value.field == "branch"


async def test_a_patch_applies(run: Run, user: UserRepository) -> None:
    user.git("apply", "--index", "-", stdin=await run.repository.patch(run.base, run.second))
    assert (user.path / "blob").read_bytes() == bytes(range(256))
    assert (user.path / "result.py").read_text() == "answer = 42\n"


async def commit_of(run: Run, tmp_path: Path, files: dict[str, bytes | None]) -> str:
    tree = tmp_path / "work"
    await run.repository.checkout(run.base, tree)
    for path, data in files.items():
        place = tree / path
        if data is None:
            place.unlink()
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
    return (await run.repository.commit_tree(tree, run.base, "x")).commit


async def test_a_diff_names_what_happened_to_each_file(run: Run, tmp_path: Path) -> None:
    moved = b"y = 2\n" * 20
    head = await commit_of(
        run,
        tmp_path,
        {"app.py": b"x = 2\n", "notes.txt": None, "pkg/mod.py": None, "pkg/new.py": moved, "z.bin": b"\0\1"},
    )
    diff = await run.repository.diff(run.base, head)
    assert [
        (each.path, each.old_path, each.status, each.additions, each.deletions, each.binary)
        for each in diff.files
    ] == [
        ("app.py", None, "modified", 1, 1, False),
        ("notes.txt", None, "deleted", 0, 1, False),
        ("pkg/new.py", "pkg/mod.py", "renamed", 0, 0, False),
        ("z.bin", None, "added", 0, 0, True),
    ]
    assert not diff.truncated
    assert diff.files[0].patch.startswith("diff --git a/app.py b/app.py\n")
    assert "-x = 1\n+x = 2\n" in diff.files[0].patch
    assert "rename from pkg/mod.py" in diff.files[2].patch
    assert "".join(each.patch for each in diff.files) == await run.repository.diff_text(run.base, head)


async def test_a_file_that_becomes_a_link_is_one_change(run: Run, tmp_path: Path) -> None:
    tree = tmp_path / "work"
    await run.repository.checkout(run.base, tree)
    (tree / "app.py").unlink()
    (tree / "app.py").symlink_to("notes.txt")
    (tree / "zzz").write_text("after\n")
    head = (await run.repository.commit_tree(tree, run.base, "x")).commit
    diff = await run.repository.diff(run.base, head)
    assert [(each.path, each.status) for each in diff.files] == [("app.py", "type_changed"), ("zzz", "added")]
    assert diff.files[0].patch.count("diff --git") == 2
    assert "+after" in diff.files[1].patch


async def test_a_file_that_looks_like_a_diff(run: Run, tmp_path: Path) -> None:
    head = await commit_of(run, tmp_path, {"a.txt": b"diff --git a/x b/x\n--- a/x\n", "b.txt": b"b\n"})
    diff = await run.repository.diff(run.base, head)
    assert [each.path for each in diff.files] == ["a.txt", "b.txt"]
    assert "+diff --git a/x b/x" in diff.files[0].patch


async def test_one_large_file_does_not_hide_the_others(run: Run, tmp_path: Path) -> None:
    lines = b"".join(b"%d\n" % number for number in range(5000))
    head = await commit_of(run, tmp_path, {"a-large.txt": lines, "b.txt": b"b\n"})
    diff = await run.repository.diff(run.base, head, limits=DiffLimits(file_bytes=1000, total_bytes=20_000))
    large, small = diff.files
    assert (large.additions, large.truncated, diff.truncated) == (5000, True, True)
    assert 0 < len(large.patch) <= 1000
    assert large.patch.endswith("\n")
    assert (small.patch.endswith("+b\n"), small.truncated) == (True, False)


async def test_a_diff_beyond_every_limit_still_names_the_files(run: Run, tmp_path: Path) -> None:
    lines = b"".join(b"%d\n" % number for number in range(5000))
    head = await commit_of(run, tmp_path, {"a.txt": lines, "b.txt": b"b\n"})
    diff = await run.repository.diff(run.base, head, limits=DiffLimits(file_bytes=100, total_bytes=100))
    assert [(each.path, each.additions, each.truncated) for each in diff.files] == [
        ("a.txt", 5000, True),
        ("b.txt", 1, True),
    ]
    text = await run.repository.diff_text(run.base, head, limit=1000)
    assert text.endswith("[diff cut here]\n")
    assert len(text) < 1100


async def test_a_file_is_whole_when_it_is_named(run: Run, tmp_path: Path) -> None:
    lines = b"".join(b"%d\n" % number for number in range(60_000))
    files = {"a large.txt": lines, "b.txt": b"b\n"}
    head = await commit_of(run, tmp_path, files)
    assert (await run.repository.diff(run.base, head)).files[0].truncated
    diff = await run.repository.diff_of(run.base, head, ["a large.txt"])
    assert [(each.path, each.additions, each.truncated) for each in diff.files] == [
        ("a large.txt", 60_000, False)
    ]
    assert diff.files[0].patch.endswith("+59999\n")
    assert not diff.truncated
    assert (await run.repository.diff_text(run.base, head)).count("\n") > 60_000, "text is not cut"
    with pytest.raises(InvalidInputError, match="did not change") as raised:
        await run.repository.diff_of(run.base, head, ["app.py"])
    assert raised.value.field == "path"


async def test_a_renamed_file_that_is_named_is_still_a_rename(run: Run, tmp_path: Path) -> None:
    tree = tmp_path / "work"
    await run.repository.checkout(run.base, tree)
    (tree / "pkg" / "mod.py").rename(tree / "pkg" / "new\u202e.py")
    (tree / "notes.txt").unlink()
    head = (await run.repository.commit_tree(tree, run.base, "x")).commit
    named = [each.path for each in (await run.repository.diff(run.base, head)).files]
    diff = await run.repository.diff_of(run.base, head, [named[-1]])
    assert [(each.path, each.old_path, each.status) for each in diff.files] == [
        ("pkg/new\\u202e.py", "pkg/mod.py", "renamed")
    ]


async def test_a_file_in_whose_place_a_directory_came(run: Run, tmp_path: Path) -> None:
    tree = tmp_path / "work"
    await run.repository.checkout(run.base, tree)
    (tree / "app.py").unlink()
    (tree / "app.py").mkdir()
    (tree / "app.py" / "inner.py").write_text("y = 1\n")
    head = (await run.repository.commit_tree(tree, run.base, "x")).commit
    diff = await run.repository.diff_of(run.base, head, ["app.py"])
    assert [(each.path, each.status) for each in diff.files] == [("app.py", "deleted")]


async def test_a_diff_of_chosen_paths(run: Run, tmp_path: Path) -> None:
    head = await commit_of(run, tmp_path, {"app.py": b"x = 2\n", "*.py": b"star\n", "pkg/mod.py": b"z\n"})
    assert [each.path for each in (await run.repository.diff(run.base, head, ["pkg"])).files] == [
        "pkg/mod.py"
    ]
    assert [each.path for each in (await run.repository.diff(run.base, head, ["*.py"])).files] == ["*.py"]


async def test_no_difference(run: Run) -> None:
    diff = await run.repository.diff(run.base, run.base)
    assert (diff.files, diff.truncated) == ((), False)
    assert await run.repository.diff_text(run.base, run.base) == ""
    assert await run.repository.patch(run.base, run.base) == b""
