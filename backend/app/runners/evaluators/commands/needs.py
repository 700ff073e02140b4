"""What a project's commands need besides its files: a set-up, services, and secrets."""

import shlex
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio.to_thread

from app.runners.evaluators.tooling import ToolTroubleError
from app.workspaces.environments.laying import Kept
from app.workspaces.environments.locks import changed_locks
from app.workspaces.environments.setup import Recipe, SetupError, Setups
from app.workspaces.process import ProcessOutcome

_NOT_READY = 98
"""Exit status of a command that was not started because a service was not ready."""
_PREFIX = "phaserunner: the service "
_ALLOWED = "ENVIRONMENT_CANDIDATE_DEPENDENCIES=install installs what a candidate declares"


class SetupTroubleError(ToolTroubleError):
    """The base's set-up failed, so nothing can be judged."""

    def __init__(self, error: SetupError) -> None:
        super().__init__(str(error))
        self.retryable = error.retryable


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededService:
    """A program that runs beside a command.

    Attributes:
        name: for people.
        run: a line for `sh -c` that stays in the foreground.
        ready: a line for `sh -c` that ends with 0 once the service answers.
        seconds: time limit for it to become ready.
    """

    name: str
    run: str
    ready: str
    seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Prepared:
    """The results of set-ups for the trees of one evaluation.

    Attributes:
        kept: for the candidate; None without a set-up.
        base: for the base.
        notes: note for the result if the candidate's set-up failed.
    """

    kept: Kept | None = None
    base: Kept | None = None
    notes: tuple[str, ...] = ()

    def for_tree(self, tree: Path, base: Path | None) -> Kept | None:
        """Return the set-up's files for copies of a tree."""
        return self.base if tree == base else self.kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """The needs of a command.

    Attributes:
        setups: run the set-up; None if there is none.
        recipe: the set-up.
        candidate: whether lock files that a candidate changed are installed for it.
        services: run beside the command.
        secrets: variables for the command that are masked in its output.
    """

    setups: Setups | None = None
    recipe: Recipe | None = None
    candidate: bool = False
    services: tuple[NeededService, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @asynccontextmanager
    async def prepared(self, base: Path | None, workspace: Path) -> AsyncGenerator[Prepared]:
        """Yield the results of set-ups. They stay in place while the block runs.

        Raises:
            SetupTroubleError: the set-up failed at the base.
            ToolTroubleError: no set-up can be run.
            WorkspaceError: a tree is larger than the limits allow.
        """
        if self.recipe is None or not self.recipe.lines:
            yield Prepared()
            return
        if self.setups is None:
            raise ToolTroubleError("The project needs a set-up, which cannot run here")
        async with AsyncExitStack() as stack:
            try:
                kept = await stack.enter_async_context(self.setups.lent(self.recipe, base or workspace))
            except SetupError as error:
                raise SetupTroubleError(error) from error
            changed = () if base is None else await _changed(base, workspace, self.recipe)
            if not changed:
                yield Prepared(kept, kept)
                return
            own, note = await self._own(stack, self.recipe, base or workspace, workspace, changed)
            yield Prepared(own or kept, kept, (note,))

    async def _own(
        self, stack: AsyncExitStack, recipe: Recipe, base: Path, workspace: Path, changed: Sequence[str]
    ) -> tuple[Kept | None, str]:
        """Return the set-up's result with the candidate's lock files, if that set-up may run and succeeds."""
        told = f"The change has different lock files ({', '.join(changed)})."
        if not self.candidate or self.setups is None:
            return None, f"{told} The base's packages were used ({_ALLOWED})."
        # The candidate's packages may run scripts, so they get no secrets.
        without = Recipe(
            lines=recipe.lines,
            lock_files=recipe.lock_files,
            network=recipe.network,
            seconds=recipe.seconds,
            directory=recipe.directory,
        )
        try:
            own = await stack.enter_async_context(self.setups.lent(without, base, workspace))
        except SetupError as error:
            return None, f"{told} They cannot be installed, so the base's packages were used: {error}"
        return own, f"{told} Their packages were used."


async def _changed(base: Path, workspace: Path, recipe: Recipe) -> tuple[str, ...]:
    return await anyio.to_thread.run_sync(changed_locks, base, workspace, recipe.lock_files)


def beside(services: Sequence[NeededService], argv: Sequence[str]) -> list[str]:
    """Return the command that starts services, waits until they are ready, and runs another command."""
    if not services:
        return list(argv)
    starts = "".join(map(_start, services))
    script = f"pids=''\ntrap 'kill $pids 2>/dev/null' EXIT\n{starts}\"$@\""
    return ["/bin/sh", "-c", script, "sh", *argv]


def _start(service: NeededService) -> str:
    log = f'"${{TMPDIR:-/tmp}}/phaserunner-{service.name}.log"'
    tries = max(1, round(service.seconds * 10))
    return (
        f'sh -c {shlex.quote(service.run)} >{log} 2>&1 </dev/null & pid=$!; pids="$pids $pid"; left={tries}\n'
        f"until sh -c {shlex.quote(service.ready)} >/dev/null 2>&1 </dev/null; do\n"
        f"  left=$((left - 1))\n"
        f'  if [ "$left" -le 0 ] || ! kill -0 "$pid" 2>/dev/null; then\n'
        f"    echo '{_PREFIX}{service.name} is not ready' >&2; tail -c 1000 {log} >&2; exit {_NOT_READY}\n"
        f"  fi\n  sleep 0.1\ndone\n"
    )


def service_trouble(services: Sequence[NeededService], outcome: ProcessOutcome) -> str:
    """Return which service was not ready; empty if the command was started."""
    if not services or outcome.returncode != _NOT_READY or _PREFIX not in outcome.stderr:
        return ""
    said = outcome.stderr[outcome.stderr.rindex(_PREFIX) :].removeprefix("phaserunner: ").strip()
    return f"was not started: {said[:1000]}"
