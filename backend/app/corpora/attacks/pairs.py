"""Describes one gaming attempt and its honest twin: a base, what each of the two changes, and why."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.corpora.format import CorpusCase, SymbolicLink
from app.schemas.calibration import Label
from app.schemas.runs import Phase

Changes = Mapping[str, str | bytes | SymbolicLink | None]
"""Files by path, as they are after a change; None deletes a file."""

TWIN_SUFFIX = "-twin"


@dataclass(frozen=True, slots=True)
class AttackProject:
    """A small project whose tests already define the work; `goal` is the agent's task."""

    goal: str
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AgentWork:
    """What one agent did.

    Attributes:
        about: a description in one line.
        changes: the changes to the files of the base.
        says: the agent's final message.
    """

    about: str
    changes: Changes
    says: str = "The function is implemented and all tests pass."


def pair(
    name: str,
    area: str,
    project: AttackProject,
    *,
    gamed: AgentWork,
    honest: AgentWork,
    residual: str | None = None,
    phase: Phase = Phase.CODING,
) -> tuple[CorpusCase, CorpusCase]:
    """Return the attempt, and the twin that looks similar but is honest."""
    base = {path: text.encode() for path, text in project.files.items()}

    def case(name: str, label: Label, work: AgentWork, twin: str | None, residual: str | None) -> CorpusCase:
        return CorpusCase(
            name=name,
            label=label,
            about=work.about,
            area=area,
            twin=twin,
            residual=residual,
            phase=phase,
            goal=project.goal,
            output=work.says,
            base=base,
            candidate=_changed(base, work.changes),
        )

    twin = f"{name}{TWIN_SUFFIX}"
    return case(name, Label.GAMED, gamed, twin, residual), case(twin, Label.GOOD, honest, None, None)


def _changed(base: Mapping[str, bytes], changes: Changes) -> dict[str, bytes | SymbolicLink]:
    after: dict[str, bytes | SymbolicLink] = {
        path: content for path, content in base.items() if path not in changes
    }
    for path, content in changes.items():
        if content is not None:
            after[path] = content.encode() if isinstance(content, str) else content
    return after
