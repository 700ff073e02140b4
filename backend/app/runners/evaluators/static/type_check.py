"""The type gate: a checker under a configuration that the candidate cannot change and that runs no code."""

import asyncio
import zipfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal
from uuid import UUID

from app.core.own_python import own_python
from app.runners.evaluators.interpreter import (
    EnvironmentTroubleError,
    environment_trouble,
    interpreter_for,
    with_interpreter,
)
from app.runners.evaluators.new_dependencies import asking_about, needs_other_releases
from app.runners.evaluators.protocol import (
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    EvaluationStatus,
    errored,
    skipped,
)
from app.runners.evaluators.static.baseline import (
    Finding,
    Wording,
    often_broken,
    result_of,
)
from app.runners.evaluators.static.checker_memory import CheckerMemory, pack, unpack
from app.runners.evaluators.static.doubt import BaseControl, asked, beside_stub, sorted_by_doubt
from app.runners.evaluators.static.followed_files import followed_files
from app.runners.evaluators.static.hidden_types import hidden_types, with_hidden
from app.runners.evaluators.static.library_memory import LibraryMemory
from app.runners.evaluators.static.lost_annotations import base_has_bare_ones, lost_in
from app.runners.evaluators.static.mypy_tool import Mypy
from app.runners.evaluators.static.other_settings import OtherSettings, other_settings
from app.runners.evaluators.static.silencing_comments import Tool
from app.runners.evaluators.static.trees import StaticTrees, open_trees
from app.runners.evaluators.static.type_base import TypesAtBase
from app.runners.evaluators.static.type_checkers import CheckerPlace, open_checker, remembers
from app.runners.evaluators.static.type_tool import SettingsUnusableError, TypeChecker
from app.runners.evaluators.tooling import (
    ToolTroubleError,
    find_base,
    find_workspace,
    scratch,
    seconds_here_for,
)
from app.schemas.evaluation import CheckerName
from app.schemas.questions import ProtectedPolicy
from app.workspaces.environments.interpreters import Interpreters
from app.workspaces.environments.outcome import Ready
from app.workspaces.environments.pythons import own_interpreter

_LISTED = 20
_WORDING = Wording(
    "type error",
    "The code passes type checking",
    "no_new_type_errors",
    "the base does not configure this checker",
)
_BROKEN_OFTEN = "the base breaks these rules in many places, or has many type errors itself"
# Rules that count even if the base breaks them: code that cannot be parsed, and undefined names.
_FAULTS = frozenset({"syntax", "name-defined"})
# Errors of a strict configuration if the packages that the code uses are missing.
_FOR_WANT_OF_PACKAGES = frozenset({"no-any-return", "untyped-decorator"})


Unconfigured = Literal["advise", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCheckEvaluator:
    """Fails on type errors that the base does not have.

    The rules are those of the base tree's checker configuration; without one, quiet rules that ignore what
    the environment lacks. If the base configures no checker, findings only advise: the result is skipped and
    lists them. Findings of rules that the base breaks in many places also only advise, as do findings in
    files with many errors of any kind at the base, because its checker did not look there. A comment that
    names the errors it hides counts if the base has such comments. Other silencers (other comments,
    `@no_type_check`, blocks that the checker skips) count only if the base has them. No function may lose its
    annotations. If the base's own errors, its comments that hide errors, missing packages or the candidate's
    own settings cast doubt on an error (see `doubt`), a person is asked. Each new error costs 0.1 of the
    score.

    mypy's cache is kept for the next attempt of the same run, so that only changes are checked, in a fraction
    of the time. A run's first check begins with a cache of libraries.

    Attributes:
        timeout: seconds for one run of the checker.
        python: interpreter with the installed packages that count; None is the one that runs this program.
        interpreters: chooses it from the base's declarations; None always uses `python`.
        checker: the tool that checks.
        allow_silencers: whether new comments and decorators that silence the checker count, too.
        unconfigured: the effect of findings if the base does not configure the checker.
        lacks_packages: whether the interpreter lacks the packages that the project needs.
        protected: what happens to doubtful errors, unless the context says so.
        memory: the caches of runs.
        libraries: the caches of libraries for a run's first check.
        learns: whether checks add to the caches of libraries; False if no later check can use them.
    """

    timeout: float = 120.0
    python: Path | None = None
    interpreters: Interpreters | None = field(default=None, compare=False)
    checker: CheckerName = "mypy"
    allow_silencers: bool = False
    unconfigured: Unconfigured = "advise"
    lacks_packages: bool = False
    protected: ProtectedPolicy = ProtectedPolicy.ASK
    memory: CheckerMemory = field(default_factory=CheckerMemory, repr=False, compare=False)
    libraries: LibraryMemory = field(
        default_factory=lambda: LibraryMemory(CheckerMemory()), repr=False, compare=False
    )
    learns: bool = True
    name: str = "type_check"
    category: EvaluationCategory = EvaluationCategory.COMPLIANCE
    version: str = "3"
    is_deterministic: bool = True

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Check the workspace. `output` and `phase` are not used."""
        workspace = find_workspace(self, context, "type check")
        if isinstance(workspace, EvaluationResult):
            return workspace
        try:
            base, policy = find_base(context), context.get("protected_policy", self.protected)
            try:
                return await replace(self, protected=policy)._with_packages(workspace, base, context)
            except EnvironmentTroubleError as error:
                if error.trouble.retryable:
                    return environment_trouble(self, error)
                own = own_interpreter().path
                judge = replace(self, python=own, lacks_packages=True, protected=policy)
                return _without_packages(await judge._judge(workspace, base, context), error)
        except ToolTroubleError as trouble:
            return errored(self, str(trouble), version=self.version)

    async def _with_packages(
        self, workspace: Path, base: Path | None, context: EvaluationContext
    ) -> EvaluationResult:
        """Judge with the base's releases, and if that fails, with those that the candidate asks for."""

        async def judge(*, changed: bool) -> tuple[EvaluationResult, Ready]:
            # Types of new dependencies are only read. The gate that runs tests asks about them.
            lent = interpreter_for(
                self.interpreters, self.python, base, workspace, added=True, changed=changed
            )
            async with lent as found:
                lacks = self.lacks_packages or bool(found.conceded.left_out)
                chosen = replace(self, python=found.python, lacks_packages=lacks)
                return with_interpreter(await chosen._judge(workspace, base, context), found), found

        result, found = await judge(changed=False)
        if self.protected is not ProtectedPolicy.ASK or not needs_other_releases(result, found):
            return result
        second, found = await judge(changed=True)
        return asking_about(replace(found, added=()), second) if found.changed else result

    async def _judge(
        self, workspace: Path, base: Path | None, context: EvaluationContext
    ) -> EvaluationResult:
        seconds, run_id = seconds_here_for(context, self.timeout), context.get("run_id")
        with scratch(own_python()) as scraps:
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
                known = await self._recall(run_id, place.cache, checker)
                try:
                    remember = partial(self._remember, run_id, place.cache, checker, known=known)
                    elsewhere = await asyncio.to_thread(other_settings, checker, base, workspace, _FAULTS)
                    return await self._compare(checker, tree, elsewhere, remember)
                except SettingsUnusableError as unusable:
                    if reason:
                        raise ToolTroubleError(str(unusable)) from unusable
                    reason = str(unusable)
                except ToolTroubleError as trouble:
                    if not self._advises(checker, tree):
                        raise
                    return skipped(self, f"No advice on types: {trouble}", version=self.version)

    def _advises(self, checker: TypeChecker, trees: StaticTrees) -> bool:
        return trees.base is not None and self.unconfigured == "advise" and not checker.configured

    async def _compare(
        self,
        checker: TypeChecker,
        trees: StaticTrees,
        elsewhere: OtherSettings,
        remember: Callable[[], Awaitable[None]],
    ) -> EvaluationResult:
        wanted = await asyncio.to_thread(_to_check, checker, trees)
        if not wanted and not trees.copy.faults:
            reason = f"The project's configuration ({checker.source}) selects no file for type checking"
            return skipped(self, reason, version=self.version)
        checked = await checker.check(trees.copy.path, wanted, trees.changed)
        await remember()

        found = [*checked.found, *await asyncio.to_thread(lost_in, trees, wanted)]
        if self.lacks_packages:
            found = [each for each in found if not _for_want_of_packages(each)]
        at_base = TypesAtBase(checker, trees.changed)
        comparison = await trees.compare(found, at_base.check_some)
        if comparison.new and trees.base is not None:
            # In import cycles, a checker's findings depend on which files it reads and in which order.
            comparison = await trees.compare(found, at_base.check_all)
        advises = self._advises(checker, trees)
        loose = often_broken(at_base.found, but=_FAULTS.__contains__, all_or_none=True)
        comparison = comparison.advising(lambda each: advises or loose.covers(each))
        if trees.base is not None:
            control = BaseControl(at_base.found, _FAULTS.__contains__, _WORDING.noun)
            bare = await base_has_bare_ones(trees, comparison)
            why = (trees.copy.hidden, control.why, self._lacks, bare, beside_stub(trees.copy.files))
            comparison = sorted_by_doubt(comparison, why, self.protected)
            if self.protected is not ProtectedPolicy.FAIL:
                gone = await elsewhere.why(trees, wanted, checked.found, comparison.new)
                comparison = sorted_by_doubt(comparison, [gone], self.protected)
            if not (advises or comparison.new or self.protected is ProtectedPolicy.NOTE):
                hidden = await hidden_types(checker, trees, wanted, checked.found)
                comparison = with_hidden(comparison, hidden, self.protected)
        if checked.unfinished and not (comparison.new or comparison.doubts or comparison.advice):
            raise ToolTroubleError(checked.unfinished)
        result = result_of(
            self,
            comparison,
            _WORDING if advises else replace(_WORDING, why_advice=_BROKEN_OFTEN),
            files_checked=len(wanted) - len(checked.unchecked),
            files_unchecked=list(checked.unchecked[:_LISTED]),
            configuration=checker.source,
            tool=checker.name,
            **asked(comparison, _WORDING.noun),
        )
        # With advice only, the checker is no evidence for a pass.
        return (
            result
            if comparison.new or comparison.doubts or not comparison.advice
            else result.model_copy(update={"status": EvaluationStatus.SKIPPED})
        )

    def _lacks(self, finding: Finding) -> str:
        if finding.rule in _FAULTS:
            return ""
        if self.lacks_packages:
            return "types were checked without the packages that the project needs"
        return "a type of another package is unknown here" if _for_want_of_packages(finding) else ""

    async def _recall(self, run_id: UUID | None, cache: Path | None, checker: TypeChecker) -> bool:
        """Lay out what is remembered of the run or known of libraries; tell whether there is something."""
        if cache is None or await asyncio.to_thread(cache.exists):
            return False
        kept = self.memory.recall(run_id) if run_id else None
        if kept is None and isinstance(checker, Mypy):
            kept = self.libraries.recall(checker.libraries)
        if kept:
            # Without the cache it only takes longer.
            with suppress(zipfile.BadZipFile, OSError, EOFError):
                await asyncio.to_thread(unpack, kept, cache)
        return bool(kept)

    async def _remember(
        self, run_id: UUID | None, cache: Path | None, checker: TypeChecker, *, known: bool
    ) -> None:
        if cache and run_id:
            self.memory.keep(run_id, await asyncio.to_thread(pack, cache))
        if self.learns and not known and isinstance(checker, Mypy):
            self.libraries.missed(checker.libraries, checker.learn)


def _to_check(checker: TypeChecker, trees: StaticTrees) -> list[str]:
    wanted = [name for name in trees.copy.files if checker.covers(name)]
    if trees.base is None:
        return wanted
    new = [name for name in trees.copy.files if name not in trees.base.files and checker.follows(name)]
    return [*wanted, *followed_files(trees.copy.path, wanted, new)]


def _for_want_of_packages(finding: Finding) -> bool:
    return finding.rule in _FOR_WANT_OF_PACKAGES or 'has type "Any"' in finding.message


def _without_packages(result: EvaluationResult, error: EnvironmentTroubleError) -> EvaluationResult:
    """Note on a result that the packages of the project were missing."""
    note = f"Types were checked without the packages that the project needs. {error}"
    metadata = {**result.metadata, "environment": "none", "environment_trouble": error.trouble.reason.value}
    return result.model_copy(update={"feedback": f"{result.feedback}\n{note}", "metadata": metadata})
