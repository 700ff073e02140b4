"""Where a remote repository is fetched from, and what other users of the machine see of it."""

import subprocess
from pathlib import Path

import pytest

from app.core.credentials import CredentialRule, Credentials, SecretPlace
from app.core.errors import InvalidInputError, WorkspaceError
from app.schemas.workspaces import GitSource
from app.workspaces.history.git import Git
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.sources.remote import Remote, prepare_fetch

pytestmark = pytest.mark.anyio


async def prepared(url: str, *, allow_private: bool = False, **transport: str) -> Remote:
    policy = SourcePolicy(allow_private_urls=allow_private)
    return await prepare_fetch(GitSource(url=url), transport, policy)


def settings_of(remote: Remote) -> dict[str, str]:
    count = int(remote.env["GIT_CONFIG_COUNT"])
    return {remote.env[f"GIT_CONFIG_KEY_{n}"]: remote.env[f"GIT_CONFIG_VALUE_{n}"] for n in range(count)}


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/a",
        "https://127.1:8443/a",
        "https://[::1]/a",
        "https://10.0.0.7/a",
        "https://169.254.169.254/latest",
        "https://localhost:5432/a",
        "https://user:secret@192.168.1.1/a",
        "ssh://git@10.1.1.1:22/a",
        "git@127.0.0.1:a.git",
    ],
)
async def test_private_addresses_are_refused_before_anything_is_connected(url: str) -> None:
    with pytest.raises(InvalidInputError, match="is not a public address") as refused:
        await prepared(url)
    assert "secret" not in str(refused.value)
    await prepared(url, allow_private=True)


async def test_a_key_for_ssh_changes_nothing_about_private_addresses(tmp_path: Path) -> None:
    rule = CredentialRule(
        place=SecretPlace(variable="KEY"), urls=("ssh://git@10.1.1.1/",), known_hosts=tmp_path / "known"
    )
    policy = SourcePolicy(credentials=Credentials({"deploy": rule}, {"KEY": "a key"}))
    source = GitSource(url="ssh://git@10.1.1.1/a", credential="deploy")
    with pytest.raises(InvalidInputError, match="is not a public address"):
        await prepare_fetch(source, {}, policy)


async def test_a_name_without_an_address_is_said() -> None:
    with pytest.raises(WorkspaceError, match="cannot be looked up"):
        await prepared("https://nowhere.invalid/a")


@pytest.mark.parametrize(
    "url",
    [
        "https://a..b/x",
        "https://.a.example/x",
        f"https://{'a' * 64}.example/x",
        "ssh://git@a..b/x",
        "git@a..b:x",
    ],
)
async def test_a_name_that_no_host_can_have_is_said(url: str) -> None:
    for transport in ({}, {"HTTPS_PROXY": "http://proxy.example:3128"}):
        with pytest.raises(InvalidInputError, match="is not a valid host name") as refused:
            await prepared(url, **transport)
        assert refused.value.field == "source.url"


async def test_a_proxy_may_know_names_that_this_machine_does_not() -> None:
    remote = await prepared("https://nowhere.invalid/a", HTTPS_PROXY="http://proxy.example:3128")
    assert remote.env["HTTPS_PROXY"] == "http://proxy.example:3128"
    assert settings_of(remote)["http.followRedirects"] == "false"


async def test_git_connects_to_the_address_that_was_checked() -> None:
    remote = await prepared("https://93.184.216.34:8443/a")
    assert settings_of(remote)["http.curloptResolve"] == "93.184.216.34:8443:93.184.216.34"
    by_ssh = await prepared("ssh://git@93.184.216.34/a")
    assert "-oHostName=93.184.216.34 -oHostKeyAlias=93.184.216.34" in by_ssh.env["GIT_SSH_COMMAND"]
    # With another port, files of known hosts have the name in this form.
    other = await prepared("ssh://git@93.184.216.34:2222/a")
    assert "-oHostKeyAlias='[93.184.216.34]:2222'" in other.env["GIT_SSH_COMMAND"]


async def test_a_password_reaches_git_and_no_command_line() -> None:
    remote = await prepared("https://ada:p%20w'%22d@git.example/a.git", allow_private=True)
    assert remote.url == "https://git.example/a.git"
    git = Git.find()
    done = subprocess.run(  # noqa: ASYNC221 - a moment
        [git.executable, "credential", "fill"],
        input="protocol=https\nhost=git.example\n\n",
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", **remote.env},
    )
    assert "username=ada\n" in done.stdout
    assert "password=p w'\"d\n" in done.stdout
