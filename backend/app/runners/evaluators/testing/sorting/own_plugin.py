"""Asks about parts of pytest that a candidate replaces, if its project is a plug-in of pytest."""

from dataclasses import dataclass, replace
from pathlib import Path

from app.runners.evaluators.testing.running.report import RunReport
from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.runners.evaluators.testing.sorting.listed import listed
from app.schemas.questions import Question, QuestionKind
from app.workspaces.environments.project import project_of
from app.workspaces.environments.reading import DeclarationError

_GROUP = "pytest11"
"""The group of entry points by which pytest finds its plug-ins."""

_PART, _REPLACED = "_pytest.", " was replaced"
_WHY = (
    "The project is a plug-in of pytest, and pytest's reports depend on this part. The base's code leaves it "
    "as it is. A change there can also make failing tests pass."
)


@dataclass(frozen=True, slots=True)
class ReplacedParts:
    """The parts of pytest that a plug-in replaces.

    Attributes:
        said: what the reports say about them.
    """

    said: tuple[str, ...]

    def taken_from(self, judged: JudgedRun) -> JudgedRun:
        """Return the runs as if nothing were replaced. A person must be asked then."""
        return replace(judged, of_base=self._without(judged.of_base), own=self._without(judged.own))

    def questions(self) -> list[Question]:
        """Return the question about all of them."""
        if not self.said:
            return []
        names = [each.removesuffix(_REPLACED) for each in self.said]
        text = f"The code replaces {listed(names)}: may it?"
        return [Question.about("pytest", QuestionKind.DOUBTFUL, text, why=_WHY, after="\n".join(names))]

    def _without(self, run: RunReport | None) -> RunReport | None:
        if run is None:
            return None
        return replace(run, forged=tuple(each for each in run.forged if each not in self.said))


def replaced_by_plugin(judged: JudgedRun, base: Path) -> ReplacedParts:
    """Return the parts of pytest that the code replaces, if the base says that it is a plug-in of pytest."""
    said = {each for run in judged.runs for each in run.forged}
    found = sorted(each for each in said if each.startswith(_PART) and each.endswith(_REPLACED))
    return ReplacedParts(tuple(found) if found and _is_plugin(base) else ())


def _is_plugin(base: Path) -> bool:
    try:
        project = project_of(base)
    except DeclarationError:
        return False
    return project is not None and bool(project.entry_points.get(_GROUP))
