"""Evaluates directories of a repository, each as a separate project."""

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

from app.runners.evaluators.protocol import (
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    EvaluationStatus,
    Evaluator,
    errored,
)
from app.runners.evaluators.tooling import ToolTroubleError, find_base, find_workspace
from app.schemas.questions import QUESTIONS
from app.workspaces.files.origin import origin_of, write_origin

_PATH = re.compile(r"(?<![\w/.\\-])[\w.-]+(?:/[\w.-]+)*")
_SOURCES = frozenset({"before", "after", "diff", "key"})
"""Members of a result that hold sources or digests. Paths in them are not adjusted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InDirectories:
    """Judges each directory as if it were the project, and combines the results into one.

    The result fails if one directory fails. Otherwise it is errored if one directory got no verdict.

    Attributes:
        inner: judges one directory.
        directories: POSIX paths below the project's root.
    """

    inner: Evaluator
    directories: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the inner evaluator."""
        return self.inner.name

    @property
    def category(self) -> EvaluationCategory:
        """The category of the inner evaluator."""
        return self.inner.category

    @property
    def is_deterministic(self) -> bool:
        """True if the inner evaluator is a tool."""
        return self.inner.is_deterministic

    @property
    def version(self) -> str:
        """The version of the inner evaluator's rules."""
        return str(getattr(self.inner, "version", "1"))

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Judge every directory of the workspace, one after the other."""
        workspace = find_workspace(self, context, "judge")
        if isinstance(workspace, EvaluationResult):
            return workspace
        try:
            base = find_base(context)
        except ToolTroubleError as trouble:
            return errored(self, str(trouble), version=self.version)
        results: dict[str, EvaluationResult] = {}
        for each in self.directories:
            made = await asyncio.to_thread(_places, workspace, base, each)
            if isinstance(made, str):
                results[each] = self._without(each, made, base)
                continue
            inside = _context_in(context, each, *made)
            found = await self.inner.evaluate(phase, output, inside)
            trees = [tree for tree in (workspace, base) if tree is not None]
            results[each] = await asyncio.to_thread(partial(_seen_from_above, found, each, trees))
        return _merged(self, results)

    def _without(self, directory: str, trouble: str, base: Path | None) -> EvaluationResult:
        if base is not None and not (base / directory).is_dir():
            return errored(self, f"The base has no directory {directory}", version=self.version)
        return EvaluationResult(
            evaluator_name=self.name,
            category=self.category,
            passed=False,
            feedback=trouble,
            suggestions=[f"Restore {directory}"],
            evaluator_version=self.version,
        )


def _places(workspace: Path, base: Path | None, directory: str) -> tuple[Path, Path | None] | str:
    """Return a directory in both trees, or the reason why the candidate has none."""
    inside = workspace / directory
    if not inside.is_dir() or not inside.resolve().is_relative_to(workspace.resolve()):
        return f"The directory {directory} is gone, or leads out of the project"
    if base is None:
        return inside, None
    at_base = base / directory
    if not at_base.is_dir():
        return f"The base has no directory {directory}"
    write_origin(at_base, origin_of(base))
    return inside, at_base


def _context_in(
    context: EvaluationContext, directory: str, workspace: Path, base: Path | None
) -> EvaluationContext:
    made: EvaluationContext = {
        **context,
        "workspace_ref": str(workspace),
        "base_ref": str(base) if base else None,
        "open_paths": _globs_in(context.get("open_paths", []), directory),
        "protected_paths": _globs_in(context.get("protected_paths", []), directory),
        "goal_tests": _globs_in(context.get("goal_tests", []), directory),
        "known_failures": _globs_in(context.get("known_failures", []), directory),
    }
    # The baseline was measured at the root, where other tests are found.
    made.pop("baseline", None)
    return made


def _globs_in(globs: Sequence[str], directory: str) -> list[str]:
    """Return the globs that match below a directory, relative to it."""
    start = f"{directory}/"
    found: list[str] = []
    for each in globs:
        if each.startswith(start):
            found.append(each.removeprefix(start))
        elif start.startswith(f"{each.rstrip('/')}/"):
            found.append("*")
        elif each.startswith("*"):
            found.append(each)
    return found


def _seen_from_above(result: EvaluationResult, directory: str, trees: Sequence[Path]) -> EvaluationResult:
    """Return a result with paths relative to the project's root."""

    def above(found: re.Match[str]) -> str:
        path = found[0].rstrip(".")
        is_there = "." in path and any(os.path.isfile(tree / directory / path) for tree in trees)
        return f"{directory}/{found[0]}" if is_there else found[0]

    def seen(value: object) -> object:
        match value:
            case str():
                return _PATH.sub(above, value)
            case dict():
                items = cast("dict[str, object]", value).items()
                return {name: each if name in _SOURCES else seen(each) for name, each in items}
            case list() | tuple():
                return [seen(each) for each in cast("Sequence[object]", value)]
            case _:
                return value

    told = result.model_dump(include={"feedback", "criteria", "suggestions", "metadata"})
    return EvaluationResult.model_validate({**result.model_dump(), **cast("dict[str, Any]", seen(told))})


def _merged(evaluator: InDirectories, results: Mapping[str, EvaluationResult]) -> EvaluationResult:
    every = list(results.values())
    status = _status(every)
    counted = [each for each in every if each.status is not EvaluationStatus.SKIPPED] or every
    mean = sum(each.score for each in counted) / len(counted)
    milliseconds = [each.duration_ms for each in every if each.duration_ms is not None]
    return EvaluationResult(
        evaluator_name=evaluator.name,
        category=evaluator.category,
        passed=status in (EvaluationStatus.PASSED, EvaluationStatus.SKIPPED),
        status=status,
        score=mean,
        feedback="\n".join(f"In {name}: {each.feedback}" for name, each in results.items()),
        criteria=[
            each.model_copy(update={"criterion": f"{name}: {each.criterion}"})
            for name, result in results.items()
            for each in result.criteria
        ],
        suggestions=[each for result in every for each in result.suggestions],
        metadata=_metadata(every, status),
        evaluator_version=evaluator.version,
        duration_ms=sum(milliseconds) if milliseconds else None,
    )


def _status(results: Sequence[EvaluationResult]) -> EvaluationStatus:
    states = {each.status for each in results}
    if any(each.status is EvaluationStatus.FAILED and not each.questions for each in results):
        return EvaluationStatus.FAILED
    ranked = (EvaluationStatus.ERRORED, EvaluationStatus.FAILED, EvaluationStatus.PASSED)
    return next((each for each in ranked if each in states), EvaluationStatus.SKIPPED)


def _metadata(results: Sequence[EvaluationResult], status: EvaluationStatus) -> dict[str, Any]:
    """Add up counts and join lists. For other members, use the first directory that supports the verdict."""
    made: dict[str, Any] = {}
    for each in sorted(results, key=lambda result: result.status is not status):
        for name, value in each.metadata.items():
            if name not in made:
                made[name] = value
            elif type(value) is int and type(made[name]) is int:
                made[name] += value
            elif isinstance(value, list) and isinstance(made[name], list):
                made[name] = [*made[name], *cast("list[object]", value)]
    fails_anyhow = any(each.status is EvaluationStatus.FAILED and not each.questions for each in results)
    if fails_anyhow or status is not EvaluationStatus.FAILED:
        made.pop(QUESTIONS, None)
    return made
