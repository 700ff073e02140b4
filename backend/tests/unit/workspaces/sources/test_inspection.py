"""Sources are checked at the edge, and reading a repository runs nothing and writes nothing in it."""

import base64
import json
import os
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from app.core.errors import InvalidInputError, PhaseRunnerError, WorkspaceError
from app.schemas.workspaces import ArchiveSource, LocalSource, WorkspaceSource
from app.workspaces.history.git import Git
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.importing import import_source
from app.workspaces.sources.inspection import SourcePolicy, inspect_source
from tests.unit.workspaces.conftest import UserRepository
from tests.unit.workspaces.sources.source_support import ANY, archive, files_in, local

pytestmark = pytest.mark.anyio
ADAPTER: TypeAdapter[WorkspaceSource] = TypeAdapter(WorkspaceSource)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"kind": "local", "path": ""}, id="no-path"),
        pytest.param({"kind": "local", "path": "/a\nb"}, id="line-end-in-path"),
        pytest.param({"kind": "local", "path": "/a", "ref": "a\0b"}, id="nul-in-ref"),
        pytest.param({"kind": "archive"}, id="archive-without-data"),
        pytest.param({"kind": "archive", "data": "###"}, id="not-base64"),
        pytest.param({"kind": "archive", "data": "QQ==", "sha256": "0" * 64}, id="other-digest"),
        pytest.param({"kind": "local", "path": "/a", "shell": "x"}, id="unknown-field"),
        pytest.param({"kind": "svn", "url": "x"}, id="unknown-kind"),
    ],
)
def test_malformed_sources_are_refused(value: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        ADAPTER.validate_python(value)


def test_an_archive_arrives_in_base64() -> None:
    text = json.dumps({"kind": "archive", "data": base64.b64encode(b"PK data").decode()})
    source = ADAPTER.validate_json(text)
    assert isinstance(source, ArchiveSource)
    assert (source.data, source.size) == (b"PK data", 7)


def test_a_stored_archive_source_names_its_bytes_but_does_not_hold_them() -> None:
    stored = archive(b"data").model_dump(mode="json")
    assert "data" not in stored
    assert stored["size"] == 4
    again = ADAPTER.validate_python(stored)
    assert isinstance(again, ArchiveSource)
    assert again.data is None


async def test_a_local_repository_is_described(user: UserRepository, git: Git) -> None:
    found = await inspect_source(local(user.path), ANY, git)
    assert found.commit == user.git("rev-parse", "HEAD")
    assert (found.location, found.dirty, found.dirty_files, found.notes) == (str(user.path), False, 0, ())
    assert isinstance(found.pinned, LocalSource)
    assert found.pinned.ref == found.commit


async def test_uncommitted_changes_are_reported_and_not_taken(
    user: UserRepository, git: Git, run_repository: RunRepository, tmp_path: Path
) -> None:
    (user.path / "app.py").write_text("x = 'uncommitted'\n")
    (user.path / "new.py").write_text("")
    before = user.state()
    found = await inspect_source(local(user.path), ANY, git)
    assert (found.dirty, found.dirty_files) == (True, 2)
    assert "2 files have uncommitted changes" in found.notes[0]
    base = await import_source(local(user.path), run_repository, ANY)
    assert user.state() == before
    tree = tmp_path / "tree"
    await run_repository.checkout(base, tree)
    assert (tree / "app.py").read_text() == "x = 1\n"
    assert files_in(tree) == ["app.py", "notes.txt", "pkg/mod.py"]


async def test_a_directory_inside_a_repository_means_all_of_it(user: UserRepository, git: Git) -> None:
    found = await inspect_source(local(user.path / "pkg"), ANY, git)
    assert found.location == str(user.path)
    assert "lies inside the repository" in found.notes[0]


@pytest.mark.parametrize("ref", ["main~1", "v1", "annotated", "main"])
async def test_refs_of_all_kinds(
    user: UserRepository, git: Git, run_repository: RunRepository, ref: str
) -> None:
    user.git("tag", "v1", "main~2")
    user.git("tag", "-a", "annotated", "-m", "x", "main~2")
    base = await import_source(local(user.path, ref), run_repository, ANY)
    assert base == user.git("rev-parse", f"{ref}^{{commit}}")


async def test_the_base_keeps_its_id_but_not_its_history(
    user: UserRepository, run_repository: RunRepository
) -> None:
    base = await import_source(local(user.path), run_repository, ANY)
    assert base == user.git("rev-parse", "HEAD")
    assert run_repository.exists
    assert not await run_repository.has(user.git("rev-parse", "HEAD~1"))
    log = await run_repository.git.run(["log", "--format=%H", base], run_repository.target)
    assert log.decode().split() == [base]


async def test_a_bare_repository_can_be_a_source(
    user: UserRepository, git: Git, run_repository: RunRepository, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.git"
    user.git("clone", "-q", "--bare", ".", str(bare))
    found = await inspect_source(local(bare), ANY, git)
    assert (found.dirty, found.location) == (False, str(bare))
    assert await import_source(local(bare), run_repository, ANY) == found.commit


async def test_a_linked_worktree_can_be_a_source(
    user: UserRepository, git: Git, run_repository: RunRepository, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    user.git("worktree", "add", "-q", str(linked), "main~1", "--detach")
    found = await inspect_source(local(linked), ANY, git)
    assert found.commit == user.git("rev-parse", "main~1")
    assert await import_source(local(linked), run_repository, ANY) == found.commit
    with pytest.raises(InvalidInputError):  # its history lies outside
        await inspect_source(local(linked), SourcePolicy(allowed_roots=(linked,)), git)


async def test_a_shallow_clone_can_be_a_source(
    user: UserRepository, run_repository: RunRepository, tmp_path: Path
) -> None:
    shallow = tmp_path / "shallow"
    user.git("clone", "-q", "--depth=1", f"file://{user.path}", str(shallow))
    assert await import_source(local(shallow), run_repository, ANY) == user.git("rev-parse", "HEAD")


async def test_a_sha256_repository_can_be_a_source(run_repository: RunRepository, tmp_path: Path) -> None:
    other = UserRepository(tmp_path / "sha256")
    other.git("init", "-q", "--object-format=sha256")
    (other.path / "a").write_text("a")
    commit = other.commit()
    assert await import_source(local(other.path), run_repository, ANY) == commit
    tree = tmp_path / "t"
    await run_repository.checkout(commit, tree)
    (tree / "b").write_text("b")
    outcome = await run_repository.commit_tree(tree, commit, "attempt")
    bundles = await run_repository.bundle(commit), await run_repository.bundle(outcome.commit, commit)
    assert await run_repository.restore(*bundles) == commit
    assert await run_repository.has(outcome.commit)


async def test_submodules_are_left_empty_and_said_so(
    user: UserRepository, git: Git, run_repository: RunRepository, tmp_path: Path
) -> None:
    user.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(user.path), "sub")
    user.commit()
    found = await inspect_source(local(user.path), ANY, git)
    assert found.notes == ("Submodules are left empty, unless phaserunner.toml asks for them in [source].",)
    base = await import_source(local(user.path), run_repository, ANY)
    checkout = await run_repository.checkout(base, tmp_path / "t")
    assert [(each.path, each.reason) for each in checkout.withheld] == [("sub", "submodule")]
    assert list((tmp_path / "t" / "sub").iterdir()) == []


async def test_what_is_not_a_repository(tmp_path: Path, git: Git, user: UserRepository) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    file = tmp_path / "file"
    file.touch()
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path, words in (
        (plain, "not a git repository"),
        (tmp_path / "gone", "does not exist"),
        (file, "not a directory"),
        (loop, "does not exist"),
        (Path("relative"), "not an absolute path"),
        (user.path / ".git", "not in a working tree"),
    ):
        with pytest.raises(PhaseRunnerError, match=words) as refused:
            await inspect_source(local(path), ANY, git)
        assert refused.value.field == "source.path"
        assert refused.value.status == 422


async def test_a_repository_without_commits(tmp_path: Path, git: Git) -> None:
    fresh = UserRepository(tmp_path / "fresh")
    fresh.git("init", "-q")
    with pytest.raises(WorkspaceError, match="no commits yet") as refused:
        await inspect_source(local(fresh.path), ANY, git)
    assert refused.value.field == "source.path"


@pytest.mark.parametrize(
    "ref", ["no-such-branch", "--upload-pack=touch marker", "-h", "main:app.py", "f" * 40, "HEAD^{tree}"]
)
async def test_a_ref_that_is_no_commit(
    user: UserRepository, git: Git, run_repository: RunRepository, ref: str
) -> None:
    for action in (
        inspect_source(local(user.path, ref), ANY, git),
        import_source(local(user.path, ref), run_repository, ANY),
    ):
        with pytest.raises(PhaseRunnerError) as refused:
            await action
        assert refused.value.field == "source.ref"


async def test_paths_outside_the_allowed_roots(user: UserRepository, git: Git, tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "link").symlink_to(user.path)
    pointing = allowed / "pointing"
    pointing.mkdir()
    (pointing / ".git").write_text(f"gitdir: {user.path / '.git'}\n")
    policy = SourcePolicy(allowed_roots=(allowed,))
    for path in (user.path, allowed / "link", allowed / ".." / user.path.name, pointing):
        with pytest.raises(InvalidInputError, match="outside the allowed directories") as refused:
            await inspect_source(local(path), policy, git)
        assert refused.value.field == "source.path"
    # A repository whose top lies above the root is no better.
    with pytest.raises(InvalidInputError):
        await inspect_source(local(user.path / "pkg"), SourcePolicy(allowed_roots=(user.path / "pkg",)), git)
    assert await inspect_source(local(user.path), SourcePolicy(allowed_roots=(tmp_path,)), git)


async def test_configuration_of_a_repository_runs_nothing(
    user: UserRepository, git: Git, run_repository: RunRepository, tmp_path: Path
) -> None:
    marker = tmp_path / "marker"
    trap = tmp_path / "trap"
    trap.write_text(f'#!/bin/sh\ntouch "{marker}"\ncat\n')
    trap.chmod(0o755)
    quoted = f"'{trap}'"
    (user.path / ".gitattributes").write_text("* filter=Evil.Name diff=evil\n")
    user.commit()
    for key, value in {
        "core.fsmonitor": quoted,
        "core.hooksPath": str(tmp_path),
        "core.sshCommand": quoted,
        "core.pager": quoted,
        "core.alternateRefsCommand": quoted,
        "filter.Evil.Name.clean": quoted,
        "filter.Evil.Name.smudge": quoted,
        "filter.Evil.Name.process": quoted,
        "filter.Evil.Name.required": "true",
        "diff.external": quoted,
        "diff.evil.textconv": quoted,
        "uploadpack.packObjectsHook": quoted,
        "credential.helper": f"!{quoted}",
    }.items():
        user.git("config", key, value)
    for hook in ("post-index-change", "post-checkout", "reference-transaction", "pre-auto-gc"):
        (tmp_path / hook).symlink_to(trap)
    (user.path / "app.py").write_text("x = 3\n")
    os.utime(user.path / "notes.txt", (1, 1))
    marker.unlink(missing_ok=True)
    before = user.state()

    found = await inspect_source(local(user.path), ANY, git)
    assert found.dirty_files == 1
    base = await import_source(local(user.path), run_repository, ANY)
    await run_repository.checkout(base, tmp_path / "t")
    (tmp_path / "t" / "app.py").write_text("x = 4\n")
    outcome = await run_repository.commit_tree(tmp_path / "t", base, "attempt")
    await run_repository.diff(base, outcome.commit)
    assert not marker.exists()
    assert user.state() == before


async def test_a_repository_of_another_user_can_be_read(
    user: UserRepository, git: Git, run_repository: RunRepository
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    for each in (user.path, *user.path.rglob("*")):
        os.chown(each, 12345, 12345)
    found = await inspect_source(local(user.path), ANY, git)
    assert await import_source(local(user.path), run_repository, ANY) == found.commit
