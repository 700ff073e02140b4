"""Runs a project's command in the sandbox, on a copy of a tree, and takes the report that it wrote."""

import os
import shutil
import stat
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import anyio
import anyio.to_thread

from app.runners.evaluators.commands.overlay import Overlay
from app.runners.evaluators.commands.programs import Programs
from app.runners.evaluators.tooling import ToolTroubleError
from app.workspaces.confine.confinement import Confinement, Network
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.files.removal import remove_tree
from app.workspaces.process import ProcessOutcome

MAX_REPORT_BYTES = 32_000_000
_OUTPUT_BYTES = 200_000


class NoVerdictError(Exception):
    """A run that says nothing about the code; `kind` names the way in a few words."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class CommandRun:
    """How one run ended.

    Attributes:
        outcome: of the process.
        report: content of the report file; None when the command wants none.
        tree: the copy it ran on, which is gone; reports name it in absolute paths.
    """

    outcome: ProcessOutcome
    report: bytes
    tree: Path

    @property
    def text(self) -> str:
        """What it printed."""
        return "\n".join(part.strip() for part in (self.outcome.stdout, self.outcome.stderr) if part.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """A command that can be run on several trees.

    Attributes:
        command: program and arguments, or a line for `sh -c`.
        sandbox: confines it.
        programs: where its program is found.
        report_path: the file it writes, below the tree; None when it writes none.
        timeout: seconds for a run.
        network: whether it reaches public addresses over HTTP and HTTPS.
        env: variables beside the usual ones.
        working_directory: where it starts, below the tree.
    """

    command: tuple[str, ...] | str
    sandbox: Sandbox
    programs: Programs
    report_path: str | None
    timeout: float
    network: bool = False
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    working_directory: str = ""

    async def run(self, tree: Path, base: Path | None, overlay: Overlay | None = None) -> CommandRun:
        """Run it on a copy of `tree`; `base` can be read by it as `PHASERUNNER_BASE`.

        Args:
            tree: what it runs on.
            base: the tree at the base commit.
            overlay: what of the copy is the base's.

        Raises:
            NoVerdictError: it did not end in time, a program is missing, or its report cannot be had.
            ToolTroubleError: it cannot be started, whatever the tree.
            SandboxUnavailableError: it cannot be confined.
        """
        async with _copy_of(tree) as copy:
            if overlay and base is not None:
                await anyio.to_thread.run_sync(_lay_over, overlay, copy, base)
            if self.report_path is not None:
                await anyio.to_thread.run_sync(_clear, copy, self.report_path)
            outcome = await self._launch(copy, base)
            if outcome.timed_out:
                raise NoVerdictError(f"did not finish within {self.timeout:g} seconds", "timed out")
            report = b""
            if self.report_path is not None:
                report = await anyio.to_thread.run_sync(_take, copy, self.report_path, outcome)
            return CommandRun(outcome, report, copy)

    async def _launch(self, copy: Path, base: Path | None) -> ProcessOutcome:
        scraps = copy.parent
        env = {
            "PATH": self.programs.variable,
            "HOME": str(scraps / "home"),
            "TMPDIR": str(scraps / "tmp"),
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "CI": "true",
            "PYTHONDONTWRITEBYTECODE": "1",
            **({"PHASERUNNER_BASE": str(base)} if base else {}),
            **self.env,
        }
        cwd = copy / self.working_directory
        if not await anyio.to_thread.run_sync(_is_inside, cwd, copy):
            raise NoVerdictError(f"cannot start in {self.working_directory}: no such directory", "directory")
        argv, needed = self._argv(cwd)
        confinement = Confinement(
            writable=(copy,),
            readable=(*self.programs.readable, *needed, *((base,) if base else ())),
            network=Network.public_if(self.network),
        )
        try:
            return await self.sandbox.run(
                argv,
                cwd=cwd,
                env=env,
                timeout=self.timeout,
                confinement=confinement,
                output_limit=_OUTPUT_BYTES,
            )
        except OSError as error:
            raise NoVerdictError(f"cannot be started: {error.strerror}: {error.filename}", "start") from error

    def _argv(self, cwd: Path) -> tuple[list[str], tuple[Path, ...]]:
        if isinstance(self.command, str):
            return ["/bin/sh", "-c", self.command], ()
        program = self.command[0]
        if "/" in program:
            return [str(cwd / program), *self.command[1:]], ()
        found = self.programs.find(program)
        if found is None:
            raise ToolTroubleError(f"{program} is not installed here (looked in {self.programs.variable})")
        return [str(found[0]), *self.command[1:]], found[1]


@asynccontextmanager
async def _copy_of(tree: Path) -> AsyncGenerator[Path]:
    """Yield a copy that may be written to; it is removed with all that was left beside it."""
    place = Path(await anyio.to_thread.run_sync(tempfile.mkdtemp, "", "command-"))
    try:
        await anyio.to_thread.run_sync(_copy, tree, place)
        yield place / "tree"
    finally:
        with anyio.CancelScope(shield=True):
            await remove_tree(place)


def _copy(tree: Path, place: Path) -> None:
    for name in ("home", "tmp"):
        (place / name).mkdir()
    try:
        shutil.copytree(tree, place / "tree", symlinks=True)
    except (shutil.Error, OSError) as error:
        raise ToolTroubleError(f"the tree cannot be copied: {str(error)[:300]}") from error


def _lay_over(overlay: Overlay, copy: Path, base: Path) -> None:
    try:
        overlay.apply(copy, base)
    except OSError as error:
        raise ToolTroubleError(f"the base's files cannot be laid over: {str(error)[:300]}") from error


def _is_inside(directory: Path, copy: Path) -> bool:
    return directory.is_dir() and directory.resolve().is_relative_to(copy.resolve())


def _clear(copy: Path, report: str) -> None:
    """Remove a report that is there already, and make the directory for the new one."""
    path = copy / report
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.parent.resolve().is_relative_to(copy.resolve()):
            raise NoVerdictError(f"{report} would lie outside of the project", "report")
        path.unlink(missing_ok=True)
    except OSError as error:
        raise NoVerdictError(f"{report} cannot be written: {error.strerror}", "report") from error


def _take(copy: Path, report: str, outcome: ProcessOutcome) -> bytes:
    """Read the report: a plain file, reached without any link, of a bounded size."""
    kind = f"report, exit status {outcome.returncode}"
    opened: list[int] = []
    try:
        opened.append(os.open(copy, os.O_RDONLY | os.O_DIRECTORY))
        *directories, name = PurePosixPath(report).parts
        for directory in directories:
            opened.append(os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=opened[-1]))
        opened.append(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=opened[-1]))
        with os.fdopen(os.dup(opened[-1]), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise NoVerdictError(f"{report} is not a plain file", kind)
            content = file.read(MAX_REPORT_BYTES + 1)
    except OSError as error:
        reason = f"wrote no report {report} and ended with exit status {outcome.returncode}"
        raise NoVerdictError(f"{reason} ({error.strerror})", kind) from error
    finally:
        for handle in opened:
            with suppress(OSError):
                os.close(handle)
    if len(content) > MAX_REPORT_BYTES:
        raise NoVerdictError(f"{report} is larger than {MAX_REPORT_BYTES // 1_000_000} MB", kind)
    return content
