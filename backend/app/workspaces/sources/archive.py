"""Unpacks an uploaded tar or zip into an empty directory. No archive can write outside of it."""

import bz2
import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import IO

from app.core.errors import InvalidInputError
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.files.paths import display_path, is_git_directory_name, leaves_tree

_FIELD = "source.data"
_CHUNK = 65_536
_MAX_HEADER = 1_000_000
_MAX_PATH = 4096
_MAX_DEPTH = 100
_OVERHEAD = 4096
"""Bytes that a tar may need for the headers of one file."""

_DAMAGED = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,  # a compression that Python does not support
    RuntimeError,  # an encrypted zip
)


class _Kind(Enum):
    FILE = auto()
    DIRECTORY = auto()
    LINK = auto()
    HARD_LINK = auto()


@dataclass(frozen=True, slots=True)
class _Member:
    """One entry of an archive. Only links have a `target`; only files have `open`."""

    name: bytes
    kind: _Kind | None
    size: int = 0
    executable: bool = False
    target: bytes = b""
    open: Callable[[], IO[bytes]] = io.BytesIO


def archive_format(data: bytes) -> str:
    """Return the format of an archive: `zip`, `tar`, `tar.gz`, `tar.bz2` or `tar.xz`.

    Raises:
        InvalidInputError: it is none of these.
    """
    for name, magic in (
        ("zip", b"PK"),
        ("tar.gz", b"\x1f\x8b"),
        ("tar.bz2", b"BZh"),
        ("tar.xz", b"\xfd7zXZ"),
    ):
        if data.startswith(magic):
            return name
    if data[257:262] == b"ustar" or (len(data) >= 10_240 and not any(data[:1024])):
        return "tar"
    raise InvalidInputError("the archive is neither a zip nor a tar (plain, gz, bz2, xz)", field=_FIELD)


def unpack(data: bytes, dest: Path, limits: WorkspaceLimits) -> None:
    """Write an archive's files below `dest`, which must be empty.

    Files, directories and links that stay inside are created; `.git` directories are skipped.

    Raises:
        InvalidInputError: the archive is damaged, holds a path or link that leads out or anything but files,
            or
            unpacks to more than the limits allow. `dest` may be half-filled.
    """
    try:
        members = _zip_members(data) if archive_format(data) == "zip" else _tar_members(data, limits)
        _Unpacking(os.fsencode(dest), limits).take(members)
    except _DAMAGED as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise _refused(f"the archive cannot be unpacked: {why}") from error


_TAR_KINDS = {tarfile.DIRTYPE: _Kind.DIRECTORY, tarfile.SYMTYPE: _Kind.LINK, tarfile.LNKTYPE: _Kind.HARD_LINK}


class _Unpacking:
    """The state of one unpacking: what was written, and the links to create at the end."""

    def __init__(self, root: bytes, limits: WorkspaceLimits) -> None:
        self._root = root
        self._limits = limits
        self._files = 0
        self._bytes = 0
        self._links: dict[bytes, bytes] = {}

    def take(self, members: Iterator[_Member]) -> None:
        for member in members:
            self._files += 1
            self._check(self._files, self._bytes + member.size)
            path = _inner_path(member.name)
            if not path or any(is_git_directory_name(part) for part in path.split(b"/")):
                continue
            with _fitting(path):
                self._make(path, member)
        self._make_links()

    def _make(self, path: bytes, member: _Member) -> None:
        place = os.path.join(self._root, path)
        match member.kind:
            case _Kind.DIRECTORY:
                os.makedirs(place, exist_ok=True)
            case _Kind.FILE:
                with member.open() as source:
                    self._write(place, source, 0o755 if member.executable else 0o644)
            case _Kind.HARD_LINK:
                original = os.path.join(self._root, _inner_path(member.target))
                self._check(self._files, self._bytes + os.lstat(original).st_size)
                with open(original, "rb") as source:
                    self._write(place, source, stat.S_IMODE(os.lstat(original).st_mode))
            case _Kind.LINK:
                self._links[path] = member.target
            case None:
                raise _refused(f"{display_path(member.name)} is neither a file, a directory nor a link")

    def _write(self, place: bytes, source: IO[bytes], mode: int) -> None:
        # No link exists while files are written, so no path can lead through one.
        os.makedirs(os.path.dirname(place), exist_ok=True)
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
        with open(handle, "wb") as file:
            while chunk := source.read(_CHUNK):
                self._bytes += len(chunk)
                self._check(self._files, self._bytes)
                file.write(chunk)

    def _make_links(self) -> None:
        # All directories exist before the first link, and a link replaces none. So no path can lead through
        # a link, not even on a file system that takes `A` and `a` for the same name.
        for path in self._links:
            with _fitting(path):
                os.makedirs(os.path.dirname(os.path.join(self._root, path)), exist_ok=True)
        for path, target in self._links.items():
            with _fitting(path):
                os.symlink(target, os.path.join(self._root, path))
        for path in self._links:
            if leaves_tree(self._root, path):
                raise _refused(f"the link {display_path(path)} leads out of the archive")

    def _check(self, files: int, size: int) -> None:
        if not self._limits.holds(files, size):
            raise _refused(
                f"the archive unpacks to more than {self._limits.max_files:,} files"
                f" or {self._limits.max_bytes:,} bytes (WORKSPACE_MAX_FILES, WORKSPACE_MAX_BYTES)"
            )


class _BoundedReader(io.RawIOBase):
    """A decompressed stream that fails after `limit` bytes and returns small blocks.

    Python's tar reader loads whole extension headers into memory, however long they claim to be.
    """

    def __init__(self, inner: io.BufferedIOBase, limit: int) -> None:
        self._inner = inner
        self._limit = limit

    def read(self, size: int = -1, /) -> bytes:
        if not 0 <= size <= _MAX_HEADER:
            raise _refused("the archive has a header that is too long")
        return self._inner.read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        if whence != io.SEEK_SET or offset > self._limit:
            raise _refused("the archive unpacks to more than is allowed")
        return self._inner.seek(offset)

    def tell(self) -> int:
        return self._inner.tell()

    def finish(self) -> None:
        """Read to the end, where a compressed stream has its checksum."""
        while self._inner.read(_CHUNK):
            self.seek(self.tell())

    def seekable(self) -> bool:
        return True


def _tar_members(data: bytes, limits: WorkspaceLimits) -> Iterator[_Member]:
    limit = limits.max_bytes + _OVERHEAD * limits.max_files
    with (
        _decompressed(data) as inner,
        tarfile.open(fileobj=(reader := _BoundedReader(inner, limit)), mode="r:") as tar,
    ):
        for info in tar:
            yield _Member(
                name=os.fsencode(info.name),
                kind=_Kind.FILE if info.isreg() else _TAR_KINDS.get(info.type),
                size=info.size if info.isreg() else 0,
                executable=bool(info.mode & stat.S_IXUSR),
                target=os.fsencode(info.linkname),
                open=lambda info=info: tar.extractfile(info) or io.BytesIO(),
            )
        reader.finish()


def _decompressed(data: bytes) -> "io.BytesIO | gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile":
    raw = io.BytesIO(data)
    match archive_format(data):
        case "tar.gz":
            return gzip.GzipFile(fileobj=raw)
        case "tar.bz2":
            return bz2.BZ2File(raw)
        case "tar.xz":
            return lzma.LZMAFile(raw)
        case _:
            return raw


def _zip_members(data: bytes) -> Iterator[_Member]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            mode = info.external_attr >> 16
            target = b""
            kind: _Kind | None = _Kind.FILE
            if info.is_dir():
                kind = _Kind.DIRECTORY
            elif stat.S_ISLNK(mode):
                kind = _Kind.LINK
                with archive.open(info) as source:
                    target = source.read(_MAX_PATH)
            elif stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                kind = None
            yield _Member(
                name=os.fsencode(info.filename),
                kind=kind,
                size=info.file_size,
                executable=bool(mode & stat.S_IXUSR),
                target=target,
                open=lambda info=info: archive.open(info),
            )


def _inner_path(name: bytes) -> bytes:
    """Return a member's path without `.` parts. An empty path is the root itself."""
    if name.startswith(b"/") or b"\0" in name:
        raise _refused(f"{display_path(name)} is not a relative path")
    parts = [part for part in name.split(b"/") if part not in (b"", b".")]
    if b".." in parts:
        raise _refused(f"{display_path(name)} leads out of the archive")
    if len(parts) > _MAX_DEPTH:
        raise _refused(f"{display_path(name)[:80]}… lies more than {_MAX_DEPTH} directories deep")
    return b"/".join(parts)


@contextmanager
def _fitting(path: bytes) -> Generator[None]:
    try:
        yield
    except (FileExistsError, FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        why = f"{display_path(path)} does not fit to the other entries: {error.strerror}"
        raise _refused(why) from error


def _refused(why: str) -> InvalidInputError:
    return InvalidInputError(why, field=_FIELD)
