"""Submodules and files in LFS: fetched if the project asks, and named by the result as by the base."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.core.credentials import CredentialRule, Credentials, SecretPlace
from app.core.errors import InvalidInputError, WorkspaceError
from app.schemas.workspaces import GitSource, LocalSource
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.history.git import Git
from app.workspaces.history.looking import look_at
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.asked_parts import asked_in
from app.workspaces.sources.copying import copy_working_tree
from app.workspaces.sources.importing import import_source
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.sources.lfs import fetch_objects
from app.workspaces.sources.merging import merging_into_remote
from app.workspaces.sources.submodules import resolve_url
from tests.git_http import TOKEN, GitServer, run_git, serving_git
from tests.git_lfs import pointer
from tests.unit.workspaces.conftest import UserRepository

pytestmark = pytest.mark.anyio

MODEL = b"a large file\n" * 1_000


@pytest.fixture
def server(tmp_path: Path, user: UserRepository) -> Iterator[GitServer]:
    """`acme/app` has the submodule `lib`, that has `deep`, and `model.bin` in LFS."""
    with serving_git(tmp_path / "served") as running:
        for name, inside in (("deep", None), ("lib", "deep")):
            made = UserRepository(tmp_path / name)
            made.git("init", "-q", "-b", "main")
            (made.path / f"{name}.py").write_text(f"NAME = {name!r}\n")
            os.symlink("/etc/passwd", made.path / "out")
            if inside is not None:
                add_submodule(made, tmp_path / inside, inside)
            made.commit()
            running.create(f"acme/{name}", made.path)
        add_submodule(user, tmp_path / "lib", "lib")
        (user.path / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
        (user.path / "model.bin").write_text(pointer(MODEL))
        (user.path / "phaserunner.toml").write_text("[source]\nsubmodules = true\nlfs = true\n")
        user.git("-c", "filter.lfs.clean=", "-c", "filter.lfs.required=false", "add", "-A")
        user.commit("names others")
        running.create("acme/app", user.path)
        running.lfs.add(MODEL)
        yield running


def add_submodule(above: UserRepository, content: Path, name: str) -> None:
    above.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(content), name)
    above.git("config", "-f", ".gitmodules", f"submodule.{name}.url", f"../{name}.git")
    above.git("add", ".gitmodules")


def policy(server: GitServer, *urls: str) -> SourcePolicy:
    rule = CredentialRule(place=SecretPlace(variable="TOKEN"), urls=urls or (f"{server.url}/acme/",))
    return SourcePolicy(allow_private_urls=True, credentials=Credentials({"acme": rule}, {"TOKEN": TOKEN}))


def app_of(server: GitServer) -> GitSource:
    return GitSource(url=f"{server.url}/acme/app.git", ref="main", credential="acme")


def files_in(tree: Path) -> dict[str, bytes]:
    return {str(each.relative_to(tree)): each.read_bytes() for each in tree.rglob("*") if each.is_file()}


async def begun(server: GitServer, repository: RunRepository, tree: Path, urls: tuple[str, ...] = ()) -> str:
    base = await import_source(app_of(server), repository, policy(server, *urls))
    await repository.checkout(base, tree)
    return base


async def test_who_works_has_the_files_and_the_commit_names_what_it_named(
    server: GitServer, run_repository: RunRepository, user: UserRepository, git: Git, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    base = await begun(server, run_repository, tree)
    assert base == user.git("rev-parse", "HEAD"), "results attach to the history of the source"
    found = files_in(tree)
    assert found["model.bin"] == MODEL
    assert (found["lib/lib.py"], found["lib/deep/deep.py"]) == (b"NAME = 'lib'\n", b"NAME = 'deep'\n")
    assert "out" not in {each.name for each in (tree / "lib").iterdir()}, "links that lead out are not made"
    (tree / "app.py").write_text("x = 2\n")
    seen = await look_at(git, run_repository.path, tree, base, WorkspaceLimits())
    assert [each.path for each in seen.files] == ["app.py"]
    made = await run_repository.commit_tree(tree, base, "work")
    assert (made.changed_files, made.dropped) == (("app.py",), ())
    for name in ("lib", "model.bin"):
        before, after = (run_git(run_repository.path, "ls-tree", each, name) for each in (base, made.commit))
        assert before == after
    # The next attempt begins with the same files.
    await run_repository.checkout(made.commit, tmp_path / "next")
    assert files_in(tmp_path / "next") == {**found, "app.py": b"x = 2\n"}


async def test_another_worker_has_them_from_the_bundle_alone(
    server: GitServer, run_repository: RunRepository, git: Git, tmp_path: Path
) -> None:
    base = await begun(server, run_repository, tmp_path / "tree")
    bundle = await run_repository.bundle(base)
    asked = len(server.asked)
    other = RunRepository(git, tmp_path / "other" / "repo.git")
    assert await other.restore(bundle) == base
    await other.checkout_base(base, tmp_path / "there")
    assert files_in(tmp_path / "there") == files_in(tmp_path / "tree")
    assert len(server.asked) == asked


async def test_what_is_changed_in_them_is_reported_and_left_out(
    server: GitServer, run_repository: RunRepository, git: Git, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    base = await begun(server, run_repository, tree)
    (tree / "model.bin").write_bytes(b"smaller\n")
    (tree / "lib" / "new.py").write_text("")
    assert (await look_at(git, run_repository.path, tree, base, WorkspaceLimits())).files == ()
    made = await run_repository.commit_tree(tree, base, "work")
    assert made.changed_files == ()
    assert [(each.path, each.reason) for each in made.dropped] == [
        ("lib", "submodule"),
        ("model.bin", "kept_in_lfs"),
    ]
    (tree / "model.bin").unlink()
    assert (await run_repository.commit_tree(tree, base, "work")).changed_files == ("model.bin",)


async def test_without_the_projects_wish_nothing_is_fetched(
    server: GitServer, run_repository: RunRepository, user: UserRepository, tmp_path: Path
) -> None:
    (user.path / "phaserunner.toml").write_text("[source]\nsubmodules = false\n")
    user.commit("ask for nothing")
    user.git("push", "-q", str(server.root / "acme/app.git"), "main")
    await begun(server, run_repository, tmp_path / "tree")
    found = files_in(tmp_path / "tree")
    assert found["model.bin"].decode() == pointer(MODEL)
    assert "lib/lib.py" not in found
    assert not any("/lib.git" in path or "lfs" in path for path, _ in server.asked)


async def test_a_credential_goes_to_a_submodule_only_if_it_is_for_it(
    server: GitServer, run_repository: RunRepository, tmp_path: Path
) -> None:
    with pytest.raises(WorkspaceError, match=r"the submodule lib cannot be fetched: .*lib\.git") as refused:
        await begun(server, run_repository, tmp_path / "tree", (f"{server.url}/acme/app",))
    assert refused.value.field == "source.url"
    assert ("/acme/lib.git/info/refs?service=git-upload-pack", 401) in server.asked


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ext::sh -c touch% /tmp/x", "the submodule lib cannot be fetched: a repository is fetched from"),
        ("file:///etc", "the submodule lib cannot be fetched: a repository is fetched from"),
        ("../../../../x", "leads out of the server"),
    ],
)
async def test_urls_of_submodules_are_held_to_the_rules_of_sources(
    url: str,
    said: str,
    server: GitServer,
    run_repository: RunRepository,
    user: UserRepository,
    tmp_path: Path,
) -> None:
    user.git("config", "-f", ".gitmodules", "submodule.lib.url", url)
    user.commit("elsewhere")
    user.git("push", "-q", str(server.root / "acme/app.git"), "main")
    with pytest.raises(InvalidInputError, match=said):
        await begun(server, run_repository, tmp_path / "tree")


def missing(server: GitServer, oid: str) -> None:
    del server.lfs.objects[oid]


def damaged(server: GitServer, oid: str) -> None:
    server.lfs.objects[oid] = MODEL[:-1] + b"x"


def longer(server: GitServer, oid: str) -> None:
    server.lfs.objects[oid] = MODEL + MODEL


def elsewhere(server: GitServer, oid: str) -> None:
    server.lfs.hrefs[oid] = "http://metadata.example/latest"


def impossible(server: GitServer, oid: str) -> None:
    server.lfs.hrefs[oid] = "https://127.0.0.1/\x01"


def unspeakable(server: GitServer, oid: str) -> None:
    server.lfs.headers["X-Name"] = "\u00e9"


def talkative(server: GitServer, oid: str) -> None:
    server.lfs.padding = 4_000_000


def compressed(server: GitServer, oid: str) -> None:
    server.lfs.padding, server.lfs.is_compressed = 50_000_000, True


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        pytest.param(missing, "LFS has no object .*: Object does not exist", id="missing"),
        pytest.param(damaged, "is not what its pointer says", id="damaged"),
        pytest.param(longer, "is not what its pointer says", id="longer"),
        pytest.param(elsewhere, "a repository is fetched from https", id="clear text"),
        pytest.param(impossible, "LFS of .* cannot be reached: InvalidURL", id="no URL"),
        pytest.param(unspeakable, "LFS of .* cannot be reached: UnicodeEncodeError", id="no header"),
        pytest.param(talkative, "LFS gave an answer of more than 4,000,000 bytes", id="long answer"),
        pytest.param(compressed, "LFS gave an answer that cannot be read", id="compressed answer"),
    ],
)
async def test_what_lfs_cannot_give_is_said(
    fault: Any, said: str, server: GitServer, run_repository: RunRepository, tmp_path: Path
) -> None:
    fault(server, server.lfs.add(MODEL))
    with pytest.raises((WorkspaceError, InvalidInputError), match=said):
        await begun(server, run_repository, tmp_path / "tree")


async def test_a_local_repository_gives_what_it_has(
    server: GitServer, run_repository: RunRepository, user: UserRepository, tmp_path: Path
) -> None:
    source = LocalSource(path=str(user.path))
    kept, oid = user.path / ".git", server.lfs.add(MODEL)
    with pytest.raises(WorkspaceError, match=r"lib/deep .* run `git submodule update --init --recursive`"):
        await import_source(source, run_repository, SourcePolicy())
    (kept / "modules/lib/modules").mkdir()
    run_git(tmp_path, "clone", "-q", "--bare", str(tmp_path / "deep"), str(kept / "modules/lib/modules/deep"))
    with pytest.raises(WorkspaceError, match="run `git lfs pull`") as refused:
        await import_source(source, run_repository, SourcePolicy())
    assert refused.value.field == "source.path"
    (kept / "lfs/objects" / oid[:2] / oid[2:4]).mkdir(parents=True)
    (kept / "lfs/objects" / oid[:2] / oid[2:4] / oid).write_bytes(MODEL)
    base = await import_source(source, run_repository, SourcePolicy())
    await run_repository.checkout(base, tmp_path / "tree")
    found = files_in(tmp_path / "tree")
    assert (found["model.bin"], found["lib/deep/deep.py"]) == (MODEL, b"NAME = 'deep'\n")
    assert server.asked == []


def in_a_linked_tree(user: UserRepository) -> Path:
    """A clone whose only submodule is in a linked working tree."""
    place = user.path.with_name("linked")
    user.git(
        "-c", "filter.lfs.required=false", "clone", "-q", "-n", str(user.path), str(place.with_name("c"))
    )
    clone = UserRepository(place.with_name("c"))
    clone.git("worktree", "add", "-q", str(place))
    linked = UserRepository(place)
    linked.git("-c", f"submodule.lib.url={user.path / 'lib'}", "submodule", "init", "-q")
    linked.git("config", "submodule.lib.url", str(user.path / "lib"))
    linked.git("-c", "protocol.file.allow=always", "submodule", "update", "-q")
    return place


def from_a_clone(user: UserRepository) -> Path:
    """A repository whose submodule keeps its own git directory."""
    (user.path / "lib" / ".git").unlink()
    (user.path / ".git" / "modules" / "lib").rename(user.path / "lib" / ".git")
    run_git(user.path / "lib", "config", "--unset", "core.worktree")
    return user.path


@pytest.mark.parametrize("made", [in_a_linked_tree, from_a_clone])
async def test_a_submodule_is_found_wherever_git_keeps_it(
    server: GitServer,
    run_repository: RunRepository,
    user: UserRepository,
    tmp_path: Path,
    made: Callable[[UserRepository], Path],
) -> None:
    (user.path / "phaserunner.toml").write_text("[source]\nsubmodules = true\n")
    inside = UserRepository(user.path / "lib")
    inside.git("rm", "-q", "-r", "deep", ".gitmodules")
    inside.commit()
    user.git("-c", "filter.lfs.clean=", "-c", "filter.lfs.required=false", "add", "-A")
    user.commit("asks for submodules")
    base = await import_source(LocalSource(path=str(made(user))), run_repository, SourcePolicy())
    await run_repository.checkout(base, tmp_path / "tree")
    assert (tmp_path / "tree" / "lib" / "lib.py").read_text() == "NAME = 'lib'\n"


async def test_a_partial_clone_without_the_files_names_the_step(
    run_repository: RunRepository, user: UserRepository, tmp_path: Path
) -> None:
    user.git("config", "uploadpack.allowFilter", "true")
    url = f"file://{user.path}"
    user.git("clone", "-q", "--filter=blob:none", "--sparse", url, str(tmp_path / "part"))
    source = LocalSource(path=str(tmp_path / "part"))
    with pytest.raises(WorkspaceError, match="git fetch --refetch --no-filter"):
        await import_source(source, run_repository, SourcePolicy())
    UserRepository(tmp_path / "part").git("fetch", "-q", "--refetch", "--no-filter")
    base = await import_source(source, run_repository, SourcePolicy())
    await run_repository.checkout(base, tmp_path / "tree")
    assert (tmp_path / "tree" / "pkg" / "mod.py").exists()


async def test_a_working_tree_is_copied_with_them_if_asked(
    server: GitServer, user: UserRepository, git: Git, tmp_path: Path
) -> None:
    assert asked_in(user.path).submodules
    assert not asked_in(tmp_path).submodules
    (user.path / "lib" / "local.py").write_text("not committed yet\n")
    other = UserRepository(user.path / "other")
    other.git("init", "-q")
    (other.path / "foreign.py").write_text("")
    await copy_working_tree(user.path, tmp_path / "with", git, WorkspaceLimits(), submodules=True)
    await copy_working_tree(user.path, tmp_path / "without", git, WorkspaceLimits())
    added = files_in(tmp_path / "with").keys() - files_in(tmp_path / "without").keys()
    assert added == {"lib/lib.py", "lib/local.py", "lib/.gitmodules"}
    assert server.asked == []


async def test_a_merge_is_judged_with_what_the_target_names(
    server: GitServer, run_repository: RunRepository, user: UserRepository, tmp_path: Path
) -> None:
    base = await begun(server, run_repository, tmp_path / "tree")
    (tmp_path / "tree" / "app.py").write_text("x = 2\n")
    head = (await run_repository.commit_tree(tmp_path / "tree", base, "work")).commit
    newer = MODEL + b"and more\n"
    server.lfs.add(newer)
    (user.path / "model.bin").write_text(pointer(newer))
    user.commit("another model")
    user.git("push", "-q", str(server.root / "acme/app.git"), "main")
    merging = merging_into_remote(app_of(server), None, policy(server), run_repository, base, head)
    async with merging as merge:
        assert merge.outcome.state == "clean"
        onto, candidate = await merge.check_out(tmp_path / "merged")
        found = files_in(candidate)
        assert files_in(onto) == {**found, "app.py": b"x = 1\n"}
    assert (found["app.py"], found["model.bin"]) == (b"x = 2\n", newer)
    assert found["lib/lib.py"] == b"NAME = 'lib'\n"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://127.0.0.1/acme/app", "is not a public address"),
        ("https://169.254.169.254/acme/app", "is not a public address"),
        ("ssh://git@127.0.0.1/acme/app", "is not a public address"),
        ("git@169.254.169.254:acme/app", "is not a public address"),
        ("file:///acme/app", "fetched over https and ssh only"),
    ],
)
async def test_lfs_is_held_to_the_rules_of_sources(
    url: str, said: str, run_repository: RunRepository, tmp_path: Path
) -> None:
    source = GitSource(url=url)
    with pytest.raises(InvalidInputError, match=said):
        await fetch_objects(run_repository, {"0" * 64: 1}, source, SourcePolicy(), tmp_path)


@pytest.mark.parametrize(
    ("url", "source", "resolved"),
    [
        ("../lib.git", "https://host/acme/app.git", "https://host/acme/lib.git"),
        ("../../other/lib", "https://host:8443/acme/app/", "https://host:8443/other/lib"),
        ("./sub", "https://host/acme/app", "https://host/acme/app/sub"),
        ("../lib", "git@host:acme/app.git", "git@host:acme/lib"),
        ("../lib", "git@host:/srv/app.git", "git@host:/srv/lib"),
        ("../lib", "ssh://git@host/acme/app", "ssh://git@host/acme/lib"),
        ("https://other/lib", "https://host/acme/app", "https://other/lib"),
    ],
)
def test_relative_urls(url: str, source: str, resolved: str) -> None:
    assert resolve_url(url, source) == resolved
