"""Decides by trial runs which gates a project gets, and writes its phaserunner.toml. Pure."""

import json
import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import Any, cast

from app.runners.evaluators.protocol import EvaluationResult, EvaluationStatus
from app.schemas.project_file import MAX_COMMANDS, PROJECT_FILE
from app.schemas.project_values import MAX_SECONDS
from app.services.local.gate_candidates import GateCandidate, ProjectFiles

_LEAST_SECONDS = 120
_TIMES = 4
_WORDS = 160


class Part(StrEnum):
    """What a candidate becomes: a gate, an adviser, or nothing."""

    GATE = "gate"
    ADVISES = "advises"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate after its trial runs.

    Attributes:
        candidate: the gate that ran.
        part: what it becomes.
        seconds: the median duration of its runs.
        remark: an observation, on one line.
    """

    candidate: GateCandidate
    part: Part
    seconds: float
    remark: str


def tried(candidate: GateCandidate, results: Sequence[EvaluationResult]) -> Tried:
    """Decide by a candidate's runs at the base what it becomes.

    A built-in evaluator that fails there stays a gate, because findings that the base already has do not
    count against a change. A command that fails would fail every change, so it only advises.
    """
    if not results:
        return Tried(candidate, Part.OFF, 0.0, "it did not run")
    seconds = median((each.duration_ms or 0) / 1000 for each in results)
    states = {each.status for each in results}
    told = " ".join(results[-1].feedback.split())[:_WORDS]
    if EvaluationStatus.ERRORED in states:
        broken = next(each for each in results if each.status is EvaluationStatus.ERRORED)
        return Tried(
            candidate,
            Part.OFF,
            seconds,
            f"no verdict at the base: {' '.join(broken.feedback.split())[:_WORDS]}",
        )
    if len(states) > 1:
        return Tried(candidate, Part.ADVISES, seconds, f"flaky at the base in {len(results)} runs")
    if states == {EvaluationStatus.SKIPPED}:
        return Tried(candidate, Part.GATE, seconds, f"nothing to check at the base: {told}")
    if states == {EvaluationStatus.FAILED}:
        part = Part.ADVISES if candidate.is_command else Part.GATE
        return Tried(candidate, part, seconds, f"red at the base: {told}")
    return Tried(candidate, Part.GATE, seconds, "")


def trial_file(candidates: Sequence[GateCandidate]) -> str:
    """Return the project file for the trial runs of the candidates."""
    parts = [
        _command(each, Part.GATE, 600)
        if each.is_command
        else f"[evaluators.{each.name}]\n{_directories(each)}\n"
        for each in candidates
        if each.is_command or each.directories
    ]
    return "\n".join(parts)


def project_file(every: Sequence[Tried]) -> str:
    """Return the text of the project file."""
    parts = [
        "# Written by `phaserunner init`. `phaserunner init --check` shows what has changed since then.\n"
    ]
    for each in every:
        name = each.candidate.name
        took = f"# {name}: {each.seconds:.1f} s at the base" + (
            f"; {_plain(each.remark)}" if each.remark else ""
        )
        if each.candidate.is_command and each.part is not Part.OFF:
            limit = min(MAX_SECONDS, max(_LEAST_SECONDS, math.ceil(each.seconds * _TIMES)))
            parts.append(f"{took}\n{_command(each.candidate, each.part, int(limit))}")
        elif each.candidate.is_command or (each.part is Part.GATE and not each.candidate.directories):
            parts.append(f"{took}\n")
        else:
            setting = {Part.OFF: "enabled = false", Part.ADVISES: "gate = false", Part.GATE: ""}[each.part]
            lines = [setting, _directories(each.candidate) if each.part is not Part.OFF else ""]
            table = "\n".join(line for line in lines if line)
            parts.append(f"{took}\n[evaluators.{name}]\n{table}\n")
    return "\n".join(parts)


def summary(project: ProjectFiles, every: Sequence[Tried]) -> list[str]:
    """Say in four lines what is judged and what is not."""
    listed = ", ".join(f"{name} ({count} files)" for name, count in project.languages.items())
    covered = {each.candidate.language for each in every if each.part is not Part.OFF}
    off = [f"{_name(each)} ({each.remark})" for each in every if each.part is Part.OFF]
    off += [f"{name} (no gate is known)" for name in project.languages if name not in covered]
    off += [f"{name} (the file holds {MAX_COMMANDS} commands at most)" for name in project.beyond]
    places = f"; projects in {', '.join(project.places)}" if project.places else ""
    return [
        f"Languages: {listed or 'none is known'}{places}",
        f"Gates: {_named(every, Part.GATE) or 'none'}",
        f"Only advise: {_named(every, Part.ADVISES) or 'none'}",
        f"Not judged: {', '.join(off) or 'none'}",
    ]


def differences(existing: str, every: Sequence[Tried]) -> list[str]:
    """List how a project's file differs from a newly written one.

    Settings that only the existing file has are left out.

    Raises:
        ValueError: the existing file is not TOML.
    """
    document = tomllib.loads(existing)
    now, new = _parts(document, every), _parts(tomllib.loads(project_file(every)), every)
    places = _places(document, every)
    found: list[str] = []
    for each in every:
        name = each.candidate.name
        if (
            each.part is not Part.OFF
            and now[name] == new[name]
            and places[name] != each.candidate.directories
        ):
            said, wanted = _words(places[name]), _words(each.candidate.directories)
            found.append(f"{name}: the file says {said}, the base has it in {wanted}")
        if now[name] != new[name]:
            because = f" ({each.remark})" if each.remark else ""
            found.append(f"{name}: the file says {now[name].value}, the base says {new[name].value}{because}")
    return found


def _tables_of(document: dict[str, Any], every: Sequence[Tried]) -> dict[str, object]:
    """Return a file's table for each candidate, by name."""
    commands = {each["name"]: each for each in _tables(document.get("command"))}
    evaluators = cast("dict[str, Any]", document.get("evaluators") or {})
    return {
        each.candidate.name: commands.get(each.candidate.name)
        if each.candidate.is_command
        else evaluators.get(each.candidate.name, {})
        for each in every
    }


def _places(document: dict[str, Any], every: Sequence[Tried]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, table in _tables_of(document, every).items():
        settings = cast("dict[str, Any]", table) if isinstance(table, dict) else {}
        directory = settings.get("working_directory")
        named = [directory] if directory else settings.get("directories") or []
        found[name] = tuple(map(str, cast("list[object]", named))) if isinstance(named, list) else ()
    return found


def _words(directories: Sequence[str]) -> str:
    return ", ".join(directories) or "the root"


def _parts(document: dict[str, Any], every: Sequence[Tried]) -> dict[str, Part]:
    return {name: _part(table) for name, table in _tables_of(document, every).items()}


def _part(table: object) -> Part:
    if not isinstance(table, dict):
        return Part.OFF
    settings = cast("dict[str, Any]", table)
    if settings.get("enabled") is False:
        return Part.OFF
    return Part.ADVISES if settings.get("gate") is False else Part.GATE


def _tables(value: object) -> list[dict[str, Any]]:
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", each) for each in listed if isinstance(each, dict) and "name" in each]


def _command(candidate: GateCandidate, part: Part, seconds: int) -> str:
    lines = [
        "[[command]]",
        f"name = {json.dumps(candidate.name)}",
        f"preset = {json.dumps(candidate.preset)}"
        if candidate.preset
        else f"run = {json.dumps(list(candidate.run))}",
        f"category = {json.dumps(candidate.category)}",
        f"timeout = {seconds}",
        *(f"working_directory = {json.dumps(each)}" for each in candidate.directories),
    ]
    lines += ["gate = false"] if part is Part.ADVISES else []
    return "\n".join(lines) + "\n"


def _directories(candidate: GateCandidate) -> str:
    return f"directories = {json.dumps(list(candidate.directories))}" if candidate.directories else ""


def _name(each: Tried) -> str:
    places = f" in {', '.join(each.candidate.directories)}" if each.candidate.directories else ""
    return f"{each.candidate.name}{places}"


def _named(every: Sequence[Tried], part: Part) -> str:
    return ", ".join(
        f"{_name(each)} ({each.seconds:.1f} s{'; ' + each.remark if each.remark else ''})"
        for each in every
        if each.part is part
    )


def _plain(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text)


CHECK_HINT = f"Commit {PROJECT_FILE}: it counts for changes that have it at their base."
"""The last line of output after the file is written."""
