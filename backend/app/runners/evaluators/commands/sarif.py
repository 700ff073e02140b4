"""Reads SARIF 2.1: a static tool's findings, in the form for a comparison with the base's."""

import json
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import unquote, urlsplit

from app.runners.evaluators.commands.junit import ReportError
from app.runners.evaluators.static.baseline import Finding

_LEVELS = {"none": 0, "note": 1, "warning": 2, "error": 3}
_NO_RULE = "finding"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Sarif:
    """A report.

    Attributes:
        findings: those that count.
        results: the number of all results.
        suppressed: those of the findings that comments suppress, as far as the report tells them apart.
    """

    findings: tuple[Finding, ...]
    results: int
    suppressed: frozenset[Finding] = frozenset()


def read_sarif(data: bytes, tree: Path, level: str) -> Sarif:
    """Return the findings of at least `level`, with paths relative to `tree`.

    A finding that the judged code silences by a comment counts like any other: only the base can excuse it. A
    finding that a tool's own list of exceptions silences does not count.

    Raises:
        ReportError: it is not SARIF 2.1, or reports that the tool failed.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"the SARIF report cannot be read: {str(error)[:200]}") from error
    runs = _list(document, "runs")
    if not str(_object(document).get("version", "")).startswith("2.1") or not runs:
        raise ReportError("the report is not SARIF 2.1 with at least one run")
    for run in runs:
        if any(_object(each).get("executionSuccessful") is False for each in _list(run, "invocations")):
            raise ReportError("the SARIF report says that the tool did not finish")
    findings = sorted(each for run in runs for each in _findings(run, tree, _LEVELS[level]))
    return Sarif(tuple(findings), sum(len(_list(run, "results")) for run in runs))


def _findings(run: object, tree: Path, least: int) -> Iterator[Finding]:
    rules = _Rules(run)
    for each in _list(run, "results"):
        result = _object(each)
        name = str(result.get("ruleId") or _object(result.get("rule")).get("id") or "")
        rule = rules.of(result, name)
        default = _object(rule.get("defaultConfiguration")).get("level") or "warning"
        level = _LEVELS.get(str(result.get("level") or default), _LEVELS["error"])
        if level >= least and _counts(result):
            yield _finding(result, name or str(rule.get("id") or _NO_RULE), tree)


def _counts(result: Mapping[str, Any]) -> bool:
    if result.get("kind", "fail") != "fail" or result.get("baselineState") == "absent":
        return False
    silenced = [_object(each) for each in _list(result, "suppressions")]
    accepted = [each for each in silenced if each.get("status", "accepted") == "accepted"]
    return not any(each.get("kind") == "external" for each in accepted)


def _finding(result: Mapping[str, Any], rule: str, tree: Path) -> Finding:
    message = _object(result.get("message"))
    text = str(message.get("text") or message.get("markdown") or message.get("id") or rule)
    places = [_object(_object(each).get("physicalLocation")) for each in _list(result, "locations")]
    place = places[0] if places else _object(None)
    uri = str(_object(place.get("artifactLocation")).get("uri") or "")
    line = _object(place.get("region")).get("startLine")
    return Finding(_path(uri, tree), line if isinstance(line, int) else 1, rule, " ".join(text.split()))


def _path(uri: str, tree: Path) -> str:
    try:
        path = unquote(urlsplit(uri).path)
    except ValueError:
        path = uri
    inside = posixpath.normpath(path or ".")
    prefix = f"{tree.as_posix()}/"
    return inside.removeprefix(prefix)


class _Rules:
    """The rules of a run: those of the tool itself, and those of its extensions."""

    def __init__(self, run: object) -> None:
        tool = _object(_object(run).get("tool"))
        self._driver = _list(tool.get("driver"), "rules")
        self._extensions = [_list(each, "rules") for each in _list(tool, "extensions")]
        self._by_id: dict[str, Mapping[str, Any]] = {}
        for rules in (self._driver, *self._extensions):
            for rule in map(_object, rules):
                self._by_id.setdefault(str(rule.get("id")), rule)

    def of(self, result: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        """Return the rule of a result by its index, or else by its name; empty if there is none.

        The name may be the rule's id and one more part, such as `CA5350/md5`.
        """
        told = _object(result.get("rule"))
        place = _object(told.get("toolComponent"))
        component = _at(self._extensions, place.get("index")) if place else self._driver
        rule = _object(_at(component or [], told.get("index", result.get("ruleIndex"))))
        if rule and (not name or f"{name}/".startswith(f"{rule.get('id')}/")):
            return rule
        return self._by_id.get(name) or self._by_id.get(name.rpartition("/")[0], {})


def _at(values: Sequence[_T], index: object) -> _T | None:
    if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(values):
        return values[index]
    return None


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: object, name: str) -> list[object]:
    inner = _object(value).get(name)
    return cast("list[object]", inner) if isinstance(inner, list) else []
