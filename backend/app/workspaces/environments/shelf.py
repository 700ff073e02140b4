"""Stores environments: builds them once, lends them under a lock, and removes unused ones."""

import fcntl
import os
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import anyio
import anyio.to_thread

from app.workspaces.files.removal import remove_tree

_POLL_SECONDS = 0.05
_BUILDING, _REMOVING = ".building-", ".removing-"


@dataclass(frozen=True, slots=True)
class ShelfLimits:
    """The limits of a shelf.

    Attributes:
        size: bytes of all environments together.
        age: seconds since an environment was last used.
    """

    size: int = 10_000_000_000
    age: float = 30 * 86_400.0


@dataclass(frozen=True, slots=True)
class Lent:
    """An environment that stays in place while it is lent.

    Attributes:
        place: its directory.
        seconds: how long the borrower waited for it to be built; 0 if it was there.
    """

    place: Path
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Failure:
    at: float
    error: Exception


@dataclass(frozen=True, slots=True)
class Shelf:
    """A directory of environments. Several processes may use one.

    Each environment has a lock. Users hold it shared; a process that creates or removes the environment holds
    it alone. An environment is built in a directory with another name and renamed when it is complete, so a
    final name always stands for a complete one. Locks end with their process. The remains of a killed process
    are found by their name.
    """

    root: Path
    bounds: ShelfLimits = ShelfLimits()
    _failures: dict[str, _Failure] = field(default_factory=dict[str, _Failure], init=False, repr=False)

    def place(self, key: str) -> Path:
        """Return the path of the complete environment with this key."""
        return self.root / key

    @asynccontextmanager
    async def lent(self, key: str) -> AsyncGenerator[Path | None]:
        """Yield a complete environment, or None. It is not removed while the block runs."""
        async with self._locked(key, fcntl.LOCK_SH) as lock:
            place = self.place(key)
            there = await anyio.to_thread.run_sync(place.is_dir)
            if there:
                os.utime(lock.fileno())
            yield place if there else None

    @asynccontextmanager
    async def built(self, key: str, build: Callable[[Path], Awaitable[None]]) -> AsyncGenerator[Lent]:
        """Yield the environment with this key. Build it first if there is none.

        A failed build also fails for those who waited for it. Who asks later tries again.

        Args:
            key: identifies the environment.
            build: fills an empty directory, which becomes the environment. May raise any error, which is
                passed on.
        """
        asked_at = time.monotonic()
        seconds = 0.0
        while True:
            async with self.lent(key) as place:
                if place is not None:
                    yield Lent(place, seconds)
                    return
            await self._build(key, build, asked_at)
            seconds = time.monotonic() - asked_at

    async def _build(self, key: str, build: Callable[[Path], Awaitable[None]], asked_at: float) -> None:
        async with self.making(key) as site:
            if site is None:
                return
            failure = self._failures.get(key)
            if failure is not None and failure.at > asked_at:
                raise failure.error
            try:
                await build(site)
            except Exception as error:
                self._failures[key] = _Failure(time.monotonic(), error)
                raise
            self._failures.pop(key, None)
            await self.finish(key, site)
        await self.trim()

    @asynccontextmanager
    async def making(self, key: str) -> AsyncGenerator[Path | None]:
        """Yield an empty directory to build in, under an exclusive lock.

        Yield None if the environment exists by now.

        `finish` turns the directory into an environment. At the end of the block, everything left in it is
        removed.
        """
        async with self._locked(key, fcntl.LOCK_EX):
            if await anyio.to_thread.run_sync(self.place(key).is_dir):
                yield None
                return
            for remains in await anyio.to_thread.run_sync(self._remains, f"{_BUILDING}{key}-"):
                await remove_tree(remains)
            site = self.root / f"{_BUILDING}{key}-{secrets.token_hex(4)}"
            await anyio.to_thread.run_sync(_make_directory, site)
            try:
                yield site
            finally:
                with anyio.CancelScope(shield=True):
                    await remove_tree(site)

    async def finish(self, key: str, site: Path) -> None:
        """Turn the directory `site` into the environment with this key. Call this only inside `making`."""
        await anyio.to_thread.run_sync(os.rename, site, self.place(key))

    async def trim(self) -> None:
        """Remove remains, old environments, and the least recently used ones beyond the limit.

        An environment in use is never removed.
        """
        for remains in await anyio.to_thread.run_sync(self._remains, _BUILDING):
            await self._remove_if_free(remains.name.removeprefix(_BUILDING).rpartition("-")[0], remains)
        for remains in await anyio.to_thread.run_sync(self._remains, _REMOVING):
            await remove_tree(remains)
        kept = 0
        for key, size, used in await anyio.to_thread.run_sync(self._by_use):
            too_much = kept + size > self.bounds.size or time.time() - used > self.bounds.age
            if not (too_much and await self._remove_if_free(key, self.place(key))):
                kept += size

    def contents(self) -> tuple[int, int]:
        """Return the number of environments and their total bytes."""
        sizes = [size_of(path) for path in self._environments()]
        return len(sizes), sum(sizes)

    async def _remove_if_free(self, key: str, path: Path) -> bool:
        with _open(self._lock_file(key)) as lock:
            if not _try(lock, fcntl.LOCK_EX):
                return False
            away = self.root / f"{_REMOVING}{secrets.token_hex(8)}"
            with suppress(FileNotFoundError):
                await anyio.to_thread.run_sync(os.rename, path, away)
            if not self.place(key).exists():
                self._lock_file(key).unlink(missing_ok=True)
        await remove_tree(away)
        return True

    @asynccontextmanager
    async def _locked(self, key: str, how: int) -> AsyncGenerator[IO[bytes]]:
        await anyio.to_thread.run_sync(_make_directory, self.root)
        path = self._lock_file(key)
        while True:
            with _open(path) as lock:
                # A lock on a removed file has no effect.
                if _try(lock, how) and _is_still_there(lock, path):
                    yield lock
                    return
            await anyio.sleep(_POLL_SECONDS)

    def _lock_file(self, key: str) -> Path:
        return self.root / f"{key}.lock"

    def _environments(self) -> Iterator[Path]:
        with suppress(FileNotFoundError):
            yield from (
                each for each in self.root.iterdir() if each.is_dir() and not each.name.startswith(".")
            )

    def _by_use(self) -> list[tuple[str, int, float]]:
        """Return name, size and time of last use of each environment, most recent first."""
        found = [(path.name, size_of(path), self._last_use(path)) for path in self._environments()]
        return sorted(found, key=lambda each: each[2], reverse=True)

    def _last_use(self, path: Path) -> float:
        for place in (self._lock_file(path.name), path):
            with suppress(OSError):
                return place.stat().st_mtime
        return 0.0

    def _remains(self, prefix: str) -> list[Path]:
        return [path for path in self.root.glob(f"{prefix}*") if path.is_dir()] if self.root.is_dir() else []


@contextmanager
def _open(path: Path) -> Generator[IO[bytes]]:
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b", buffering=0) as file:
        yield file


def _try(file: IO[bytes], how: int) -> bool:
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still_there(file: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _make_directory(path: Path) -> None:
    is_new = not path.parent.exists()
    path.mkdir(parents=True, exist_ok=True)
    if is_new:
        # DATA_DIR may be in the repository that is evaluated, which must not look changed because of it.
        (path.parent / ".gitignore").write_text("*\n")
    # The environment may be read by another user.
    path.chmod(0o755)


def size_of(path: Path) -> int:
    """Return the bytes that a directory takes on disk. Files that disappear meanwhile do not count."""
    total = 0
    for directory, _, files in os.walk(path):
        for name in files:
            with suppress(OSError):
                total += os.lstat(os.path.join(directory, name)).st_blocks * 512
    return total
