"""Private repositories over real git and ssh: fetched and pushed to with a key by reference."""

import os
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from app.core.credentials import CredentialRule, Credentials, SecretPlace
from app.core.errors import InvalidInputError, WorkspaceError
from app.schemas.workspaces import GitSource
from app.workspaces.history.git import Git
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.importing import import_source
from app.workspaces.sources.inspection import SourcePolicy, inspect_source
from app.workspaces.sources.pushing import Push, push_branch
from tests.git_http import run_git
from tests.git_ssh import SSHD, SshServer, make_key, serving_ssh
from tests.unit.workspaces.conftest import UserRepository

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(SSHD is None, reason="sshd is not installed (Debian: openssh-server)"),
]


@pytest.fixture
def server(tmp_path: Path, user: UserRepository) -> Iterator[SshServer]:
    with serving_ssh(tmp_path / "ssh") as running:
        running.create("acme/widgets", user.path)
        yield running


def policy_for(server: SshServer, key: str, *urls: str, known_hosts: Path | None = None) -> SourcePolicy:
    rule = CredentialRule(
        place=SecretPlace(variable="DEPLOY_KEY"),
        urls=urls or (f"{server.beginning}/acme/",),
        known_hosts=known_hosts or server.known_hosts,
    )
    return SourcePolicy(
        allow_private_urls=True, credentials=Credentials({"deploy": rule}, {"DEPLOY_KEY": key})
    )


def source_of(server: SshServer, credential: str | None = "deploy") -> GitSource:
    return GitSource(url=f"{server.beginning}/acme/widgets.git", ref="main", credential=credential)


async def test_a_key_opens_a_private_repository_and_leaves_no_trace(
    server: SshServer, user: UserRepository, run_repository: RunRepository, git: Git, tmp_path: Path
) -> None:
    said, key_line = tmp_path / "said", server.key.splitlines()[1]
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("git", "ssh", "ssh-agent", "ssh-add"):
        # Writes down its arguments, and for ssh also the environment that it passes on.
        wrapper = programs / name
        own = (
            f'env >> {said}; export PATH="{programs}:$PATH"' if name == "ssh" else f'PATH="{programs}:$PATH"'
        )
        real = git.executable if name == "git" else f"/usr/bin/{name}"
        wrapper.write_text(f'#!/bin/sh\n{own}\nprintf "{name} %s\\n" "$@" >> {said}\nexec {real} "$@"\n')
        wrapper.chmod(0o755)
    watched = RunRepository(Git(str(programs / "git")), run_repository.path)
    base = await import_source(source_of(server), watched, policy_for(server, server.key))
    assert base == user.git("rev-parse", "HEAD")
    assert "Accepted publickey" in server.log
    words = said.read_text()
    assert all(f"{name} " in words for name in ("git", "ssh", "ssh-agent", "ssh-add"))
    assert key_line not in words
    assert await ends(int(words.partition("SSH_AGENT_PID=")[2].split()[0]))
    kept = b"".join(each.read_bytes() for each in run_repository.path.rglob("*") if each.is_file())
    assert key_line.encode() not in kept


async def test_a_result_is_pushed_with_it(
    server: SshServer, run_repository: RunRepository, tmp_path: Path
) -> None:
    policy, source = policy_for(server, server.key), source_of(server)
    base = await import_source(source, run_repository, policy)
    await run_repository.checkout(base, tmp_path / "tree")
    (tmp_path / "tree" / "app.py").write_text("x = 2\n")
    made = (await run_repository.commit_tree(tmp_path / "tree", base, "work")).commit
    assert await push_branch(Push(source, "phaserunner/1", made), run_repository, policy) == made
    assert run_git(server.place / "served/acme/widgets.git", "rev-parse", "phaserunner/1") == made


async def test_no_other_key_of_the_machine_is_tried(
    server: SshServer, run_repository: RunRepository, git: Git, tmp_path: Path
) -> None:
    home = tmp_path / "home" / ".ssh"
    home.mkdir(parents=True)
    for name in ("key", "key.pub"):
        (home / name.replace("key", "id_ed25519")).write_text((server.place / name).read_text())
    os.chmod(home / "id_ed25519", 0o600)
    make_key(tmp_path / "other")
    policy = policy_for(server, (tmp_path / "other").read_text())
    at_home = RunRepository(Git(git.executable, {"HOME": str(home.parent)}), run_repository.path)
    with pytest.raises(WorkspaceError, match="Permission denied") as refused:
        await import_source(source_of(server), at_home, policy)
    assert "PRIVATE KEY" not in str(refused.value)
    assert "Accepted" not in server.log


@pytest.mark.parametrize(
    ("known", "said"),
    [
        pytest.param("", "Host key verification failed", id="unknown server"),
        pytest.param("{where} {other}", "HOST IDENTIFICATION HAS CHANGED", id="another server"),
    ],
)
async def test_a_server_that_the_operator_does_not_know_gets_nothing(
    known: str, said: str, server: SshServer, run_repository: RunRepository, tmp_path: Path
) -> None:
    make_key(tmp_path / "impostor")
    other = " ".join((tmp_path / "impostor.pub").read_text().split()[:2])
    file = tmp_path / "known"
    file.write_text(known.format(where=f"[127.0.0.1]:{server.port}", other=other) + "\n")
    policy = policy_for(server, server.key, known_hosts=file)
    with pytest.raises(WorkspaceError, match=said):
        await import_source(source_of(server), run_repository, policy)
    assert "Accepted" not in server.log


async def test_a_secret_that_is_no_usable_key_says_so(
    server: SshServer, run_repository: RunRepository, tmp_path: Path
) -> None:
    make_key(tmp_path / "locked", passphrase="a passphrase")
    for key in ("not a key", (tmp_path / "locked").read_text()):
        with pytest.raises(WorkspaceError, match="no private key without passphrase") as refused:
            await import_source(source_of(server), run_repository, policy_for(server, key))
        assert key not in str(refused.value)


@pytest.mark.parametrize(
    "allowed",
    [
        "ssh://ada@127.0.0.1:{port}/",  # another user
        "ssh://{user}@127.0.0.1/",  # another port
        "{user}@127.0.0.1:{place}/",  # another port, in the short form
        "https://127.0.0.1:{port}/",
        "ssh://{user}@127.0.0.1:{port}{place}/served/acm",  # half of a name
    ],
)
async def test_a_key_goes_only_where_its_operator_says(allowed: str, server: SshServer, git: Git) -> None:
    urls = allowed.format(user=server.user, port=server.port, place=server.place)
    with pytest.raises(InvalidInputError, match="is not for this URL"):
        await inspect_source(source_of(server), policy_for(server, server.key, urls), git)


async def ends(pid: int) -> bool:
    for _ in range(100):
        if not await anyio.Path(f"/proc/{pid}").exists():
            return True
        await anyio.sleep(0.1)
    return False
