"""Private repositories over real git and HTTP: fetched and pushed to with a credential by reference."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.credentials import CredentialRule, Credentials, SecretPlace
from app.core.errors import ConflictError, InvalidInputError, UnavailableError, WorkspaceError
from app.schemas.workspaces import GitSource
from app.workspaces.history.git import Git
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.importing import import_source
from app.workspaces.sources.inspection import SourcePolicy, inspect_source
from app.workspaces.sources.merging import merging_into_remote
from app.workspaces.sources.pushing import Push, push_branch
from tests.git_http import TOKEN, GitServer, run_git, serving_git
from tests.unit.workspaces.conftest import UserRepository

pytestmark = pytest.mark.anyio

BRANCH = "phaserunner/1234"


@pytest.fixture
def server(tmp_path: Path, user: UserRepository) -> Iterator[GitServer]:
    with serving_git(tmp_path / "served") as running:
        running.create("acme/widgets", user.path)
        yield running


def policy_for(*urls: str, secret: str = TOKEN) -> SourcePolicy:
    rule = CredentialRule(place=SecretPlace(variable="ACME_TOKEN"), urls=urls)
    return SourcePolicy(
        allow_private_urls=True, credentials=Credentials({"acme": rule}, {"ACME_TOKEN": secret})
    )


def source_of(server: GitServer, credential: str | None = "acme") -> GitSource:
    return GitSource(url=f"{server.url}/acme/widgets.git", ref="main", credential=credential)


async def result_of(run: RunRepository, base: str, tree: Path, content: str) -> str:
    await run.checkout(base, tree)
    (tree / "app.py").write_text(content)
    return (await run.commit_tree(tree, base, "work")).commit


async def test_a_named_credential_opens_a_private_repository_and_leaves_no_trace(
    server: GitServer, user: UserRepository, run_repository: RunRepository
) -> None:
    policy = policy_for(f"{server.url}/acme/")
    base = await import_source(source_of(server), run_repository, policy)
    assert base == user.git("rev-parse", "HEAD")
    assert set(server.logins) == {f"x-access-token:{TOKEN}"}
    kept = b"".join(each.read_bytes() for each in run_repository.path.rglob("*") if each.is_file())
    assert TOKEN.encode() not in kept


async def test_the_secret_is_on_no_command_line(
    server: GitServer, run_repository: RunRepository, git: Git, tmp_path: Path
) -> None:
    said = tmp_path / "said"
    wrapper = tmp_path / "git"
    wrapper.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {said}\nexec {git.executable} "$@"\n')
    wrapper.chmod(0o755)
    watched = RunRepository(Git(str(wrapper)), run_repository.path)
    await import_source(source_of(server), watched, policy_for(f"{server.url}/"))
    assert "fetch" in said.read_text()
    assert TOKEN not in said.read_text()


async def test_without_or_with_a_wrong_secret_the_repository_stays_closed(
    server: GitServer, run_repository: RunRepository
) -> None:
    with pytest.raises(WorkspaceError, match="cannot be fetched"):
        await import_source(source_of(server, None), run_repository, policy_for(server.url))
    with pytest.raises(WorkspaceError, match="Authentication failed") as failed:
        await import_source(source_of(server), run_repository, policy_for(server.url, secret="wrong"))
    assert "wrong" not in str(failed.value)


@pytest.mark.parametrize(
    "allowed",
    [
        "https://127.0.0.1/acme/",  # another scheme and port
        "{url}/acm",  # half of a name
        "{url}/acme/other",
    ],
)
async def test_a_credential_goes_only_where_its_operator_says(
    allowed: str, server: GitServer, run_repository: RunRepository, git: Git
) -> None:
    policy = policy_for(allowed.format(url=server.url))
    for act in (
        inspect_source(source_of(server), policy, git),
        import_source(source_of(server), run_repository, policy),
    ):
        with pytest.raises(InvalidInputError, match="is not for this URL") as refused:
            await act
        assert refused.value.field == "source.credential"
    assert server.logins == []


@pytest.mark.parametrize("path", ["acme/../other/widgets", "acme/%2e%2e/other", "acme/widgets?x=1"])
async def test_a_path_that_climbs_gets_no_credential(path: str, server: GitServer, git: Git) -> None:
    source = GitSource(url=f"{server.url}/{path}", credential="acme")
    with pytest.raises(InvalidInputError, match="is not for this URL"):
        await inspect_source(source, policy_for(f"{server.url}/acme/"), git)


async def test_unknown_and_empty_credentials_say_what_is_missing(server: GitServer, git: Git) -> None:
    with pytest.raises(InvalidInputError, match="no credential 'acme'"):
        await inspect_source(source_of(server), SourcePolicy(allow_private_urls=True), git)
    with pytest.raises(UnavailableError, match="ACME_TOKEN is empty or not set"):
        await inspect_source(source_of(server), policy_for(server.url, secret=" "), git)


async def test_a_redirect_takes_the_secret_nowhere(
    server: GitServer, run_repository: RunRepository, tmp_path: Path
) -> None:
    with serving_git(tmp_path / "elsewhere") as elsewhere:
        server.redirects["/acme/moved.git"] = f"{elsewhere.url}/acme/widgets.git"
        source = GitSource(url=f"{server.url}/acme/moved.git", credential="acme")
        with pytest.raises(WorkspaceError):
            await import_source(source, run_repository, policy_for(server.url))
        assert elsewhere.asked == []


async def test_a_result_becomes_a_branch_that_can_be_pushed_again(
    server: GitServer, run_repository: RunRepository, tmp_path: Path
) -> None:
    policy, source = policy_for(server.url), source_of(server)
    base = await import_source(source, run_repository, policy)
    first = await result_of(run_repository, base, tmp_path / "one", "x = 2\n")
    assert await push_branch(Push(source, BRANCH, first), run_repository, policy) == first
    assert await push_branch(Push(source, BRANCH, first), run_repository, policy) == first
    bare = server.root / "acme/widgets.git"
    assert run_git(bare, "log", "--format=%H", BRANCH).splitlines()[:2] == [first, base]
    second = await result_of(run_repository, base, tmp_path / "two", "x = 3\n")
    replacing = Push(source, BRANCH, second, replaces=frozenset({first}))
    assert await push_branch(replacing, run_repository, policy) == second
    assert run_git(bare, "rev-parse", BRANCH) == second
    async with merging_into_remote(source, None, policy, run_repository, base, second) as merge:
        checked = merge.outcome
    assert checked.state == "clean"


async def test_commits_of_others_are_never_overwritten(
    server: GitServer, run_repository: RunRepository, tmp_path: Path
) -> None:
    policy, source = policy_for(server.url), source_of(server)
    base = await import_source(source, run_repository, policy)
    ours = await result_of(run_repository, base, tmp_path / "one", "x = 2\n")
    bare = server.root / "acme/widgets.git"
    # Even a branch that points to the base, so that a push would be a fast-forward, is somebody's.
    run_git(bare, "branch", BRANCH, base)
    with pytest.raises(ConflictError, match="which this run did not push"):
        await push_branch(Push(source, BRANCH, ours), run_repository, policy)
    assert run_git(bare, "rev-parse", BRANCH) == base


async def test_a_repository_that_refuses_pushes_says_why(
    server: GitServer, run_repository: RunRepository, tmp_path: Path
) -> None:
    policy, source = policy_for(server.url), source_of(server)
    base = await import_source(source, run_repository, policy)
    ours = await result_of(run_repository, base, tmp_path / "one", "x = 2\n")
    hook = server.root / "acme/widgets.git" / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'GH006: protected branch update failed' >&2\nexit 1\n")
    os.chmod(hook, 0o755)
    with pytest.raises(ConflictError, match="is protected; choose another"):
        await push_branch(Push(source, BRANCH, ours), run_repository, policy)
