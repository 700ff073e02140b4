"""Runs the tests of one tree in a child process and returns its report."""

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from app.runners.evaluators.pytest_config import PytestSettings, settings_for
from app.runners.evaluators.pytest_report import RunReport, read_report
from app.runners.evaluators.source_tree import python_files
from app.runners.evaluators.tooling import Scratch, ToolTroubleError, scratch
from app.workspaces.process import run_process

RUNNER = Path(__file__).with_name("pytest_runner") / "runner.py"

_MAX_STREAM_BYTES = 64_000_000
_DRAIN_SECONDS = 1.0
_FIXED = (
    *("-p", "no:cacheprovider", "-o", "addopts=", "--disable-plugin-autoload"),
    *("--color=no", "--tb=short", "-q", "-rfE", "--no-header", "--continue-on-collection-errors"),
)


@dataclass(frozen=True, slots=True)
class Harness:
    """Where and how tests run.

    Attributes:
        python: the interpreter; it must have pytest 8.4 or newer.
        base: the tree whose configuration counts; None when there is none.
        seconds: for one run.
    """

    python: Path
    base: Path | None
    seconds: float

    async def run(self, tree: Path, *, only: Sequence[str] = (), collect_only: bool = False) -> RunReport:
        """Run the tests of a tree.

        Args:
            tree: the tree; its root is on the import path, as with `python -m pytest`.
            only: ids of the tests to run; empty means all.
            collect_only: list the tests and run none.

        Raises:
            ToolTroubleError: the interpreter cannot be started.
        """
        settings = await asyncio.to_thread(settings_for, tree, self.base)
        with scratch(self.python) as scraps:
            sources = await asyncio.to_thread(_sources, tree, settings)
            listing = scraps.path / "sources.json"
            listing.write_text(json.dumps(sources))
            arguments = _arguments(tree, settings, scraps)
            if collect_only:
                arguments.append("--collect-only")
            return await self._execute(tree, [str(listing), *arguments, *only], scraps)

    async def _execute(self, tree: Path, arguments: Sequence[str], scraps: Scratch) -> RunReport:
        pipe = _RecordPipe()
        try:
            process = await run_process(
                [str(self.python), "-I", "-B", str(RUNNER), str(pipe.writing), *arguments],
                cwd=tree,
                env=scraps.env,
                timeout=self.seconds,
                output_limit=200_000,
                pass_fds=(pipe.writing,),
            )
        except (FileNotFoundError, PermissionError) as error:
            raise ToolTroubleError(f"{self.python} cannot be started: {error.strerror}") from error
        finally:
            records = await pipe.finish()
        return read_report(records, process)


def is_test_support(name: str, settings: PytestSettings) -> bool:
    """Tell whether a file (POSIX path) can decide which tests there are."""
    filename = PurePosixPath(name).name
    return filename == "conftest.py" or any(
        fnmatch(name if "/" in pattern else filename, pattern) for pattern in settings.test_files
    )


def _arguments(tree: Path, settings: PytestSettings, scraps: Scratch) -> list[str]:
    config = settings.config_file
    if config is None:
        config = scraps.path / "pytest.ini"
        config.write_text("[pytest]\n")
    return [f"-c{config}", f"--rootdir={tree}", f"--confcutdir={tree}", *_FIXED, *settings.arguments]


def _sources(tree: Path, settings: PytestSettings) -> list[str]:
    names = [str(tree / name) for name in python_files(tree) if is_test_support(name, settings)]
    return [str(settings.config_file), *names] if settings.config_file else names


class _RecordPipe:
    """A pipe that is read while the process at its other end runs."""

    def __init__(self) -> None:
        reading, self.writing = os.pipe()
        self._kept = bytearray()
        self._task = asyncio.create_task(self._read(reading))

    async def finish(self) -> bytes:
        """Close our writing end, wait for what is on its way, and give all that came."""
        os.close(self.writing)
        # A descendant that left the process group may hold the pipe open for ever; what came by then counts.
        await asyncio.wait([self._task], timeout=_DRAIN_SECONDS)
        self._task.cancel()
        await asyncio.wait([self._task])
        return bytes(self._kept)

    async def _read(self, fd: int) -> None:
        reader = asyncio.StreamReader()
        pipe = os.fdopen(fd, "rb", buffering=0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        try:
            # What exceeds the limit is dropped: the stream then has no end and counts as torn.
            while chunk := await reader.read(65_536):
                self._kept += chunk[: _MAX_STREAM_BYTES - len(self._kept)]
        finally:
            transport.close()
