"""A command as a gate: exit status and report must both speak for a pass, whatever the command does."""

import json
import os
import venv
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from app.runners.evaluators.commands.command import CommandEvaluator
from app.runners.evaluators.protocol import EvaluationResult, EvaluationStatus
from app.schemas.modes import SandboxMode
from app.schemas.project_file import CoverageReport, JUnitReport, SarifReport
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.outcome import EnvironmentOutcome, EnvironmentUnavailable, Ready, Reason
from tests.unit.runners.evaluators.conftest import Context

pytestmark = pytest.mark.anyio

PASSED, FAILED, ERRORED = EvaluationStatus.PASSED, EvaluationStatus.FAILED, EvaluationStatus.ERRORED
JUNIT = JUnitReport(kind="junit", path="out/report.xml")
SARIF = SarifReport(kind="sarif", path="report.sarif")


@pytest.fixture(autouse=True)
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time limits grow with the machine's load; these tests name them."""
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))


ONE = '<testcase classname="a" name="one"/>'
TWO = '<testcase classname="a" name="two"/>'
BAD = '<testcase classname="a" name="bad"><failure message="1 is not 2">long text</failure></testcase>'
SKIPPED = '<testcase classname="a" name="one"><skipped/></testcase>'


def listing(tree: Path) -> dict[str, str]:
    return {each.name: each.read_text() for each in tree.iterdir()}


def commands_running() -> list[bytes]:
    return [each.read_bytes() for each in Path("/proc").glob("[0-9]*/cmdline") if each.exists()]


def suites(*cases: str) -> str:
    return f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>"


def copies(content: str, code: int = 0) -> dict[str, str]:
    """A tree whose command copies its report to where it belongs."""
    return {"made.xml": content, "act": f"cp made.xml out/report.xml; echo said so; exit {code}"}


async def judge(
    context: Context,
    files: Mapping[str, str | bytes],
    base: Mapping[str, str | bytes] | None = None,
    command: tuple[str, ...] | str = "sh ./act",
    **fields: Any,
) -> EvaluationResult:
    evaluator = CommandEvaluator(name="check", command=command, **{"timeout": 20.0, **fields})
    return await evaluator.evaluate("coding", "", context(files, base))


async def test_the_exit_status_decides_where_there_is_no_report(context: Context) -> None:
    good = await judge(context, {"act": "echo fine"})
    assert (good.status, good.score) == (PASSED, 1.0)
    assert good.criteria[0].evidence == "fine"
    assert good.metadata["exit_code"] == 0
    assert good.metadata["sandbox"] == "bubblewrap"
    bad = await judge(context, {"act": "echo oh no >&2; exit 3"})
    assert (bad.status, bad.score) == (FAILED, 0.0)
    assert "exit status 3" in bad.feedback
    assert "oh no" in bad.feedback
    assert bad.suggestions
    assert (await judge(context, {"act": "exit 3"}, pass_codes=(0, 3))).status is PASSED


async def test_what_a_command_writes_stays_in_its_own_copy(context: Context) -> None:
    script = "echo changed > a.txt; rm act; mkdir new"
    given = context({"act": script, "a.txt": "as it was"})
    evaluator = CommandEvaluator(name="check", command="sh ./act")
    assert (await evaluator.evaluate("coding", "", given)).passed
    assert listing(Path(given["workspace_ref"])) == {"a.txt": "as it was", "act": script}


@dataclass(frozen=True)
class Environments:
    """Answers with one environment, as if it had been made for the project."""

    found: EnvironmentOutcome

    @asynccontextmanager
    async def lent(
        self, base: Path | None, workspace: Path | None = None, *, added: bool = False, changed: bool = False
    ) -> AsyncGenerator[EnvironmentOutcome]:
        yield self.found


async def test_the_programs_of_the_projects_environment_come_first(context: Context, tmp_path: Path) -> None:
    await anyio.to_thread.run_sync(partial(venv.create, tmp_path / "own", symlinks=True))
    program = tmp_path / "own" / "bin" / "date"
    program.write_text("#!/bin/sh\necho of the project\n")
    program.chmod(0o755)
    own = Environments(Ready(tmp_path / "own" / "bin" / "python", key="abc", how="pyproject.toml"))
    for command in (("date",), "date && python -c 'import sys; print(sys.prefix)'"):
        result = await judge(context, {"a.py": ""}, command=command, interpreters=own)
        assert "of the project" in (result.criteria[0].evidence or ""), result.feedback
        assert result.metadata["environment"] == "pyproject.toml"
    assert str(tmp_path / "own") in (result.criteria[0].evidence or "")
    there_anyway = Environments(Ready(tmp_path / "own" / "bin" / "python"))
    result = await judge(context, {"a.py": ""}, command=("date",), interpreters=there_anyway)
    assert "of the project" not in (result.criteria[0].evidence or "")


async def test_without_the_projects_environment_there_is_no_verdict(context: Context) -> None:
    trouble = Environments(EnvironmentUnavailable(Reason.OFFLINE, "nothing can be fetched"))
    result = await judge(context, {"act": "exit 1"}, interpreters=trouble)
    assert (result.status, result.metadata["reason"]) == (ERRORED, "environment")


async def test_its_surroundings(context: Context) -> None:
    script = (
        'test "$GREETING" = "good day" && test "$PWD" != "${PWD%/sub}"'
        ' && test -r "$PHASERUNNER_BASE/base.txt" && test "$CI" = true'
        ' && ! touch "$PHASERUNNER_BASE/x" && touch "$HOME/x" "$TMPDIR/y"'
    )
    result = await judge(
        context,
        {"sub/act": script},
        {"base.txt": ""},
        env={"GREETING": "good day"},
        working_directory="sub",
    )
    assert result.status is PASSED, result.feedback


NO_VERDICT = {
    "a program that is not installed": (("no-such-program-here",), {}, "not installed here"),
    "a program of the shell that is missing": ("no-such-program-here", {}, "exit status 127"),
    "a path that is not there": (("./none",), {}, "./none"[2:]),
    "a file that is no program": (("./data",), {"data": "x"}, "exit status 126"),
    "a directory that is missing": (("true",), {}, "no such directory"),
    "out of time": ("sleep 60", {}, "within 1 seconds"),
}


@pytest.mark.parametrize(("command", "files", "told"), NO_VERDICT.values(), ids=NO_VERDICT.keys())
async def test_no_verdict(context: Context, command: Any, files: dict[str, str], told: str) -> None:
    directory = "missing" if told == "no such directory" else ""
    seconds = 1.0 if "within" in told else 20.0
    for base in (None, files):
        result = await judge(context, files, base, command, working_directory=directory, timeout=seconds)
        assert result.status is ERRORED, result.feedback
        assert told in result.feedback


async def test_a_candidate_that_breaks_the_command_has_failed(context: Context) -> None:
    hangs = await judge(context, {"act": "sleep 60"}, {"act": "exit 1"}, timeout=1.0)
    assert hangs.status is FAILED
    assert "within 1 seconds" in hangs.feedback
    lost = await judge(context, {}, {"tool": "exit 0"}, "exec sh ./tool", pass_codes=(0,))
    assert lost.status is FAILED
    silent = await judge(context, {"act": "exit 0"}, copies(suites(ONE)), report=JUNIT)
    assert silent.status is FAILED
    assert "wrote no report out/report.xml" in silent.feedback


READ = {
    "all passed": (suites(ONE, TWO), 0, PASSED, 1.0, "All 2 tests passed"),
    "some skipped": (suites(SKIPPED, TWO), 0, PASSED, 1.0, "All 1 tests passed (1 skipped)"),
    "one failed": (suites(ONE, BAD), 1, FAILED, 0.5, "a > bad: 1 is not 2"),
    "a failure that the exit status hides": (suites(ONE, BAD), 0, FAILED, 0.5, "1 of 2 tests failed"),
    "a report that says passed and a status that does not": (
        *(suites(ONE, TWO), 1, FAILED, 0.0, "ended with exit status 1"),
    ),
    "no test": (suites(), 0, FAILED, 0.0, "No test ran"),
    "all skipped": (suites(SKIPPED), 0, FAILED, 0.0, "No test ran"),
    "a failure counted and not shown": (
        *('<testsuite failures="1"><testcase name="a"/></testsuite>', 0, ERRORED, 0.0, "claims 1 failures"),
    ),
    "an error": (suites('<testcase name="x"><error>boom</error></testcase>'), 0, FAILED, 0.0, "x: boom"),
    "suites in suites": (
        '<testsuite name="a"><testsuite name="b"><testcase name="c"><failure/></testcase>'
        "</testsuite></testsuite>",
        *(1, FAILED, 0.0, "a > b > c: failed"),
    ),
    "cut short": (
        *('<testsuite name="a"><testsuite name="b"><testcase name="c"><failure/></testcase>', 1),
        *(ERRORED, 0.0, "no element found"),
    ),
    "not XML": ("1 passed", 0, ERRORED, 0.0, "cannot be read"),
    "empty": ("", 0, ERRORED, 0.0, "no element found"),
    "another document": ("<html/>", 0, ERRORED, 0.0, "root element is <html>"),
    "entities": (
        '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;&x;">]>'
        '<testsuite><testcase name="&y;"/></testsuite>',
        *(0, ERRORED, 0.0, "document type"),
    ),
    "a file of the machine": (
        '<!DOCTYPE a SYSTEM "file:///etc/passwd"><testsuite><testcase name="a"/></testsuite>',
        *(0, ERRORED, 0.0, "document type"),
    ),
    "too deep": ("<testsuite>" * 5000, 0, ERRORED, 0.0, "nested"),
}


@pytest.mark.parametrize(("report", "code", "status", "score", "told"), READ.values(), ids=READ.keys())
async def test_junit(
    context: Context, report: str, code: int, status: EvaluationStatus, score: float, told: str
) -> None:
    result = await judge(context, copies(report, code), report=JUNIT)
    assert (result.status, result.score) == (status, score)
    assert told in result.feedback


async def test_a_report_that_lay_there_is_no_report(context: Context) -> None:
    files = {"out/report.xml": suites(ONE), "act": "exit 0"}
    result = await judge(context, files, report=JUNIT)
    assert result.status is ERRORED
    assert "wrote no report" in result.feedback


REPORTS = {
    "a link to a file of the machine": "ln -s /etc/passwd out/report.xml",
    "a link to a report": "cp made.xml elsewhere; ln -s ../elsewhere out/report.xml",
    "a pipe": "mkfifo out/report.xml",
    "a directory": "mkdir out/report.xml",
    "a linked directory": "rmdir out; mkdir other; cp made.xml other/report.xml; ln -s other out",
}


@pytest.mark.parametrize("script", REPORTS.values(), ids=REPORTS.keys())
async def test_a_report_is_a_plain_file(context: Context, script: str) -> None:
    result = await judge(context, {"made.xml": suites(ONE), "act": script}, report=JUNIT)
    assert result.status is ERRORED, result.feedback


async def test_a_huge_report(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.runners.evaluators.commands.taking.MAX_REPORT_BYTES", 1_000_000)
    result = await judge(context, {"act": "head -c 2000000 /dev/zero > out/report.xml"}, report=JUNIT)
    assert result.status is ERRORED
    assert "larger than 1 MB" in result.feedback


async def test_tests_of_the_base_must_still_run(context: Context) -> None:
    base = copies(suites(ONE, TWO))
    lost = await judge(context, copies(suites(ONE)), base, report=JUNIT)
    assert lost.status is FAILED
    assert lost.metadata["lost_tests"] == ["a > two"]
    skipped = await judge(context, copies(suites(SKIPPED, TWO)), base, report=JUNIT)
    assert skipped.metadata["lost_tests"] == ["a > one"]
    free = JUnitReport(kind="junit", path="out/report.xml", compare_base=False)
    assert (await judge(context, copies(suites(ONE)), base, report=free)).status is PASSED
    assert (await judge(context, copies(suites(ONE)), {"a": ""}, report=JUNIT)).status is PASSED


async def test_a_new_failure_does_not_hide_behind_a_red_test_of_the_same_name(context: Context) -> None:
    red, broken = BAD, BAD.replace("1 is not 2", "broken now")
    good = '<testcase classname="a" name="bad"/>'
    base = copies(suites(red, good, ONE), 1)
    result = await judge(context, copies(suites(red, broken, ONE), 1), base, report=JUNIT)
    assert result.status is FAILED
    assert "1 of 3 tests failed. Fix:\n- a > bad: broken now" in result.feedback
    assert "questions" not in result.metadata
    same = await judge(context, base, base, report=JUNIT)
    assert len(same.questions) == 1, same.feedback


async def test_names_that_hold_the_path_of_the_copy(context: Context) -> None:
    named = {
        "act": "echo \"<testsuite><testcase name='$PWD/a.js'/></testsuite>\" > out/report.xml",
    }
    result = await judge(context, named, named, report=JUNIT)
    assert result.status is PASSED, result.feedback


async def test_200_megabytes_of_output(context: Context) -> None:
    result = await judge(context, {"act": "head -c 200000000 /dev/zero | tr '\\0' x; echo; echo the end"})
    assert result.status is PASSED
    assert result.metadata["output_cut"]
    evidence = result.criteria[0].evidence or ""
    assert evidence.endswith("the end")
    assert len(evidence) < 5000


async def test_what_a_command_leaves_running_ends_with_it(context: Context) -> None:
    script = "setsid sh -c 'while :; do date > beat; sleep 0.05; done' </dev/null >/dev/null 2>&1 & exit 0"
    result = await judge(context, {"act": script})
    assert result.status is PASSED
    assert not any(b"date > beat" in line for line in commands_running())


def finding(rule: str, text: str, line: int = 1, **fields: Any) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": "a.py"}, "region": {"startLine": line}}
    return {"ruleId": rule, "message": {"text": text}, "locations": [{"physicalLocation": place}], **fields}


def sarif(*results: dict[str, Any], **run: Any) -> str:
    tool = {"driver": {"name": "t", "rules": [{"id": "N", "defaultConfiguration": {"level": "note"}}]}}
    return json.dumps({"version": "2.1.0", "runs": [{"tool": tool, "results": list(results), **run}]})


def scans(content: str, code: int = 0) -> dict[str, str]:
    return {"a.py": "x\n", "made": content, "act": f"cp made report.sarif; exit {code}"}


SCANS = {
    "nothing": (sarif(), 0, PASSED, ""),
    "a finding": (sarif(finding("S1", "bad")), 1, FAILED, "a.py:1: S1 bad"),
    "a finding and status 0": (sarif(finding("S1", "bad")), 0, FAILED, "S1 bad"),
    "a note": (sarif(finding("S1", "bad", level="note")), 1, PASSED, ""),
    "a note by its rule": (sarif(finding("N", "bad")), 1, PASSED, ""),
    "silenced in the code": (
        *(sarif(finding("S1", "bad", suppressions=[{"kind": "inSource"}])), 0, FAILED, "S1 bad"),
    ),
    "silenced by the tool's list": (
        *(sarif(finding("S1", "bad", suppressions=[{"kind": "external"}])), 0, PASSED, ""),
    ),
    "a check that holds": (sarif(finding("S1", "fine", kind="pass")), 0, PASSED, ""),
    "a complaint without a finding": (sarif(), 1, ERRORED, "exit status 1"),
    "a crash": (sarif(), 2, ERRORED, "exit status 2"),
    "a tool that gave up": (
        *(sarif(invocations=[{"executionSuccessful": False}]), 0, ERRORED, "did not finish"),
    ),
    "no run": ('{"version": "2.1.0", "runs": []}', 0, ERRORED, "at least one run"),
    "another version": ('{"version": "1.0", "runs": [{}]}', 0, ERRORED, "not SARIF 2.1"),
    "not JSON": ("{", 0, ERRORED, "cannot be read"),
    "very deep": ("[" * 100_000, 0, ERRORED, "cannot be read"),
    "of other types": ('{"version": "2.1.0", "runs": [3, {"results": [null, 4]}]}', 0, FAILED, "finding"),
}


@pytest.mark.parametrize(("report", "code", "status", "told"), SCANS.values(), ids=SCANS.keys())
async def test_sarif(context: Context, report: str, code: int, status: EvaluationStatus, told: str) -> None:
    result = await judge(context, scans(report, code), report=SARIF)
    assert result.status is status, result.feedback
    assert told in result.feedback


async def test_findings_that_the_base_has_do_not_count(context: Context) -> None:
    base = scans(sarif(finding("S1", "bad", 1)), 1)
    moved = await judge(context, scans(sarif(finding("S1", "bad", 9)), 1), base, report=SARIF)
    assert moved.status is PASSED
    assert moved.metadata["known_count"] == 1
    more = await judge(
        context, scans(sarif(finding("S1", "bad"), finding("S2", "worse")), 1), base, report=SARIF
    )
    assert [each["rule"] for each in more.metadata["findings"]] == ["S2"]
    blind = await judge(context, base, {"act": "exit 2"}, report=SARIF)
    assert blind.status is ERRORED
    assert "base cannot be scanned" in blind.feedback


def cobertura(lines: dict[int, int], name: str = "a.py") -> str:
    inner = "".join(f'<line number="{number}" hits="{hits}"/>' for number, hits in lines.items())
    return (
        f"<coverage><sources><source>.</source></sources><packages><package><classes>"
        f'<class filename="{name}"><lines>{inner}</lines></class></classes></package></packages></coverage>'
    )


COVERED = {
    "enough": ({1: 1, 2: 1, 3: 1, 4: 0}, 0, 50.0, PASSED, "1 of 2 new lines"),
    "too little": ({1: 1, 2: 1, 3: 1, 4: 0}, 0, 60.0, FAILED, "a.py: 4"),
    "old lines do not count": ({1: 0, 2: 0, 3: 1, 4: 1}, 0, 100.0, PASSED, "2 of 2 new lines"),
    "no new line is executable": ({1: 1}, 0, 100.0, EvaluationStatus.SKIPPED, "no new executable lines"),
    "the tests fail": ({1: 1, 2: 1, 3: 1, 4: 1}, 1, 10.0, FAILED, "exit status 1"),
    "nothing measured": ({}, 0, 10.0, ERRORED, "names no line"),
}


@pytest.mark.parametrize(("lines", "code", "minimum", "status", "told"), COVERED.values(), ids=COVERED.keys())
async def test_coverage_of_new_lines(
    context: Context, lines: dict[int, int], code: int, minimum: float, status: EvaluationStatus, told: str
) -> None:
    files = {
        "a.py": "one\ntwo\nthree\nfour\n",
        "made": cobertura(lines),
        "act": f"cp made c.xml; exit {code}",
    }
    report = CoverageReport(kind="coverage", path="c.xml", minimum=minimum)
    result = await judge(context, files, {"a.py": "one\ntwo\n"}, report=report)
    assert result.status is status, result.feedback
    assert told in result.feedback


async def test_without_a_sandbox_nothing_runs(context: Context) -> None:
    missing = Sandbox(SandboxSettings(), program="/nowhere/bwrap")
    result = await judge(context, {"act": "touch ran"}, sandbox=missing)
    assert result.status is ERRORED
    assert result.metadata["reason"] == "sandbox_unavailable"
    off = Sandbox(SandboxSettings(SandboxMode.OFF))
    allowed = await judge(context, {"act": "exit 0"}, sandbox=off)
    assert (allowed.status, allowed.metadata["sandbox"]) == (PASSED, "none")


async def test_the_network_is_absent_unless_granted(context: Context) -> None:
    script = "tail -n +3 /proc/net/dev | grep -v ' lo:' && exit 1; exit 0"
    assert (await judge(context, {"act": script})).status is PASSED


async def test_no_workspace() -> None:
    evaluator = CommandEvaluator(name="check", command="true")
    assert (await evaluator.evaluate("coding", "", {})).status is EvaluationStatus.SKIPPED
    gone = await evaluator.evaluate("coding", "", {"workspace_ref": "/nowhere"})
    assert gone.status is FAILED
