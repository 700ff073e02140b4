"""The type gate: a checker under a configuration that the candidate cannot change and that runs no code."""

import asyncio
import sys
import zipfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import UUID

from app.runners.evaluators.annotations import lost_annotations
from app.runners.evaluators.interpreter import (
    EnvironmentTroubleError,
    environment_trouble,
    interpreter_for,
    with_interpreter,
)
from app.runners.evaluators.protocol import (
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    errored,
    skipped,
)
from app.runners.evaluators.static.analysed_copy import AnalysedCopy
from app.runners.evaluators.static.baseline import Finding, Wording, result_of
from app.runners.evaluators.static.checker_memory import CheckerMemory, pack, unpack
from app.runners.evaluators.static.library_memory import LibraryMemory
from app.runners.evaluators.static.mypy_tool import Mypy
from app.runners.evaluators.static.silencers import Tool
from app.runners.evaluators.static.trees import StaticTrees, open_trees
from app.runners.evaluators.static.type_checkers import CheckerPlace, open_checker, remembers
from app.runners.evaluators.static.type_tool import SettingsUnusableError, TypeChecker
from app.runners.evaluators.tooling import ToolTroubleError, find_base, find_workspace, scratch, seconds_for
from app.schemas.evaluation import CheckerName
from app.workspaces.environments.interpreters import Interpreters

_LISTED = 20
_WORDING = Wording("type error", "The code passes type checking", "no_new_type_errors")


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCheckEvaluator:
    """Fails on type errors that the base does not have.

    The rules are those of the base tree's configuration of the checker; without one quiet ones, blind to what
    the environment lacks. What silences the checker (comments, `@no_type_check`, blocks that it is told not
    to look at) counts only where the base has it, and no function may lose its annotations. Loses 0.1 of the
    score for each new error.

    What mypy remembers of one attempt is used in the next of the same run, so that only what changed is
    checked; a fraction of the time. A run's first check begins with what is known of libraries.

    Attributes:
        timeout: seconds for one run of the checker.
        python: interpreter whose installed packages count; None is the one this program runs on.
        interpreters: chooses it by what the base declares; None is always `python`.
        checker: which tool checks.
        allow_silencers: whether new comments and decorators that silence the checker count, too.
        memory: what is remembered of runs.
        libraries: what is known of libraries before a run's first check.
    """

    timeout: float = 30.0
    python: Path | None = None
    interpreters: Interpreters | None = field(default=None, compare=False)
    checker: CheckerName = "mypy"
    allow_silencers: bool = False
    memory: CheckerMemory = field(default_factory=CheckerMemory, repr=False, compare=False)
    libraries: LibraryMemory = field(
        default_factory=lambda: LibraryMemory(CheckerMemory()), repr=False, compare=False
    )
    name: str = "type_check"
    category: EvaluationCategory = EvaluationCategory.COMPLIANCE
    version: str = "2"
    is_deterministic: bool = True

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Check the workspace; `output` and `phase` play no part."""
        workspace = find_workspace(self, context, "type check")
        if isinstance(workspace, EvaluationResult):
            return workspace
        try:
            base, seconds = find_base(context), seconds_for(context, self.timeout)
            async with interpreter_for(self.interpreters, self.python, base, workspace) as found:
                judge = replace(self, python=found.python)
                result = await judge._judge(workspace, base, seconds, context.get("run_id"))
                return with_interpreter(result, found)
        except EnvironmentTroubleError as error:
            return environment_trouble(self, error)
        except ToolTroubleError as trouble:
            return errored(self, str(trouble), version=self.version)

    async def _judge(
        self, workspace: Path, base: Path | None, seconds: float, run_id: UUID | None
    ) -> EvaluationResult:
        with scratch(Path(sys.executable)) as scraps:
            cache = scraps.path / "cache" if remembers(self.checker) else None
            place = CheckerPlace(scraps, base, self.python, seconds, cache)
            reason = ""
            while True:
                tree = await open_trees(
                    workspace, base, Tool.TYPE_CHECKER, scraps.path, allow=self.allow_silencers
                )
                if tree is None:
                    return skipped(self, "No Python files to type check", version=self.version)
                checker = await asyncio.to_thread(open_checker, self.checker, place, reason)
                await self._recall(run_id, place.cache, checker)
                try:
                    return await self._compare(checker, tree, lambda: self._remember(run_id, place.cache))
                except SettingsUnusableError as unusable:
                    if reason:
                        raise ToolTroubleError(str(unusable)) from unusable
                    reason = str(unusable)

    async def _compare(
        self, checker: TypeChecker, trees: StaticTrees, remember: Callable[[], Awaitable[None]]
    ) -> EvaluationResult:
        wanted = [name for name in trees.copy.files if checker.covers(name)]
        if not wanted and not trees.copy.faults:
            reason = f"The project's configuration ({checker.source}) has no file type checked"
            return skipped(self, reason, version=self.version)
        checked = await checker.check(trees.copy.path, wanted, trees.changed)
        await remember()
        if isinstance(checker, Mypy):
            self.libraries.begin(checker.libraries, checker.learn)

        async def check_base(base: AnalysedCopy, files: list[str]) -> Sequence[Finding]:
            return (await checker.check(base.path, files, files)).found

        found = [*checked.found, *await asyncio.to_thread(_lost, trees, wanted)]
        comparison = await trees.compare(found, check_base)
        if checked.unfinished and not comparison.new:
            raise ToolTroubleError(checked.unfinished)
        return result_of(
            self,
            comparison,
            _WORDING,
            files_checked=len(wanted) - len(checked.unchecked),
            files_unchecked=list(checked.unchecked[:_LISTED]),
            configuration=checker.source,
            tool=checker.name,
        )

    async def _recall(self, run_id: UUID | None, cache: Path | None, checker: TypeChecker) -> None:
        if cache is None or await asyncio.to_thread(cache.exists):
            return
        kept = self.memory.recall(run_id) if run_id else None
        if kept is None and isinstance(checker, Mypy):
            kept = self.libraries.recall(checker.libraries)
        if kept:
            # Without what was remembered it only takes longer.
            with suppress(zipfile.BadZipFile, OSError, EOFError):
                await asyncio.to_thread(unpack, kept, cache)

    async def _remember(self, run_id: UUID | None, cache: Path | None) -> None:
        if cache and run_id:
            self.memory.keep(run_id, await asyncio.to_thread(pack, cache))


def _lost(trees: StaticTrees, files: Sequence[str]) -> list[Finding]:
    if trees.base is None:
        return []
    changed = [name for name in files if name in trees.changed]
    return lost_annotations(trees.base.path, trees.copy.path, changed)
