"""Findings of static tools: only findings that the base does not have count against a candidate."""

import posixpath
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.runners.evaluators.issues import issue_key
from app.runners.evaluators.protocol import CriterionResult, EvaluationResult, Evaluator

SCORE_PER_FINDING = 0.1
MAX_SUGGESTIONS = 5
MANY = 10
"""A base that breaks a rule in this many places, in several files or in one, does not follow it."""
MANY_IN_FILE = 5
"""A file with this many type errors at the base, whatever their rules, was not checked as it is here."""
MANY_IN_ALL = 50
"""A base with this many findings, in several files, does not follow the tool."""
INVALID_SYNTAX = "invalid-syntax"
"""The rule of a file that cannot be parsed."""
UNDEFINED_NAME = "F821"
"""Ruff's rule for a name that nothing defines."""

_SEVERAL_FILES = 3
_FAULTS_OF_DATA = {INVALID_SYNTAX: _SEVERAL_FILES, UNDEFINED_NAME: MANY}
"""Faults that data for tests of tools has, and in how many files of a directory they show such data."""
_LISTED = 15
_RECORDED = 50
_MESSAGE_CHARS = 300


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One complaint of a static tool. `file` is a POSIX path relative to the tree, `line` counts from 1."""

    file: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule} {self.message[:_MESSAGE_CHARS]}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Findings of a candidate.

    Attributes:
        new: those that count against it.
        known: those that the base has, too.
        advice: new ones that decide nothing, because the project does not follow their rules.
        doubts: new ones for a person to decide, with the reason why they are no proof.
    """

    new: tuple[Finding, ...]
    known: tuple[Finding, ...]
    advice: tuple[Finding, ...] = ()
    doubts: Mapping[Finding, str] = field(default_factory=dict[Finding, str])

    def advising(self, rules: Callable[[Finding], bool]) -> "Comparison":
        """Return the comparison in which new findings for which `rules` is true only advise."""
        advice = tuple(each for each in self.new if rules(each))
        left = tuple(each for each in self.new if not rules(each))
        return replace(self, new=left, advice=(*self.advice, *advice))


def compare(
    found: Sequence[Finding], at_base: Sequence[Finding], *, gone: Collection[str] = ()
) -> Comparison:
    """Separate new findings from known ones.

    A finding is known if the base has one with the same rule and message in the same file, however the lines
    have moved. Each finding of the base excuses one. Findings in deleted files excuse those in a file with
    the same name elsewhere, so that a moved file adds nothing new.

    Args:
        found: the candidate's findings.
        at_base: the base's findings.
        gone: files of the base that the candidate no longer has.
    """
    gone = frozenset(gone)
    exact = Counter(at_base)
    stayed = Counter(_key(each, each.file) for each in at_base if each.file not in gone)
    moved = Counter(_key(each, posixpath.basename(each.file)) for each in at_base if each.file in gone)
    new: list[Finding] = []
    known: list[Finding] = []
    # A finding on its old line is matched first, so that of several equal ones the added one counts as new.
    for each in sorted(found, key=lambda each: (each not in exact, each)):
        key = _key(each, each.file)
        moved_key = _key(each, posixpath.basename(each.file))
        if stayed[key] > 0:
            stayed[key] -= 1
        elif moved[moved_key] > 0:
            moved[moved_key] -= 1
        else:
            new.append(each)
            continue
        known.append(each)
    return Comparison(tuple(sorted(new)), tuple(sorted(known)))


@dataclass(frozen=True, slots=True)
class BrokenOften:
    """Rules that a base breaks in many places, so that it does not follow them.

    Attributes:
        rules: broken in several files; they are advice everywhere.
        in_files: files and rules broken many times in that one file; they are advice there.
        files: files in which every rule is advice.
        everywhere: whether every rule is advice in all files.
        broken_places: directories, and the fault that several files there have: they do not parse, or use
            undefined names. Such files are data for tests of tools, not code.
        but: returns True for a rule that counts however often the base breaks it, except in `broken_places`.
    """

    rules: frozenset[str]
    in_files: frozenset[tuple[str, str]]
    files: frozenset[str]
    everywhere: bool
    broken_places: frozenset[tuple[str, str]]
    but: Callable[[str], bool]

    def covers(self, finding: Finding) -> bool:
        """Return True if a finding breaks a rule that the base does not follow there."""
        if (posixpath.dirname(finding.file), finding.rule) in self.broken_places:
            return True
        if self.everywhere or finding.file in self.files:
            return not self.but(finding.rule)
        return finding.rule in self.rules or (finding.file, finding.rule) in self.in_files


def often_broken(
    findings: Iterable[Finding], *, but: Callable[[str], bool], all_or_none: bool = False
) -> BrokenOften:
    """Return the rules that a base breaks in many places, by its findings.

    A base with many findings of all kinds shows that its project does not run the tool, or runs it in another
    way. Then a finding of any rule only says that a change is like the rest of the code.

    Args:
        findings: the base's findings.
        but: returns True for a rule that counts however often the base breaks it.
        all_or_none: True if a file follows all rules of the tool or none, as with type checkers: a project
            that runs one fixes its findings, so a file with many errors of any kind was not checked.
    """
    places: dict[str, list[str]] = defaultdict(list)
    faulty: dict[tuple[str, str], set[str]] = defaultdict(set)
    for each in findings:
        if each.rule in _FAULTS_OF_DATA:
            faulty[posixpath.dirname(each.file), each.rule].add(each.file)
        if not but(each.rule):
            places[each.rule].append(each.file)
    broken = [file for files in places.values() for file in files]
    return BrokenOften(
        frozenset(
            rule for rule, files in places.items() if len(files) >= MANY and len(set(files)) >= _SEVERAL_FILES
        ),
        frozenset((file, rule) for rule, files in places.items() for file in _often(files, MANY)),
        frozenset(_often(broken, MANY_IN_FILE) if all_or_none else ()),
        len(broken) >= MANY_IN_ALL and len(set(broken)) >= _SEVERAL_FILES,
        frozenset(
            (place, rule)
            for (place, rule), files in faulty.items()
            if place and len(files) >= _FAULTS_OF_DATA[rule]
        ),
        but,
    )


@dataclass(frozen=True, slots=True)
class Wording:
    """The words for a tool's verdict.

    Attributes:
        noun: in the singular.
        clean: the sentence for no findings.
        criterion: its name.
        why_advice: the sentence that says why findings only advise.
    """

    noun: str
    clean: str
    criterion: str
    why_advice: str = ""


def result_of(
    evaluator: Evaluator, comparison: Comparison, wording: Wording, **metadata: Any
) -> EvaluationResult:
    """Return the result: each new finding costs one tenth of the score, and a pass needs none.

    Args:
        evaluator: the evaluator of the result.
        comparison: with the base.
        wording: the words for the verdict.
        metadata: further metadata; with doubts it includes the questions about them, see `doubt`.
    """
    against = sorted((*comparison.new, *comparison.doubts))
    count = len(against)
    score = max(0.0, round(1.0 - SCORE_PER_FINDING * count, 10))
    feedback = _feedback(comparison, wording)
    return EvaluationResult(
        evaluator_name=evaluator.name,
        category=evaluator.category,
        passed=count == 0,
        score=score,
        feedback=feedback,
        criteria=[
            CriterionResult(
                criterion=wording.criterion,
                passed=count == 0,
                score=score,
                message=feedback.partition("\n")[0],
                evidence="\n".join(map(str, against[:_LISTED])) or None,
            )
        ],
        suggestions=[_suggestion(each) for each in against[:MAX_SUGGESTIONS]],
        metadata={
            "error_count": count,
            "known_count": len(comparison.known),
            "findings": [_as_dict(each) for each in against[:_RECORDED]],
            "known": [_as_dict(each) for each in comparison.known[:_RECORDED]],
            "advice_count": len(comparison.advice),
            "advice": [_as_dict(each) for each in comparison.advice[:_RECORDED]],
            **metadata,
        },
    )


def _often(files: Iterable[str], many: int) -> list[str]:
    return [file for file, count in Counter(files).items() if count >= many]


def _key(finding: Finding, place: str) -> tuple[str, str, str]:
    return place, finding.rule, issue_key(finding.message)


def _feedback(comparison: Comparison, wording: Wording) -> str:
    count = len(comparison.new)
    older = (
        f" ({len(comparison.known)} that the base already has are not counted)" if comparison.known else ""
    )
    lines = [f"{wording.clean}{older}"]
    if count:
        lines = [f"Found {count} new {_plural(wording.noun, count)}{older}. Fix:", *_listed(comparison.new)]
    elif comparison.doubts:
        lines = []
    if comparison.doubts:
        doubted = len(comparison.doubts)
        reasons = "; ".join(dict.fromkeys(comparison.doubts.values()))
        lines.append(
            f"{doubted} new {_plural(wording.noun, doubted)} may be the setting's fault{older}: {reasons}"
        )
        lines += _listed(tuple(comparison.doubts))
    if comparison.advice:
        advised = len(comparison.advice)
        lines.append(
            f"Advice, {advised} {_plural(wording.noun, advised)} that do not block: {wording.why_advice}"
        )
        lines += _listed(comparison.advice)
    return "\n".join(lines)


def _listed(findings: Sequence[Finding]) -> list[str]:
    more = [f"- and {len(findings) - _LISTED} more"] if len(findings) > _LISTED else []
    return [*(f"- {each}" for each in findings[:_LISTED]), *more]


def _plural(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"


def _suggestion(finding: Finding) -> str:
    message = finding.message[:_MESSAGE_CHARS]
    return f"Fix {finding.rule} in {finding.file} line {finding.line}: {message}"


def _as_dict(finding: Finding) -> dict[str, Any]:
    return {
        "file": finding.file,
        "line": finding.line,
        "rule": finding.rule,
        "message": finding.message[:_MESSAGE_CHARS],
    }
