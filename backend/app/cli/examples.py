"""Puts an example's project where a sprint can read it."""

import hashlib
import shutil
from pathlib import Path
from uuid import uuid4

import anyio

from app.agents.scripted.examples import Example, find_example, materialise_example
from app.workspaces.process import run_process


async def place_example(name: str, data_dir: Path) -> tuple[Example, Path]:
    """Return an example, and the repository with its project below `data_dir`, which is absolute.

    The repository is created once for each version of the example. Several callers may do so at the same
    time.

    Raises:
        NotFoundError: there is no such example.
        WorkspaceError: it cannot be written.
    """
    example = find_example(name)
    version = await anyio.to_thread.run_sync(_version, example.project)
    home = data_dir / "examples"
    repository = home / f"{example.name}-{version}"
    if not await anyio.Path(repository / ".git").is_dir():
        fresh = home / f".{example.name}-{uuid4().hex}"
        await materialise_example(name, fresh, run_process)
        await anyio.to_thread.run_sync(_settle, fresh, repository)
    return example, repository


def _version(project: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(project.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(project)}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def _settle(fresh: Path, repository: Path) -> None:
    try:
        fresh.rename(repository)
    except OSError:
        # Another process was quicker and created the same.
        shutil.rmtree(fresh, ignore_errors=True)
        if not repository.is_dir():
            raise
