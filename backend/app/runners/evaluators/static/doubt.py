"""Decides when a new finding of a static tool is a question to a person instead of a proof. Pure.

A finding proves something only in a setting that fits the project. The base is the control: if it passes the
same check, a new finding is the candidate's. If the base breaks the same rule, has findings in the same file,
or has several at all, its project runs the tool in another way, or not there. Then the setting may be at
fault instead of the work. The same is true of a comment that names what it hides, in a base that has such
comments. Code that cannot be parsed, and undefined names, are faults in every setting, except for names that
are built into newer versions of Python. A module whose annotations are in a stub is checked here, where the
project's own run of the checker reads the stub alone.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.runners.evaluators.issues import issue_key
from app.runners.evaluators.static.baseline import Comparison, Finding
from app.schemas.questions import FEW_QUESTIONS, QUESTIONS, ProtectedPolicy, Question, QuestionKind

SEVERAL = 10
"""A base with this many findings that it does not silence is not kept clean in the gate's setting."""

Why = Callable[[Finding], str]
"""Returns why a finding is no proof; `""` if it is one."""

_LISTED = 5
_NEWER_NAME = re.compile(r"^Undefined name `(\w+)`\. Consider specifying `requires-python")
"""What ruff says of a name that is built into a newer version of Python than the project supports."""
_NO_ANNOTATIONS = re.compile(r"no-untyped-def|no-untyped-call|reportUnknown\w+|reportMissingParameterType")
"""Rules of mypy and pyright about functions without annotations."""


@dataclass(frozen=True, slots=True)
class BaseControl:
    """A tool's findings at the base, as the control for its findings in a candidate.

    Attributes:
        findings: of the base, in the setting of the gate.
        is_fault: returns True for a rule about a fault, which counts in every setting.
        noun: a finding of the tool, in the singular.
    """

    findings: Sequence[Finding]
    is_fault: Callable[[str], bool]
    noun: str

    def why(self, finding: Finding) -> str:
        """Return why the base's own findings cast doubt on a new one; `""` if they do not."""
        if name := newer_name(finding):
            return f"{name} is built into newer versions of Python than the oldest supported one"
        if self.is_fault(finding.rule):
            return ""
        open_ones = [each for each in self.findings if not self.is_fault(each.rule)]
        alike = sum(each.rule == finding.rule for each in open_ones)
        if alike:
            return f"the base breaks {finding.rule} itself, {_times(alike)}"
        beside = sum(each.file == finding.file for each in open_ones)
        if beside:
            return f"this file has {_plural(beside, self.noun)} at the base"
        if len(open_ones) >= SEVERAL:
            return f"the base has {_plural(len(open_ones), self.noun)} itself"
        return ""


def beside_stub(files: Collection[str]) -> Why:
    """Return what doubts that a module with a stub lacks annotations: the stub gives them.

    A checker reads the stub instead of the module, unless the module is named on its command line.

    Args:
        files: the Python files and stubs of the candidate.
    """

    def why(finding: Finding) -> str:
        stub = f"{finding.file}i"
        is_about_annotations = _NO_ANNOTATIONS.fullmatch(finding.rule) is not None
        return f"the annotations are in {stub}" if is_about_annotations and stub in files else ""

    return why


def newer_name(finding: Finding) -> str:
    """Return the name that only newer versions of Python have; `""` if a finding is about something else."""
    found = _NEWER_NAME.match(finding.message)
    return found.group(1) if found else ""


def sorted_by_doubt(comparison: Comparison, why: Iterable[Why], policy: ProtectedPolicy) -> Comparison:
    """Separate the new findings that are no proof.

    Args:
        comparison: with the base.
        why: each returns why a finding is no proof; the first answer counts.
        policy: with *fail* every finding counts, with *note* doubtful ones advise.
    """
    if policy is ProtectedPolicy.FAIL or not comparison.new:
        return comparison
    asked = list(why)
    doubts = {each: found for each in comparison.new if (found := _first(asked, each))}
    left = tuple(each for each in comparison.new if each not in doubts)
    if policy is ProtectedPolicy.NOTE:
        return replace(comparison, new=left, advice=(*comparison.advice, *doubts))
    return replace(comparison, new=left, doubts={**comparison.doubts, **doubts})


def asked(comparison: Comparison, noun: str) -> dict[str, Any]:
    """Return metadata for a result that asks a question for each file with doubtful findings, or one for all.

    Nothing is asked if other findings count anyway.
    """
    doubts = comparison.doubts
    if comparison.new or not doubts:
        return {}
    files = dict.fromkeys(each.file for each in doubts)
    groups = {name: [each for each in doubts if each.file == name] for name in files}
    if len(groups) > FEW_QUESTIONS:
        groups = {f"{len(groups)} files": list(doubts)}
    questions = [_about(name, found, comparison, noun) for name, found in groups.items()]
    return {QUESTIONS: [each.model_dump(mode="json") for each in questions]}


def _about(name: str, found: Sequence[Finding], comparison: Comparison, noun: str) -> Question:
    files = {each.file for each in found}
    rules = _listed(dict.fromkeys(each.rule for each in found))
    holder = f"`{name}` has" if name in files else f"{name} have"
    text = f"{holder} {_plural(len(found), f'new {noun}')} ({rules}): may that stay?"
    return Question.about(
        name,
        QuestionKind.DOUBTFUL,
        text,
        why=_listed(dict.fromkeys(comparison.doubts[each] for each in found)),
        before=_lines(each for each in comparison.known if each.file in files),
        after=_lines(found),
    )


def _lines(findings: Iterable[Finding]) -> str:
    """Format findings as lines that stay the same if only line numbers change."""
    listed = list(findings)
    is_one_file = len({each.file for each in listed}) == 1
    places = ["" if is_one_file else f"{each.file}: " for each in listed]
    lines = [f"{each.rule} {issue_key(each.message)}" for each in listed]
    return "\n".join(f"{place}{line}" for place, line in zip(places, lines, strict=True))


def _first(why: Sequence[Why], finding: Finding) -> str:
    return next((found for each in why if (found := each(finding))), "")


def _listed(texts: Collection[str]) -> str:
    shown = list(texts)[:_LISTED]
    more = f" and {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
    return f"{'; '.join(shown) if any(' ' in each for each in shown) else ', '.join(shown)}{more}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
