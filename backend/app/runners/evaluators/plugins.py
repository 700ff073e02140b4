"""Loads evaluators of other packages that the operator names, by their entry points."""

import re
from collections.abc import Iterable, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from app.runners.evaluators.project.project_file import did_you_mean
from app.runners.evaluators.protocol import EvaluationCategory, Evaluator
from app.runners.evaluators.registrations import EvaluatorRegistry, Registration
from app.runners.evaluators.registry import MODEL_EVALUATORS

GROUP = "phaserunner.evaluators"
EVERY = "*"

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


class PluginError(Exception):
    """An evaluator of another package cannot be used. The message names the package."""


def load_plugins(names: Sequence[str], found: Iterable[EntryPoint] | None = None) -> list[Registration]:
    """Load the named evaluators, in that order. `*` stands for every installed one.

    An entry point is a function without arguments. It returns an evaluator, which then advises in every
    phase, or a `Registration` with more details.

    Args:
        names: names of entry points.
        found: the entry points; None means those of all installed packages.

    Raises:
        PluginError: a name is missing or occurs twice, or its entry point does not return an evaluator.
    """
    if not names:
        return []
    every = sorted(entry_points(group=GROUP) if found is None else found, key=lambda each: each.name)
    wanted = list(dict.fromkeys(each.name for each in every)) if EVERY in names else list(names)
    return [_load(_only(name, every)) for name in dict.fromkeys(wanted)]


def add_plugins(
    registry: EvaluatorRegistry, names: Sequence[str], found: Iterable[EntryPoint] | None = None
) -> None:
    """Load the named evaluators and register them.

    Raises:
        PluginError: one cannot be used, or its name is taken.
    """
    for added in load_plugins(names, found):
        if added.evaluator.name in registry.names() | MODEL_EVALUATORS:
            raise PluginError(f"{added.source}: the name {added.evaluator.name!r} is taken")
        registry.add(added)


def _only(name: str, found: Sequence[EntryPoint]) -> EntryPoint:
    matching = [each for each in found if each.name == name]
    if not matching:
        known = [each.name for each in found]
        hint = did_you_mean(name, known) or f"; there are: {', '.join(known) or 'none'}"
        raise PluginError(f"no installed package provides an evaluator {name!r}{hint}")
    if len({_package(each) for each in matching}) > 1:
        packages = " and ".join(sorted(_package(each) for each in matching))
        raise PluginError(f"{packages} both provide an evaluator {name!r}; uninstall one")
    return matching[0]


def _load(entry: EntryPoint) -> Registration:
    package = _package(entry)
    try:
        factory = entry.load()
        made = cast("object", factory())
    except Exception as error:
        raise PluginError(
            f"{package}: evaluator {entry.name!r} cannot be loaded: {type(error).__name__}: {error}"
        ) from error
    given = (
        made if isinstance(made, Registration) else Registration(cast("Evaluator", made), None, gate=False)
    )
    if complaint := _complaint(given.evaluator, given.phases):
        raise PluginError(f"{package}: evaluator {entry.name!r} {complaint}")
    return Registration(given.evaluator, given.phases, given.gate, package)


def _complaint(evaluator: object, phases: tuple[str, ...] | None) -> str:
    if not isinstance(evaluator, Evaluator):
        return f"returned {type(evaluator).__name__}, which is not an evaluator"
    name, category = cast("object", evaluator.name), cast("object", evaluator.category)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return f"has the name {name!r}; use lower-case letters, digits and _"
    if category not in set(EvaluationCategory):
        return f"has the category {category!r}; choose one of: {', '.join(EvaluationCategory)}"
    if phases is not None and not phases:
        return "is registered for no phase; None means every phase"
    return ""


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"
