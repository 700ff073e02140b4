"""JUnit XML, which every CI system reads: one test case for each evaluator."""

import re
from html import escape

from app.cli.formats.report import JudgedReport
from app.runners.evaluators.protocol import EvaluationResult, EvaluationStatus

_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(judged: JudgedReport) -> str:
    """Return a suite in which a failed gate is a failure.

    Advisers are passed cases with their text as output.
    """
    report = judged.report
    results = [(EvaluationResult.model_validate(each.result), each.gate) for each in report.evaluations]
    cases = [_case(result, report.phase, gate=gate) for result, gate in results]
    if report.verdict != "passed" and not any("<failure" in each or "<error" in each for each in cases):
        cases.append(
            _testcase(report.phase, "verdict", 0, _element("failure", report.reason, report.verdict))
        )
    seconds = sum(result.duration_ms or 0 for result, _ in results) / 1000
    counts = (
        f'tests="{len(cases)}" failures="{_count(cases, "<failure")}" errors="{_count(cases, "<error")}" '
        f'skipped="{_count(cases, "<skipped")}" time="{seconds:.3f}"'
    )
    inside = "\n".join(cases)
    suite = f'  <testsuite name="phaserunner" {counts}>\n{inside}\n  </testsuite>'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{suite}\n</testsuites>\n'


def _case(result: EvaluationResult, phase: str, *, gate: bool) -> str:
    seconds = (result.duration_ms or 0) / 1000
    return _testcase(phase, result.evaluator_name, seconds, _outcome(result, gate=gate))


def _testcase(phase: str, name: str, seconds: float, inner: str) -> str:
    named = f'classname="phaserunner.{_attribute(phase)}" name="{_attribute(name)}"'
    return f'    <testcase {named} time="{seconds:.3f}">{inner}</testcase>'


def _outcome(result: EvaluationResult, *, gate: bool) -> str:
    if result.status is EvaluationStatus.SKIPPED:
        return f'<skipped message="{_attribute(result.feedback)}"/>'
    if result.status is EvaluationStatus.PASSED or not gate:
        return f"<system-out>{_text(result.feedback)}</system-out>"
    if result.status is EvaluationStatus.ERRORED:
        return _element("error", result.feedback, "errored")
    return _element("failure", result.feedback, "asks" if result.questions else "failed")


def _element(name: str, text: str, kind: str) -> str:
    first = _attribute(text.partition("\n")[0])
    return f'<{name} message="{first}" type="{_attribute(kind)}">{_text(text)}</{name}>'


def _count(cases: list[str], mark: str) -> int:
    return sum(mark in each for each in cases)


def _text(text: str) -> str:
    return escape(_NOT_IN_XML.sub("\ufffd", text))


def _attribute(text: str) -> str:
    return " ".join(_text(text).split())
