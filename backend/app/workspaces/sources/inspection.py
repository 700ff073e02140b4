"""Inspects a source before a run starts from it, without changing it or running anything in it."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import anyio.to_thread

from app.core.credentials import NO_CREDENTIALS, Credentials
from app.core.errors import InvalidInputError
from app.core.security import is_loopback
from app.schemas.workspaces import (
    MAX_ARCHIVE_BYTES,
    ArchiveSource,
    EmptySource,
    GitSource,
    LocalSource,
    SourceInfo,
    WorkspaceSource,
)
from app.workspaces.history.git import Git
from app.workspaces.history.refs import check_branch
from app.workspaces.sources.archive import archive_format
from app.workspaces.sources.local import Located, branch_of, locate, uncommitted_files

_SCP_LIKE = re.compile(r"\w[\w.+-]*@\w[\w.-]*:[^\s:-][^\s]*")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class SourcePolicy:
    """The sources that a service accepts.

    Attributes:
        allowed_roots: local repositories must be below one of these; empty allows any.
        allow_file_urls: accept `file://` URLs, which are then treated like local paths.
        allow_private_urls: also fetch from hosts with addresses that are not public.
        fetch_seconds: time limit for a fetch.
        credentials: the credentials that sources may name.
    """

    allowed_roots: tuple[Path, ...] = ()
    allow_file_urls: bool = False
    allow_private_urls: bool = False
    fetch_seconds: float = 600.0
    credentials: Credentials = NO_CREDENTIALS


async def inspect_source(source: WorkspaceSource, policy: SourcePolicy, git: Git) -> SourceInfo:
    """Check a source as far as that is quick: nothing is fetched, no archive is unpacked.

    Raises:
        InvalidInputError: a value cannot be used. The error names the field, such as `source.path`.
        WorkspaceError: there is no such repository, or it has no such commit.
    """
    match source:
        case EmptySource():
            return SourceInfo(kind="empty", location="a new project", pinned=source)
        case LocalSource():
            return await _inspect_local(source, policy, git)
        case GitSource():
            check_url(source.url, policy)
            check_remote_ref(source.ref)
            if source.credential is not None:
                await policy.credentials.for_url(source.credential, source.url)
            if source.url.startswith("file:"):
                await anyio.to_thread.run_sync(check_file_url, source.url, policy)
            return SourceInfo(kind="git", location=without_password(source.url), pinned=source)
        case ArchiveSource():
            data = require_archive(source)
            name = f"{archive_format(data)} archive of {len(data):,} bytes"
            return SourceInfo(kind="archive", location=name, pinned=source)


def check_url(url: str, policy: SourcePolicy) -> None:
    """Refuse a URL unless it is https, ssh, `user@host:path`, or another form that the policy allows.

    If private addresses are allowed, http to this machine is allowed, too: that traffic does not leave the
    machine.

    Raises:
        InvalidInputError: the URL is refused. The field is `source.url`.
    """
    try:
        parts = urlsplit(url)
        host, scheme = parts.hostname or "", parts.scheme
    except ValueError:  # such as an IPv6 address without its closing bracket
        host, scheme = "", ""
    named = scheme in ("https", "ssh") and re.match(r"[\w\[:]", host) is not None
    in_file = scheme == "file" and policy.allow_file_urls
    here = scheme == "http" and policy.allow_private_urls and is_loopback(host)
    if not (named or in_file or here or _SCP_LIKE.fullmatch(url)) or re.search(r"\s", url):
        raise InvalidInputError(
            "a repository is fetched from https://…, ssh://… or user@host:path", field="source.url"
        )


def check_file_url(url: str, policy: SourcePolicy) -> None:
    """Check that a `file://` URL is below the roots that are allowed for local paths.

    Raises:
        InvalidInputError: it is not. The field is `source.url`.
    """
    parts = urlsplit(url)
    path = Path(parts.path)
    if parts.netloc not in ("", "localhost") or not path.is_absolute() or "%" in parts.path:
        raise InvalidInputError("a file URL has the form file:///path", field="source.url")
    resolved = path.resolve()
    roots = [root.resolve() for root in policy.allowed_roots]
    if roots and not any(resolved.is_relative_to(root) for root in roots):
        raise InvalidInputError(f"{path} is outside the allowed directories", field="source.url")


def check_remote_ref(ref: str | None) -> None:
    """Refuse what a remote repository cannot look up: revisions such as `HEAD~1`, and options.

    Raises:
        InvalidInputError: the ref is refused. The field is `source.ref`.
    """
    if ref is not None and not _COMMIT.fullmatch(ref):
        check_branch(ref, "source.ref")


def require_archive(source: ArchiveSource) -> bytes:
    """Return the archive's bytes.

    Raises:
        InvalidInputError: the bytes have been removed, or are too many.
    """
    if source.data is None:
        raise InvalidInputError("the archive's bytes are not stored; upload it again", field="source.data")
    if len(source.data) > MAX_ARCHIVE_BYTES:
        raise InvalidInputError(
            f"the archive is larger than {MAX_ARCHIVE_BYTES:,} bytes", field="source.data"
        )
    return source.data


def without_password(url: str) -> str:
    """Return a URL without its password, so that it may be shown."""
    parts = urlsplit(url)
    if not parts.scheme or "@" not in parts.netloc:
        return url
    user, _, host = parts.netloc.rpartition("@")
    hidden = f"{user.partition(':')[0]}@{host}" if parts.scheme == "ssh" else f"***@{host}"
    return urlunsplit(parts._replace(netloc=hidden))


async def _inspect_local(source: LocalSource, policy: SourcePolicy, git: Git) -> SourceInfo:
    found = await locate(source, policy.allowed_roots, git)
    dirty_files = await uncommitted_files(found, git)
    return SourceInfo(
        kind="local",
        location=str(found.top),
        commit=found.commit,
        branch=await branch_of(found, source.ref, git),
        dirty=None if dirty_files is None else dirty_files > 0,
        dirty_files=dirty_files or 0,
        notes=_notes(source, found, dirty_files),
        pinned=source.model_copy(update={"path": str(found.top), "ref": found.commit}),
    )


def _notes(source: LocalSource, found: Located, dirty_files: int | None) -> tuple[str, ...]:
    notes: list[str] = []
    if not found.is_given_path:
        notes.append(f"{source.path} lies inside the repository {found.top}; the run works on all of it.")
    if dirty_files:
        files = "1 file has" if dirty_files == 1 else f"{dirty_files} files have"
        notes.append(f"{files} uncommitted changes; they are not part of the run and are not touched.")
    if dirty_files is None:
        notes.append(
            "Whether there are uncommitted changes could not be found out; they are not part of the run."
        )
    if found.has_submodules:
        notes.append("Submodules are left empty, unless phaserunner.toml asks for them in [source].")
    return tuple(notes)
