"""Files in LFS of a source over ssh: OpenSSH's own server names their place, as a forge's server does."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.core.credentials import CredentialRule, Credentials, SecretPlace
from app.core.errors import InvalidInputError, WorkspaceError
from app.schemas.workspaces import GitSource
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.importing import import_source
from app.workspaces.sources.inspection import SourcePolicy
from tests.git_http import TOKEN, GitServer, serving_git
from tests.git_lfs import BATCH, pointer
from tests.git_ssh import SSHD, SshServer, serving_ssh
from tests.unit.workspaces.conftest import UserRepository

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(SSHD is None, reason="sshd is not installed (Debian: openssh-server)"),
]

MODEL = b"a large file\n" * 1_000
LETS_IN = {"Authorization": f"Basic {base64.b64encode(f'git:{TOKEN}'.encode()).decode()}"}


@dataclass(frozen=True)
class Servers:
    """A repository over ssh, whose large file lies on a server of LFS."""

    ssh: SshServer
    lfs: GitServer

    @property
    def place(self) -> str:
        """The base URL of the server of LFS."""
        return f"{self.lfs.url}/acme/app.git/info/lfs"

    def source(self, path: str = "/acme/app.git") -> GitSource:
        """Return the source; its credential is a key."""
        return GitSource(url=f"{self.ssh.beginning}{path}", ref="main", credential="deploy")

    def policy(self) -> SourcePolicy:
        """Let the key be used for it."""
        rule = CredentialRule(
            place=SecretPlace(variable="KEY"),
            urls=(f"{self.ssh.beginning}/acme/",),
            known_hosts=self.ssh.known_hosts,
        )
        known = Credentials({"deploy": rule}, {"KEY": self.ssh.key})
        return SourcePolicy(allow_private_urls=True, credentials=known)


@pytest.fixture
def servers(tmp_path: Path, user: UserRepository) -> Iterator[Servers]:
    (user.path / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    (user.path / "model.bin").write_text(pointer(MODEL))
    (user.path / "phaserunner.toml").write_text("[source]\nlfs = true\n")
    user.git("-c", "filter.lfs.clean=", "-c", "filter.lfs.required=false", "add", "-A")
    user.commit("has a large file")
    with serving_git(tmp_path / "served") as lfs, serving_ssh(tmp_path / "ssh") as ssh:
        ssh.create("acme/app", user.path)
        lfs.lfs.add(MODEL)
        yield Servers(ssh, lfs)


async def test_the_ssh_server_names_the_place_and_lets_in(
    servers: Servers, run_repository: RunRepository, tmp_path: Path
) -> None:
    asked = servers.ssh.answer_about_lfs(
        json.dumps({"href": servers.place, "header": LETS_IN, "expires_in": 600})
    )
    base = await import_source(servers.source(), run_repository, servers.policy())
    tree = tmp_path / "tree"
    await run_repository.checkout(base, tree)
    assert (tree / "model.bin").read_bytes() == MODEL
    assert asked.read_text().splitlines() == [f"{servers.ssh.place}/served/acme/app.git", "download"]
    assert [path for path, status in servers.lfs.asked if path.endswith(BATCH) and status == 200]
    key = servers.ssh.key.splitlines()[1].encode()
    kept = b"".join(each.read_bytes() for each in run_repository.path.rglob("*") if each.is_file())
    assert key not in kept
    assert LETS_IN["Authorization"].encode() not in kept


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        pytest.param("", 1, "names no place for files in LFS: .*give the source as https", id="refused"),
        pytest.param("Welcome!", 0, "is no JSON with href and header", id="a greeting"),
        pytest.param("[]", 0, "is no JSON with href and header", id="a list"),
        pytest.param('{"header": {"a": 1}}', 0, "is no JSON with href and header", id="numbers"),
        pytest.param("x" * 100_000, 0, "names no place for files in LFS", id="too long"),
    ],
)
async def test_an_answer_that_helps_nothing_is_said(
    servers: Servers, run_repository: RunRepository, answer: str, status: int, said: str
) -> None:
    servers.ssh.answer_about_lfs(answer, status)
    with pytest.raises(WorkspaceError, match=said) as refused:
        await import_source(servers.source(), run_repository, servers.policy())
    assert refused.value.field == "source.url"


async def test_a_server_without_lfs_is_said(servers: Servers, run_repository: RunRepository) -> None:
    with pytest.raises(WorkspaceError, match=r"git-lfs-authenticate.*or leave out `lfs`"):
        await import_source(servers.source(), run_repository, servers.policy())


async def test_a_place_that_does_not_let_in_is_said(servers: Servers, run_repository: RunRepository) -> None:
    servers.ssh.answer_about_lfs(json.dumps({"href": servers.place, "header": {}}))
    with pytest.raises(WorkspaceError, match="LFS answered 401"):
        await import_source(servers.source(), run_repository, servers.policy())


@pytest.mark.parametrize(
    "place", ["file:///etc", "ftp://127.0.0.1/lfs", "ssh://127.0.0.1/lfs", "ext::sh -c true"]
)
async def test_a_place_is_held_to_the_rules_of_sources(
    servers: Servers, run_repository: RunRepository, place: str
) -> None:
    servers.ssh.answer_about_lfs(json.dumps({"href": place, "header": LETS_IN}))
    with pytest.raises(InvalidInputError):
        await import_source(servers.source(), run_repository, servers.policy())


async def test_no_path_is_a_command(
    servers: Servers, run_repository: RunRepository, user: UserRepository
) -> None:
    name = "acme/a;touch$x"
    servers.ssh.create(name, user.path)
    asked = servers.ssh.answer_about_lfs(json.dumps({"href": servers.place, "header": LETS_IN}))
    await import_source(servers.source(f"/{name}.git"), run_repository, servers.policy())
    assert asked.read_text().splitlines()[0].endswith("/acme/a;touch$x.git")
