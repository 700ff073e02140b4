"""Where a run's files come from, and what changed in them."""

import base64
import binascii
import hashlib
import re
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

MAX_ARCHIVE_BYTES = 64_000_000
"""The largest uploaded archive in bytes, before it is unpacked."""

CUT_HERE = "[diff cut here]\n"
"""The last line of a unified diff that is not whole."""

_URL = re.compile(r"[a-z][a-z0-9+.-]*://|[\w.-]+@[\w.-]+:", re.IGNORECASE)


def is_url(repository: str) -> bool:
    """Return True if a text names a repository by a URL or as `user@host:path`, and not by a directory."""
    return _URL.match(repository) is not None


def _one_line(value: str) -> str:
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise ValueError("must not contain control characters")
    return value


_Line = Annotated[str, StringConstraints(min_length=1, max_length=4096), AfterValidator(_one_line)]
_Ref = Annotated[str, StringConstraints(min_length=1, max_length=256), AfterValidator(_one_line)]


_CredentialName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]


def _from_base64(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode("".join(value.split()), validate=True)
    except binascii.Error as error:
        raise ValueError(f"must be base64: {error}") from error


_Base64 = Annotated[
    bytes,
    BeforeValidator(_from_base64, json_schema_input_type=str),
    Field(json_schema_extra={"format": "base64"}),
]


class _Source(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EmptySource(_Source):
    """A new, empty project."""

    kind: Literal["empty"] = "empty"


class LocalSource(_Source):
    """A Git repository on the service's machine. A run only reads it.

    Attributes:
        path: absolute path of the repository or of a directory inside it.
        ref: commit, branch or tag from which the run starts; uncommitted changes are not included.
    """

    kind: Literal["local"] = "local"
    path: _Line
    ref: _Ref = "HEAD"


class GitSource(_Source):
    """A remote Git repository.

    Attributes:
        url: `https://…`, `ssh://…` or `user@host:path`.
        ref: branch, tag or full commit id; None is the default branch.
        credential: name of a credential in the operator's file, for https or ssh.
    """

    kind: Literal["git"] = "git"
    url: _Line
    ref: _Ref | None = None
    credential: _CredentialName | None = None


class ArchiveSource(_Source):
    """An uploaded tar, tar.gz, tar.bz2, tar.xz or zip.

    The bytes are only in the request: a dump of this model names them by digest. A service turns the archive
    into a base snapshot before it discards the bytes.

    Attributes:
        data: the archive, in JSON as base64; absent once the source is stored.
        strip_top_level: use the only top-level directory of the archive as the root.
        sha256: digest of the archive; filled in from `data`.
        size: bytes of the archive; filled in from `data`.
    """

    kind: Literal["archive"] = "archive"
    data: _Base64 | None = Field(default=None, exclude=True, repr=False)
    strip_top_level: bool = False
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    size: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _describe_data(self) -> Self:
        if self.data is None:
            if self.sha256 is None:
                raise ValueError("data is required: the archive in base64")
            return self
        digest = hashlib.sha256(self.data).hexdigest()
        if self.sha256 not in (None, digest):
            raise ValueError("sha256 is not the digest of data")
        # Bypasses the frozen model.
        object.__setattr__(self, "sha256", digest)
        object.__setattr__(self, "size", len(self.data))
        self.model_fields_set.update(("sha256", "size"))
        return self


WorkspaceSource = Annotated[
    EmptySource | LocalSource | GitSource | ArchiveSource, Field(discriminator="kind")
]


class SourceInfo(BaseModel):
    """What a quick look at a source found.

    Attributes:
        kind: the source's kind.
        location: the location to show; a URL without its password.
        commit: the commit from which the run would start, if it is known without fetching.
        branch: the branch of a local repository under which the commit was found, if it was one.
        dirty: whether there are changes that the run will not see; None if this is unknown.
        dirty_files: number of files with such changes.
        notes: sentences for the user, such as which repository a directory belongs to.
        pinned: the same source with its commit fixed, so that a later import takes what was looked at.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["empty", "local", "git", "archive"]
    location: str
    commit: str | None = None
    branch: str | None = None
    dirty: bool | None = False
    dirty_files: int = 0
    notes: tuple[str, ...] = ()
    pinned: WorkspaceSource


FileStatus = Literal["added", "deleted", "modified", "renamed", "copied", "type_changed"]


class FileDiff(BaseModel):
    """One file's change.

    Attributes:
        path: the path after the change; bytes that are not printable text are escaped.
        old_path: the path before, if it differs.
        additions: lines added; 0 for a binary file.
        deletions: lines removed; 0 for a binary file.
        patch: unified diff of this file; empty if it did not fit.
        truncated: whether the patch was cut.
    """

    model_config = ConfigDict(frozen=True)

    path: str
    old_path: str | None = None
    status: FileStatus
    additions: int = 0
    deletions: int = 0
    binary: bool = False
    patch: str = ""
    truncated: bool = False


class Diff(BaseModel):
    """The difference between two commits. `files` is complete even if patches were cut (`truncated`)."""

    model_config = ConfigDict(frozen=True)

    files: tuple[FileDiff, ...]
    truncated: bool = False
