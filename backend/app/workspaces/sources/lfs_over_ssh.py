"""Asks an ssh server where a repository's files in LFS are: `git-lfs-authenticate`, as git-lfs does.

The server answers with an https address and headers that let in for a while. The files come from there.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from app.core.credential_urls import is_ssh
from app.core.errors import InvalidInputError, WorkspaceError
from app.schemas.workspaces import GitSource
from app.workspaces.history.git import reason
from app.workspaces.history.repository import RunRepository
from app.workspaces.process import run_for_bytes
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.sources.remote import prepare_fetch

_SECONDS = 40.0
_ANSWER_BYTES = 65_536
_ELSE = "give the source as https://…, or leave out `lfs` in phaserunner.toml"


class _Answer(BaseModel):
    href: str | None = None
    header: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class LfsPlace:
    """The base URL of an LFS server, and the headers that it wants."""

    url: str
    headers: Mapping[str, str]


async def ask_over_ssh(source: GitSource, repo: RunRepository, policy: SourcePolicy) -> LfsPlace:
    """Ask the ssh server of a source for the place of its files in LFS.

    Raises:
        InvalidInputError: the source is not fetched over ssh, or its host is not allowed.
        WorkspaceError: the server has no LFS, refuses, or gives no readable answer.
    """
    if not is_ssh(source.url):
        raise InvalidInputError(f"files in LFS are fetched over https and ssh only: {_ELSE}")
    remote = await prepare_fetch(source, repo.git.transport_env, policy)
    login, port, path = _parts_of(remote.url)
    asked = f"git-lfs-authenticate {shlex.quote(path)} download"
    outcome = await run_for_bytes(
        ["sh", "-c", f'{remote.env["GIT_SSH_COMMAND"]} "$@"', "ssh", *port, "--", login, asked],
        cwd=Path("/"),
        env={**repo.git.environment(), **remote.env},
        timeout=_SECONDS,
        output_limit=_ANSWER_BYTES,
        stdin=b"",
    )
    if outcome.returncode != 0 or outcome.timed_out or outcome.truncated:
        why = reason(outcome)[:300]
        raise WorkspaceError(f"the ssh server names no place for files in LFS: {why}; {_ELSE}")
    try:
        answer = _Answer.model_validate_json(outcome.stdout)
    except ValidationError as error:
        raise WorkspaceError(
            f"the ssh server's answer about LFS is no JSON with href and header; {_ELSE}"
        ) from error
    return LfsPlace(answer.href or _usual_place(login, path), answer.header)


def _parts_of(url: str) -> tuple[str, list[str], str]:
    """Return whom to log in as and where, the option for the port, and the path of the repository."""
    if "://" not in url:
        login, _, path = url.partition(":")
        return login, [], path
    parts = urlsplit(url)
    host = f"{parts.username}@{parts.hostname}" if parts.username else str(parts.hostname)
    return host, ["-p", str(parts.port)] if parts.port else [], parts.path


def _usual_place(login: str, path: str) -> str:
    host = login.rpartition("@")[2]
    return f"https://{host}/{path.strip('/').removesuffix('.git')}.git/info/lfs"
