"""The port through which evaluators and agents get an interpreter, and its implementations."""

import json
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Protocol

import anyio.to_thread

from app.core.own_python import own_python
from app.schemas.modes import CandidateDependencies
from app.workspaces.environments.added import added_requirements, changed_requirements
from app.workspaces.environments.installing import Installer
from app.workspaces.environments.launches import InstallError
from app.workspaces.environments.locked import is_release
from app.workspaces.environments.naming import OF_THE_TEST_RUNNER, normal
from app.workspaces.environments.outcome import (
    Concessions,
    EnvironmentOutcome,
    EnvironmentUnavailable,
    Ready,
    Reason,
)
from app.workspaces.environments.plan import EnvironmentPlan, plan_for
from app.workspaces.environments.pythons import Interpreter, choose_python
from app.workspaces.environments.reading import DeclarationError, table, texts
from app.workspaces.environments.shelf import Shelf

_ABOUT = "environment.json"


class Interpreters(Protocol):
    """Chooses the interpreter that judges a workspace."""

    def lent(
        self, base: Path | None, workspace: Path | None = None, *, added: bool = False, changed: bool = False
    ) -> AbstractAsyncContextManager[EnvironmentOutcome]:
        """Lend the interpreter for a tree. Its files stay in place while the block runs.

        Args:
            base: the tree with the dependencies that count; None if there is no base yet.
            workspace: the candidate's tree. Dependencies that only it declares are reported, or installed if
                the operator always allows that.
            added: whether these dependencies are installed, too, if the operator allows it for a question.
            changed: the same for the releases that it asks for instead of the base's.
        """
        ...


@dataclass(frozen=True, slots=True)
class OneInterpreter:
    """Always lends the same interpreter. None stands for the interpreter that runs this program."""

    python: Path | None = None

    @asynccontextmanager
    async def lent(
        self, base: Path | None, workspace: Path | None = None, *, added: bool = False, changed: bool = False
    ) -> AsyncGenerator[EnvironmentOutcome]:
        """Yield the interpreter, whatever the trees declare. It never gets more packages."""
        missing = await anyio.to_thread.run_sync(_added, base, workspace)
        yield Ready(self.python or own_python(), missing=missing)


@dataclass(frozen=True, slots=True)
class WorkspaceEnvironments:
    """Lends an environment for each set of dependencies, created at first use.

    A workspace that needs nothing but pytest gets the interpreter that runs this program.

    Attributes:
        shelf: stores the environments.
        installer: creates them.
        search: variables with which uv looks for other Python versions: PATH and HOME.
        candidate_dependencies: what happens to dependencies that only the candidate declares, or in other
            releases than the base.
    """

    shelf: Shelf
    installer: Installer
    search: Mapping[str, str] = field(default_factory=dict[str, str])
    candidate_dependencies: CandidateDependencies = CandidateDependencies.REFUSE

    @asynccontextmanager
    async def lent(
        self, base: Path | None, workspace: Path | None = None, *, added: bool = False, changed: bool = False
    ) -> AsyncGenerator[EnvironmentOutcome]:
        """Yield the interpreter for the base's declarations, as the port describes."""
        try:
            plan, missing, differing = await anyio.to_thread.run_sync(_plans, base, workspace)
        except DeclarationError as error:
            yield EnvironmentUnavailable(Reason.DECLARATION, str(error))
            return
        new = tuple(each for each in missing if is_release(each)) if self._installs(asked=added) else ()
        other = differing if self._installs(asked=changed) else ()
        if new or other:
            async with self._environment(plan.with_roots(new).with_overrides(other)) as outcome:
                if isinstance(outcome, Ready):
                    yield replace(
                        outcome,
                        added=new if added else (),
                        changed=other if changed else (),
                        differing=() if other else differing,
                    )
                    return
                # A question is no reason to lose a verdict that the base's own packages allow.
                if not (added or changed) and outcome.reason not in (Reason.UNRESOLVABLE, Reason.BUILD):
                    yield outcome
                    return
        async with self._environment(plan, missing) as outcome:
            yield replace(outcome, differing=differing) if isinstance(outcome, Ready) else outcome

    def _installs(self, *, asked: bool) -> bool:
        always = self.candidate_dependencies is CandidateDependencies.INSTALL
        return always or (asked and self.candidate_dependencies is CandidateDependencies.ASK)

    @asynccontextmanager
    async def _environment(
        self, plan: EnvironmentPlan, missing: Sequence[str] = ()
    ) -> AsyncGenerator[EnvironmentOutcome]:
        python = await choose_python(self.installer.uv, plan.requires_python, plan.pinned_python, self.search)
        if isinstance(python, EnvironmentUnavailable):
            yield python
            return
        if plan.project is not None and normal(plan.project.name) == "pytest":
            yield EnvironmentUnavailable(
                Reason.TEST_RUNNER,
                "the project is pytest itself: the tests would judge the release that runs them, not this "
                "tree. WORKSPACE_PYTHON can name an interpreter prepared for it.",
            )
            return
        if plan.project is not None and normal(plan.project.name) in OF_THE_TEST_RUNNER:
            # Pytest needs the released code of these projects. The tests get the tree's code.
            plan = replace(plan, project=None)
        if not plan.needed and not python.is_other:
            yield Ready(own_python(), missing=tuple(missing))
            return
        key = plan.digest(str(python.path), python.version, *self._what_else_counts())
        async with AsyncExitStack() as lending:
            yield await self._installed(lending, key, plan, python, tuple(missing))

    def _what_else_counts(self) -> tuple[str, ...]:
        options = self.installer.options
        return (str(options.build), *(f"{name}={value}" for name, value in sorted(options.env.items())))

    async def _installed(
        self,
        lending: AsyncExitStack,
        key: str,
        plan: EnvironmentPlan,
        python: Interpreter,
        missing: tuple[str, ...],
    ) -> EnvironmentOutcome:
        built = self.shelf.built(key, partial(self._install, plan, python))
        try:
            lent = await lending.enter_async_context(built)
        except InstallError as error:
            return error.trouble
        conceded = await anyio.to_thread.run_sync(_conceded, lent.place)
        interpreter = lent.place / "env" / "bin" / "python"
        return Ready(interpreter, key, plan.how, lent.seconds, missing, conceded=conceded)

    async def _install(self, plan: EnvironmentPlan, python: Interpreter, site: Path) -> None:
        started = time.monotonic()
        conceded = await self.installer.install(plan, python, site)
        took = time.monotonic() - started
        await anyio.to_thread.run_sync(_describe, site, plan, python, took, conceded)


def _plans(
    base: Path | None, workspace: Path | None
) -> tuple[EnvironmentPlan, tuple[str, ...], tuple[str, ...]]:
    changed = () if workspace is None else changed_requirements(base, workspace)
    return plan_for(base), _added(base, workspace), changed


def _added(base: Path | None, workspace: Path | None) -> tuple[str, ...]:
    return () if workspace is None else added_requirements(base, workspace)


def _describe(
    site: Path, plan: EnvironmentPlan, python: Interpreter, seconds: float, conceded: Concessions
) -> None:
    about = {
        "from": plan.how,
        "python": python.version,
        "seconds": round(seconds, 3),
        "left_out": list(conceded.left_out),
        "newer_pytest": conceded.newer_pytest,
        "unpinned": list(conceded.unpinned),
    }
    (site / _ABOUT).write_text(json.dumps(about))


def _conceded(place: Path) -> Concessions:
    """Read what an environment lacks. Environments from older versions do not record it."""
    try:
        about: object = json.loads((place / _ABOUT).read_text())
    except (OSError, ValueError):
        return Concessions()
    noted = table({"it": about}, "it")
    return Concessions(
        tuple(texts(noted.get("left_out"))),
        noted.get("newer_pytest") is True,
        tuple(texts(noted.get("unpinned"))),
    )
