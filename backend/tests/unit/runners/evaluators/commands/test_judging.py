"""Reports are read in threads, so that other work goes on meanwhile."""

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from app.runners.evaluators.commands import judged_tests, judging
from app.runners.evaluators.commands.command import CommandEvaluator
from app.runners.evaluators.commands.judging import ReportKind
from app.runners.evaluators.commands.language_setting import LanguageSetting
from app.schemas.project_file import CoverageReport, JUnitReport, SarifReport
from tests.unit.runners.evaluators.conftest import Context

pytestmark = pytest.mark.anyio

JUNIT = '<testsuite><testcase name="a"/></testsuite>'
COBERTURA = '<coverage><class filename="a.py"><lines><line number="1" hits="1"/></lines></class></coverage>'
PLACE = {"artifactLocation": {"uri": "a.py"}, "region": {"startLine": 1}}
FINDING = {"ruleId": "R1", "message": {"text": "bad"}, "locations": [{"physicalLocation": PLACE}]}
SARIF = json.dumps(
    {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x", "rules": []}}, "results": [FINDING]}]}
)
KINDS: dict[str, tuple[ReportKind, str, list[tuple[object, str]]]] = {
    "tests": (JUnitReport(kind="junit", path="report"), JUNIT, [(judged_tests, "read_junit")]),
    "coverage": (
        CoverageReport(kind="coverage", path="report", minimum=1),
        COBERTURA,
        [(judging, "read_coverage"), (judging, "new_lines")],
    ),
    "findings": (
        SarifReport(kind="sarif", path="report"),
        SARIF,
        [(judging, "read_sarif"), (judging, "compare"), (LanguageSetting, "silenced")],
    ),
}


@pytest.mark.parametrize(("report", "content", "functions"), KINDS.values(), ids=KINDS.keys())
async def test_no_report_is_read_on_the_loop(
    context: Context,
    monkeypatch: pytest.MonkeyPatch,
    report: ReportKind,
    content: str,
    functions: list[tuple[object, str]],
) -> None:
    threads: dict[str, list[int]] = {}

    def noting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            threads.setdefault(name, []).append(threading.get_ident())
            return function(*args, **options)

        return call

    for owner, name in functions:
        monkeypatch.setattr(owner, name, noting(name, getattr(owner, name)))
    gate = CommandEvaluator(
        name="unit", command="cp made report", report=report, setting=LanguageSetting(silencers="nolint")
    )
    good, bad = {"made": content, "a.py": "a = 1\n"}, {"a.py": "a = 2\n"}
    await gate.evaluate("coding", "", context(good, good))
    await gate.evaluate("coding", "", context({**good, "a.py": "b = 1\n"}, good))
    await gate.evaluate("coding", "", context(bad, good))
    assert threads.keys() == {name for _, name in functions}
    assert threading.get_ident() not in {each for seen in threads.values() for each in seen}
