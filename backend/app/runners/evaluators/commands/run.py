"""Runs a project's command in the sandbox, on a copy of a tree, and collects its report."""

import shutil
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.core.errors import WorkspaceError
from app.runners.evaluators.commands.needs import NeededService, Prepared, beside, service_trouble
from app.runners.evaluators.commands.overlay import Overlay
from app.runners.evaluators.commands.programs import Programs
from app.runners.evaluators.commands.sentinels import SentinelKind, lay_sentinels
from app.runners.evaluators.commands.taking import NoVerdictError, clear, take_all, take_file
from app.runners.evaluators.tooling import ToolTroubleError
from app.workspaces.confine.confinement import Confinement, Network
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.laying import Kept
from app.workspaces.environments.masking import mask, mask_bytes
from app.workspaces.files.temporary import in_thread, temporary_directory
from app.workspaces.process import ProcessOutcome

_OUTPUT_BYTES = 200_000
_PRINTED_REPORT_BYTES = 16_000_000


@dataclass(frozen=True, slots=True)
class CommandRun:
    """How one run ended.

    Attributes:
        outcome: of the process.
        report: content of the report file; None without a report.
        tree: the copy on which it ran, which no longer exists; reports name it in absolute paths.
        sentinel: a text in the names of its sentinels; empty without sentinels.
    """

    outcome: ProcessOutcome
    report: bytes
    tree: Path
    sentinel: str = ""

    @property
    def text(self) -> str:
        """The output of the command."""
        return "\n".join(part.strip() for part in (self.outcome.stdout, self.outcome.stderr) if part.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """A command that can be run on several trees.

    Attributes:
        command: program and arguments, or a line for `sh -c`.
        sandbox: confines it.
        programs: where its program is found.
        report_path: the report file, or a glob of such files, below the tree; None without a report.
        prints_report: True if its output is the report, so that all of it is needed.
        timeout: seconds for a run.
        network: whether it reaches public addresses over HTTP and HTTPS.
        env: variables besides the usual ones.
        working_directory: where it starts, below the tree.
        sentinels: the kind of sentinels to put into the copy; None means no sentinels.
        prepared: the results of the project's set-up.
        services: programs that run beside it.
        secrets: variables for it that are masked in its output.
        image: container image that replaces the system's files and programs; None is the usual system.
    """

    command: tuple[str, ...] | str
    sandbox: Sandbox
    programs: Programs
    report_path: str | None
    timeout: float
    prints_report: bool = False
    network: bool = False
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    working_directory: str = ""
    sentinels: SentinelKind | None = None
    prepared: Prepared = field(default_factory=Prepared)
    services: tuple[NeededService, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    image: str | None = None

    async def run(self, tree: Path, base: Path | None, overlay: Overlay | None = None) -> CommandRun:
        """Run it on a copy of `tree`. It can read `base` through `PHASERUNNER_BASE`.

        Args:
            tree: the tree to copy.
            base: the tree at the base commit.
            overlay: the changes to the copy.

        Raises:
            NoVerdictError: it did not end in time, a program is missing, or its report cannot be read.
            ToolTroubleError: it cannot be started, whatever the tree.
            SandboxUnavailableError: it cannot be confined.
        """
        async with _copy_of(tree) as copy:
            if overlay and base is not None:
                await in_thread(_lay_over, overlay, copy, base)
            kept = self.prepared.for_tree(tree, base)
            sentinel = await in_thread(self._make_ready, copy, kept)
            outcome = await self._launch(copy, base, home=kept is not None)
            if outcome.timed_out:
                raise NoVerdictError(f"did not finish within {self.timeout:g} seconds", "timed out")
            if trouble := service_trouble(self.services, outcome):
                raise NoVerdictError(trouble, "service")
            if self.prints_report and outcome.truncated:
                raise NoVerdictError("printed too much output", "report")
            report = b""
            if self.report_path is not None:
                take = take_all if "*" in self.report_path else take_file
                report = await in_thread(take, copy, self.report_path, outcome)
            return CommandRun(outcome, mask_bytes(report, self.secrets.values()), copy, sentinel)

    def _make_ready(self, copy: Path, kept: Kept | None) -> str:
        """Put the set-up's files and sentinels into a copy. Return the text in the names of its sentinels."""
        if kept is not None:
            _lay_in(kept, copy)
        sentinel = _lay_sentinels(copy, self.sentinels) if self.sentinels is not None else ""
        if self.report_path is not None:
            clear(copy, self.report_path)
        return sentinel

    async def _launch(self, copy: Path, base: Path | None, *, home: bool) -> ProcessOutcome:
        scraps = copy.parent
        env = {
            **({} if self.image else {"PATH": self.programs.variable}),
            "HOME": str(scraps / "home"),
            "TMPDIR": str(scraps / "tmp"),
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "CI": "true",
            "PYTHONDONTWRITEBYTECODE": "1",
            **({"PHASERUNNER_BASE": str(base)} if base else {}),
            **self.env,
            **self.secrets,
        }
        cwd = copy / self.working_directory
        if not await in_thread(_is_inside, cwd, copy):
            raise NoVerdictError(f"cannot start in {self.working_directory}: no such directory", "directory")
        argv, needed = self._argv(cwd)
        installed = () if self.image else (*self.programs.readable, *needed)
        confinement = Confinement(
            writable=(copy,),
            readable=(*installed, *((base,) if base else ())),
            network=Network.public_if(self.network),
            home=scraps / "home" if home else None,
            image=self.image,
        )
        try:
            outcome = await self.sandbox.run(
                beside(self.services, argv),
                cwd=cwd,
                env=env,
                timeout=self.timeout,
                confinement=confinement,
                output_limit=_PRINTED_REPORT_BYTES if self.prints_report else _OUTPUT_BYTES,
            )
        except OSError as error:
            raise NoVerdictError(f"cannot be started: {error.strerror}: {error.filename}", "start") from error
        said = (mask(text, self.secrets.values()) for text in (outcome.stdout, outcome.stderr))
        return replace(outcome, **dict(zip(("stdout", "stderr"), said, strict=True)))

    def _argv(self, cwd: Path) -> tuple[list[str], tuple[Path, ...]]:
        if isinstance(self.command, str):
            return ["/bin/sh", "-c", self.command], ()
        program = self.command[0]
        if "/" in program:
            return [str(cwd / program), *self.command[1:]], ()
        if self.image:
            return list(self.command), ()
        found = self.programs.find(program)
        if found is None:
            raise ToolTroubleError(
                f"{program} is not installed here (looked in {self.programs.variable}): install it here, "
                "or change the command in phaserunner.toml"
            )
        return [str(found[0]), *self.command[1:]], found[1]


@asynccontextmanager
async def _copy_of(tree: Path) -> AsyncGenerator[Path]:
    """Yield a writable copy of a tree. Remove it afterwards, with everything that was left beside it."""
    async with temporary_directory(lambda: tempfile.mkdtemp(prefix="command-")) as place:
        await in_thread(_copy, tree, place)
        yield place / "tree"


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


def _lay_sentinels(copy: Path, kind: SentinelKind) -> str:
    try:
        return lay_sentinels(copy, kind)
    except OSError as error:
        raise ToolTroubleError(f"sentinels cannot be written: {str(error)[:300]}") from error


def _lay_in(kept: Kept, copy: Path) -> None:
    try:
        kept.lay(copy, copy.parent / "home")
    except WorkspaceError as error:
        raise NoVerdictError(f"cannot start: {error}", "set-up") from error
    except OSError as error:
        raise ToolTroubleError(f"the output of the set-up cannot be copied: {str(error)[:300]}") from error


def _is_inside(directory: Path, copy: Path) -> bool:
    return directory.is_dir() and directory.resolve().is_relative_to(copy.resolve())
