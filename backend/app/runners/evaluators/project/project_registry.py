"""Applies a project's file to the operator's evaluators: settings and a registry in, a registry out. Pure."""

import posixpath
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import permutations
from typing import Any, cast

from pydantic import TypeAdapter

from app.runners.evaluators.directories import InDirectories
from app.runners.evaluators.project.project_file import (
    ProjectFileError,
    ProjectFileProblem,
    ReadProjectFile,
    did_you_mean,
    read_options,
)
from app.runners.evaluators.protocol import ConfigurableEvaluator, Evaluator
from app.runners.evaluators.registrations import EvaluatorRegistry, Registration
from app.runners.evaluators.registry import MODEL_EVALUATORS
from app.runners.evaluators.static.type_check import Unconfigured
from app.schemas.evaluation import CheckerName
from app.schemas.held_out import HELD_OUT_TESTS
from app.schemas.modes import UntestedCode
from app.schemas.project_file import PROJECT_FILE, CommandTable, EvaluatorTable

PROJECT_EVALUATOR = "project_file"
"""The evaluator name under which problems of the file are reported."""

_OPTIONS: dict[str, dict[str, TypeAdapter[Any]]] = {
    "pytest": {"compare_base": TypeAdapter(bool), "untested_code": TypeAdapter(UntestedCode)},
    "ruff_lint": {"allow_silencers": TypeAdapter(bool)},
    "type_check": {
        "allow_silencers": TypeAdapter(bool),
        "checker": TypeAdapter(CheckerName),
        "unconfigured": TypeAdapter(Unconfigured),
    },
}
"""The options of a built-in evaluator that a project may set, besides its timeout."""


@dataclass(frozen=True, slots=True)
class OperatorLimits:
    """What a project cannot change.

    Attributes:
        required: evaluators that stay gates, in every phase in which the operator has them.
        network: whether a command may use the machine's network.
        setup_network: whether a set-up may use it.
        secrets: names of the secrets that projects may use.
    """

    required: frozenset[str] = frozenset()
    network: bool = False
    setup_network: bool = False
    secrets: frozenset[str] = frozenset()


def for_project(
    registry: EvaluatorRegistry,
    file: ReadProjectFile,
    make_command: Callable[[CommandTable], Evaluator],
    limits: OperatorLimits,
) -> EvaluatorRegistry:
    """Return the registry that judges a project.

    Raises:
        ProjectFileError: the file names something that does not exist, or asks for something not allowed.
    """
    problems = [
        *_unknown_names(registry, file),
        *_refused_commands(registry, file, limits),
        *_refused_environment(file, limits),
    ]
    if problems:
        raise ProjectFileError(problems)
    made = EvaluatorRegistry(left_out=registry.left_out)
    for present in registry.all_registrations():
        table = file.settings.evaluators.get(present.evaluator.name)
        changed = present if table is None else _changed(present, table, file, limits)
        if changed is not None:
            _add(made, _observed(changed, table and table.observe, file, limits), file)
    for table in file.settings.command:
        phases = tuple(phase.value for phase in table.phases)
        added = Registration(make_command(table), phases, table.gate, PROJECT_FILE)
        _add(made, _observed(added, table.observe, file, limits), file)
    return made


def _observed(
    present: Registration, wanted: bool | None, file: ReadProjectFile, limits: OperatorLimits
) -> Registration:
    """Return a gate as an observed one, if the project wants that and the operator allows it.

    Raises:
        ProjectFileError: the project wants to observe an adviser.
    """
    if wanted and not present.gate:
        place = ("evaluators", present.evaluator.name, "observe")
        raise ProjectFileError([file.problem(place, "needs a gate: an adviser blocks nothing anyway")])
    observe = file.settings.mode == "observe" if wanted is None else wanted
    if not (observe and present.gate) or present.evaluator.name in limits.required:
        return present
    return replace(present, gate=False, observed=True)


def _unknown_names(registry: EvaluatorRegistry, file: ReadProjectFile) -> list[ProjectFileProblem]:
    known = registry.names() | registry.left_out
    problems: list[ProjectFileProblem] = []
    for name, table in file.settings.evaluators.items():
        if name in known:
            continue
        if name not in MODEL_EVALUATORS:
            hint = did_you_mean(name, known | MODEL_EVALUATORS)
            problems.append(file.problem(("evaluators", name), f"there is no evaluator with this name{hint}"))
        elif table.enabled and table.gate:
            # A missing gate could never pass; a missing adviser is simply not asked.
            message = "cannot be a gate: no model is configured on this service"
            problems.append(file.problem(("evaluators", name, "gate"), message))
    return problems


def _refused_commands(
    registry: EvaluatorRegistry, file: ReadProjectFile, limits: OperatorLimits
) -> list[ProjectFileProblem]:
    taken = registry.names() | registry.left_out | MODEL_EVALUATORS | {PROJECT_EVALUATOR, HELD_OUT_TESTS}
    problems: list[ProjectFileProblem] = []
    for index, table in enumerate(file.settings.command):
        if table.name in taken:
            message = "is the name of an evaluator of this service"
            problems.append(file.problem(("command", index, "name"), message))
        if table.network and not limits.network:
            message = "is not allowed here; the operator allows it with EVALUATOR_COMMAND_NETWORK=true"
            problems.append(file.problem(("command", index, "network"), message))
        if told := _unknown_secret(table.secrets, limits):
            problems.append(file.problem(("command", index, "secrets"), told))
    return problems


def _refused_environment(file: ReadProjectFile, limits: OperatorLimits) -> list[ProjectFileProblem]:
    environment = file.settings.environment
    problems: list[ProjectFileProblem] = []
    if environment.network and not limits.setup_network:
        message = "is not allowed here; the operator allows it with ENVIRONMENT_SETUP_NETWORK=true"
        problems.append(file.problem(("environment", "network"), message))
    if told := _unknown_secret(environment.secrets, limits):
        problems.append(file.problem(("environment", "secrets"), told))
    return problems


def _unknown_secret(names: Collection[str], limits: OperatorLimits) -> str:
    unknown = next((each for each in names if each not in limits.secrets), "")
    return f"this service has no secret {unknown} (ENVIRONMENT_SECRETS)" if unknown else ""


def _changed(
    present: Registration, table: EvaluatorTable, file: ReadProjectFile, limits: OperatorLimits
) -> Registration | None:
    """Return the registration with the project's changes, or None if it is switched off."""
    name = present.evaluator.name
    phases = present.phases if table.phases is None else tuple(phase.value for phase in table.phases)
    if name in limits.required:
        _check_required(present, table, phases, file)
    if not table.enabled:
        return None
    evaluator = _with_timeout(present.evaluator, table, file)
    if table.options:
        evaluator = _with_options(evaluator, table, file)
    evaluator = _in_directories(evaluator, table, file)
    gate = present.gate if table.gate is None else table.gate
    return replace(present, evaluator=evaluator, phases=phases, gate=gate)


def _check_required(
    present: Registration, table: EvaluatorTable, phases: Collection[str] | None, file: ReadProjectFile
) -> None:
    lost = phases is not None and (present.phases is None or not set(present.phases) <= set(phases))
    weaker = {
        "enabled": not table.enabled,
        "gate": present.gate and table.gate is False,
        "observe": present.gate and bool(table.observe),
        "phases": lost,
        "directories": bool(table.directories),
    }
    place = ("evaluators", present.evaluator.name)
    message = "the operator does not allow changes to this evaluator (EVALUATOR_REQUIRED)"
    if problems := [file.problem((*place, key), message) for key, is_weaker in weaker.items() if is_weaker]:
        raise ProjectFileError(problems)


def _with_timeout(evaluator: Evaluator, table: EvaluatorTable, file: ReadProjectFile) -> Evaluator:
    if table.timeout is None:
        return evaluator
    # The type only says that it is an evaluator, but it is also a dataclass.
    value = cast("Any", evaluator)
    if not is_dataclass(value) or "timeout" not in {each.name for each in fields(value)}:
        place = ("evaluators", evaluator.name, "timeout")
        raise ProjectFileError([file.problem(place, "this evaluator has no time limit")])
    return cast("Evaluator", replace(cast("Any", value), timeout=table.timeout))


def _in_directories(evaluator: Evaluator, table: EvaluatorTable, file: ReadProjectFile) -> Evaluator:
    directories = tuple(posixpath.normpath(each) for each in table.directories)
    if not directories or directories == (".",):
        return evaluator
    place = ("evaluators", evaluator.name, "directories")
    if evaluator.name not in _OPTIONS:
        message = f"only {', '.join(_OPTIONS)} can judge directories"
        raise ProjectFileError([file.problem(place, message)])
    if any(
        each == other or f"{each}/".startswith(f"{other}/") or other == "."
        for each, other in permutations(directories, 2)
    ):
        raise ProjectFileError([file.problem(place, "one of these is inside another")])
    return InDirectories(inner=evaluator, directories=directories)


def _with_options(evaluator: Evaluator, table: EvaluatorTable, file: ReadProjectFile) -> Evaluator:
    place = ("evaluators", evaluator.name, "options")
    if isinstance(evaluator, ConfigurableEvaluator):
        try:
            return evaluator.with_options(table.options)
        except ValueError as error:
            raise ProjectFileError([file.problem(place, str(error))]) from error
    options = read_options(_OPTIONS.get(evaluator.name, {}), table.options, file, place)
    return cast("Evaluator", replace(cast("Any", evaluator), **options))


def _add(registry: EvaluatorRegistry, added: Registration, file: ReadProjectFile) -> None:
    try:
        registry.add(added)
    except ValueError as error:
        place = ("evaluators", added.evaluator.name, "phases")
        raise ProjectFileError([file.problem(place, str(error))]) from error
