"""Lays out one real change as a workspace: a git working tree with its base before it."""

import asyncio
import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from app.workspaces.files.removal import remove_tree
from benchmarks.real_commit_cases import Case

_AUTHOR = ("-c", "user.name=release", "-c", "user.email=release@example.invalid")
_LOCAL = ("-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0")


class FetchError(Exception):
    """A case cannot be laid out: its history or its archive is missing or unusable."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A change on the disk.

    Attributes:
        path: working tree at the later state.
        base: git reference of the earlier state.
        goal: the commit's subject, or a sentence about the release.
    """

    path: Path
    base: str
    goal: str


@asynccontextmanager
async def laid_out(case: Case, histories: Path | None, archives: Path) -> AsyncGenerator[Workspace]:
    """Lay out a case in a temporary directory, which is gone afterwards.

    Args:
        case: the change.
        histories: directory with a clone for each project, under the project's name; only commits need it.
        archives: where downloaded releases are kept.

    Raises:
        FetchError: the history, the commit or the archive cannot be had.
    """
    place = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="phaserunner-real-"))
    try:
        if case.is_release:
            yield await _release(case, place, archives)
        else:
            yield await _commit(case, place, histories)
    finally:
        await remove_tree(place)


async def _commit(case: Case, place: Path, histories: Path | None) -> Workspace:
    # The directory keeps the project's name: some build backends and tests read it.
    tree = place / case.project
    history = None if histories is None else histories / case.project
    if history is None or not await asyncio.to_thread(history.is_dir):
        raise FetchError(f"no history of {case.project}: --histories must hold a clone of this name")
    await _run("git", *_LOCAL, "clone", "-q", "--shared", "--no-checkout", str(history), str(tree))
    await _run("git", *_LOCAL, "-C", str(tree), "checkout", "-q", "--detach", case.candidate)
    base = await _run("git", "-C", str(tree), "rev-parse", f"{case.candidate}^1")
    goal = await _run("git", "-C", str(tree), "log", "-1", "--format=%s", case.candidate)
    return Workspace(tree, base.strip(), goal.strip())


async def _release(case: Case, place: Path, archives: Path) -> Workspace:
    tree = place / case.project
    later = await _download(case.project, case.candidate, archives)
    await committed_release(case.project, case.base, tree, archives)
    await asyncio.to_thread(_empty, tree)
    await asyncio.to_thread(_unpack, later, tree)
    # An archive holds what its build made; git must not leave that out for being ignored.
    await _run("git", "-C", str(tree), "add", "-A", "-f", "-N")
    return Workspace(tree, "HEAD", f"Release {case.project} {case.candidate}")


async def committed_release(project: str, version: str, tree: Path, archives: Path) -> None:
    """Lay out a release as the only commit of a new repository.

    Args:
        project: its name on the registry.
        version: of the release.
        tree: the working tree to make.
        archives: where downloaded releases are kept.

    Raises:
        FetchError: the archive cannot be had.
    """
    archive = await _download(project, version, archives)
    await asyncio.to_thread(tree.parent.mkdir, parents=True, exist_ok=True)
    await asyncio.to_thread(_unpack, archive, tree)
    await _run("git", *_LOCAL, "init", "-q", str(tree))
    await _run("git", "-C", str(tree), "add", "-A", "-f")
    # The date of the newest file: what a resolver may use for a base of that age.
    date = await asyncio.to_thread(_newest, archive)
    commit = (*_AUTHOR, *_LOCAL, "-C", str(tree), "commit", "-q", "--date", date)
    await _run("git", *commit, "-m", f"{project} {version}", GIT_COMMITTER_DATE=date)


async def _download(project: str, version: str, archives: Path) -> Path:
    kept = archives / f"{project}-{version}"
    if not await asyncio.to_thread(kept.is_dir):
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q", "--no-deps")
        with tempfile.TemporaryDirectory(prefix="phaserunner-sdist-") as fresh:
            await _run(*pip, "--no-binary", ":all:", "-d", fresh, f"{project}=={version}")
            await asyncio.to_thread(shutil.copytree, fresh, kept)
    found = await asyncio.to_thread(lambda: sorted(kept.glob("*.tar.gz")))
    if len(found) != 1:
        raise FetchError(f"{project} {version}: the registry has no .tar.gz of it")
    return found[0]


def _unpack(archive: Path, tree: Path) -> None:
    """Unpack a release into a directory that may exist already and then is empty but for `.git`."""
    with tempfile.TemporaryDirectory(dir=tree.parent) as inside:
        try:
            with tarfile.open(archive) as tar:
                tar.extractall(inside, filter="data")
        except tarfile.TarError as error:
            raise FetchError(f"{archive.name} cannot be unpacked: {error}") from error
        tops = list(Path(inside).iterdir())
        if len(tops) != 1:
            raise FetchError(f"{archive.name} does not hold one directory")
        shutil.copytree(tops[0], tree, symlinks=True, dirs_exist_ok=True)


def _empty(tree: Path) -> None:
    for each in tree.iterdir():
        if each.name == ".git":
            continue
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()


def _newest(archive: Path) -> str:
    with tarfile.open(archive) as tar:
        return f"@{int(max(each.mtime for each in tar))} +0000"


async def _run(*command: str, **env: str) -> str:
    done = await anyio.run_process(command, env={**os.environ, **env}, check=False)
    if done.returncode != 0:
        wrong = done.stderr.decode("utf-8", "replace").strip()
        raise FetchError(f"{' '.join(command[:12])} failed: {wrong[-500:]}")
    return done.stdout.decode("utf-8", "replace")
