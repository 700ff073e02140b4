"""Reads test reports other than JUnit XML: `go test -json`, Rust's harness, jest's JSON."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from app.runners.evaluators.commands.junit import Case, JUnit, JUnitOutcome, ReportError

_MESSAGE_CHARS = 300
_GO = {"pass": JUnitOutcome.PASSED, "fail": JUnitOutcome.FAILED, "skip": JUnitOutcome.SKIPPED}
_GO_NOISE = re.compile(r"\s*(?:=== |--- |(?:FAIL|PASS|ok|exit status)\b)")
_BUILD_FAILED = re.compile(r"^FAIL\t(\S+) \[(?:build|setup) failed\]", re.MULTILINE)
_RUST_TARGET = re.compile(r"\s+(?:Running (?:unittests )?(\S+)|Doc-tests (\S+))")
_RUST_COUNT = re.compile(r"running (\d+) tests?$")
_RUST_TEST = re.compile(r"test (.+?) \.\.\. (ok|FAILED|ignored)\b")
_RUST_LINE = re.compile(r" \(line \d+\)")
_RUST = {"ok": JUnitOutcome.PASSED, "FAILED": JUnitOutcome.FAILED, "ignored": JUnitOutcome.SKIPPED}
_JEST = {"passed": JUnitOutcome.PASSED, "failed": JUnitOutcome.FAILED}


def read_go(text: str, sentinel: str = "") -> JUnit:
    """Read the output of `go test -json`. A package that fails without a failing test is itself a case.

    If a test has two outcomes, a failure counts.

    Args:
        text: the output.
        sentinel: the name of the sentinels.

    Raises:
        ReportError: a test started and did not end, or there is nothing to read.
    """
    ended: dict[str, JUnitOutcome] = {}
    printed: dict[str, list[str]] = {}
    packages: dict[str, JUnitOutcome] = {}
    began: dict[str, None] = {}
    for event in _events(text):
        package, test, action = (str(event.get(key, "")) for key in ("Package", "Test", "Action"))
        name = f"{package} > {test}" if test else package
        if action == "output":
            printed.setdefault(name, []).append(str(event.get("Output", "")))
        elif action == "run":
            began[name] = None
        elif action in _GO:
            known = ended if test else packages
            if known.get(name) is not JUnitOutcome.FAILED:
                known[name] = _GO[action]
    packages.update(dict.fromkeys(_BUILD_FAILED.findall(text), JUnitOutcome.FAILED))
    if not packages:
        raise ReportError("the output contains no result of `go test -json`")
    lost = [
        name for name in began if name not in ended and packages.get(_package(name)) != JUnitOutcome.FAILED
    ]
    if lost:
        raise ReportError(f"the test {lost[0]} started and did not end")
    failed = {_package(name) for name, outcome in ended.items() if outcome is JUnitOutcome.FAILED}
    broken = [
        each for each, outcome in packages.items() if outcome is JUnitOutcome.FAILED and each not in failed
    ]
    reached = {_package(name) for name in ended if sentinel and name.endswith(f" > {sentinel}")}
    cases = [
        Case(name, outcome, _go_message(printed.get(name, [])))
        for name, outcome in ended.items()
        if not (sentinel and name.endswith(f" > {sentinel}"))
    ]
    cases += [Case(each, JUnitOutcome.FAILED, _go_message(printed.get(each, []))) for each in broken]
    return JUnit(tuple(cases), frozenset(reached))


def read_libtest(text: str, tree: Path, sentinel: str = "") -> JUnit:
    """Read the output of `cargo test` on both streams.

    Args:
        text: the output.
        tree: where it ran.
        sentinel: a text in the names of the sentinels.

    Raises:
        ReportError: a target ended before its last test, or no target ran.
    """
    cases: list[Case] = []
    reached: set[str] = set()
    target, wanted, seen = "", 0, False
    for line in text.splitlines():
        if found := _RUST_TARGET.match(line):
            _check_ended(target, wanted)
            target, wanted = found[1] or f"doc-tests {found[2]}", 0
        elif count := _RUST_COUNT.match(line):
            _check_ended(target, wanted)
            wanted, seen = int(count[1]), True
        elif wanted and (test := _RUST_TEST.match(line)):
            wanted -= 1
            if sentinel and sentinel in test[1]:
                reached.add(target)
                continue
            name = _RUST_LINE.sub("", test[1].replace(f"{tree.as_posix()}/", ""))
            cases.append(Case(f"{target} > {name}", _RUST[test[2]], _rust_message(text, test[1])))
    _check_ended(target, wanted)
    if not seen:
        raise ReportError("no target of `cargo test` ran")
    return JUnit(tuple(cases), frozenset(reached))


def read_jest(data: bytes, tree: Path) -> JUnit:
    """Read the JSON of jest, or of vitest's `json` reporter.

    Raises:
        ReportError: it is not such a report.
    """
    try:
        document = _object(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise ReportError(f"the report of jest cannot be read: {str(error)[:200]}") from error
    files = document.get("testResults")
    if not isinstance(files, list):
        raise ReportError("the report has no testResults, so it is not jest's")
    cases = [case for each in cast("list[object]", files) for case in _jest_cases(_object(each), tree)]
    return JUnit(tuple(cases))


def _jest_cases(file: Mapping[str, Any], tree: Path) -> Iterator[Case]:
    path = str(file.get("name", "")).replace(f"{tree.as_posix()}/", "")
    tests = cast("list[object]", file.get("assertionResults") or [])
    if file.get("status") == "failed" and not any(_object(each).get("status") == "failed" for each in tests):
        yield Case(path, JUnitOutcome.FAILED, str(file.get("message", ""))[:_MESSAGE_CHARS])
    for each in map(_object, tests):
        names = [path, *map(str, each.get("ancestorTitles") or []), str(each.get("title", ""))]
        outcome = _JEST.get(str(each.get("status")), JUnitOutcome.SKIPPED)
        message = "\n".join(map(str, each.get("failureMessages") or []))
        yield Case(" > ".join(names), outcome, message[:_MESSAGE_CHARS])


def _events(text: str) -> Iterator[Mapping[str, Any]]:
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                yield _object(json.loads(line))
            except (ValueError, RecursionError):
                continue


def _package(name: str) -> str:
    return name.partition(" > ")[0]


def _go_message(printed: list[str]) -> str:
    return " ".join(each.strip() for each in printed if not _GO_NOISE.match(each))[:_MESSAGE_CHARS].strip()


def _rust_message(text: str, name: str) -> str:
    _, found, rest = text.partition(f"---- {name} stdout ----\n")
    message = rest.lstrip("\n").partition("\n\n")[0] if found else ""
    return " ".join(message.split())[:_MESSAGE_CHARS]


def _check_ended(target: str, wanted: int) -> None:
    if wanted:
        raise ReportError(f"{target or 'a target'} ended before {wanted} of its tests")


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
