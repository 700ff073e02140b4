"""Reports as Surefire, Gradle and nextest write them; a build of several modules writes several files."""

from collections.abc import Mapping

import pytest

from app.runners.evaluators.commands.command import CommandEvaluator
from app.runners.evaluators.commands.presets import PRESETS
from app.runners.evaluators.protocol import EvaluationResult
from app.schemas.project_file import JUnitReport, PresetName
from tests.unit.runners.evaluators.conftest import Context

pytestmark = pytest.mark.anyio

SUREFIRE = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
 xsi:noNamespaceSchemaLocation="https://maven.apache.org/xsd/surefire-test-report-3.0.xsd"
 version="3.0" name="com.example.CartTest" time="0.052" tests="3" errors="0"
 skipped="1" failures="{failures}">
  <properties><property name="java.version" value="17.0.9"/></properties>
  <testcase name="costsNothing" classname="com.example.CartTest" time="0.01">
    <system-out><![CDATA[a <testcase> in the output]]></system-out>
  </testcase>
  <testcase name="tenthIsFree" classname="com.example.CartTest" time="0.002">{trouble}</testcase>
  <testcase name="later" classname="com.example.CartTest" time="0"><skipped message="later"/></testcase>
</testsuite>"""
SUREFIRE_TROUBLE = (
    '<failure message="expected: &lt;900&gt; but was: &lt;1000&gt;" '
    'type="org.opentest4j.AssertionFailedError"><![CDATA[org.opentest4j.Assertion...]]></failure>'
)
GRADLE = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="com.example.PriceTest" tests="2" skipped="0" failures="{failures}" errors="0"
 timestamp="2026-01-01T10:00:00" hostname="host" time="0.03">
  <properties/>
  <testcase name="[1] 100, 10" classname="com.example.PriceTest" time="0.02"/>
  <testcase name="[2] 250, 3" classname="com.example.PriceTest" time="0.01">{trouble}</testcase>
  <system-out><![CDATA[said]]></system-out>
  <system-err><![CDATA[]]></system-err>
</testsuite>"""
GRADLE_TROUBLE = (
    '<failure message="java.lang.AssertionError: 1 is not 2" type="java.lang.AssertionError">at</failure>'
)
NEXTEST = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="2" failures="{failures}" errors="0" uuid="1-2-3"
 timestamp="2026-01-01T10:00:00.000+00:00" time="0.012">
  <testsuite name="cart" tests="2" disabled="0" errors="0" failures="{failures}">
    <testcase name="tests::nine_are_paid" classname="cart" time="0.004"/>
    <testcase name="tests::the_tenth" classname="cart" time="0.004">{trouble}</testcase>
  </testsuite>
</testsuites>"""
NEXTEST_TROUBLE = (
    '<failure message="thread panicked" type="test failure with exit code 101">stack</failure>'
    "<system-out>out</system-out><system-err>err</system-err>"
)

TOOLS: dict[PresetName, tuple[str, str, tuple[str, ...]]] = {
    "maven": (SUREFIRE, SUREFIRE_TROUBLE, ("core/target/surefire-reports", "web/target/surefire-reports")),
    "gradle": (GRADLE, GRADLE_TROUBLE, ("build/test-results/test", "app/build/test-results/test")),
    "nextest": (NEXTEST, NEXTEST_TROUBLE, ("target/nextest/default",)),
}


def made(template: str, trouble: str = "") -> str:
    return template.format(failures=int(bool(trouble)), trouble=trouble)


async def judge(
    context: Context, preset: PresetName, written: Mapping[str, str], before: Mapping[str, str], code: int = 0
) -> EvaluationResult:
    """Judges a tree whose command puts the tree's files where the tool writes its reports."""
    report = PRESETS[preset].report
    assert isinstance(report, JUnitReport)
    places = sorted({*written, *before})
    command = "".join(
        f"[ -f {at}.in ] && mkdir -p $(dirname {place}) && cp {at}.in {place}; "
        for at, place in enumerate(places)
    )
    gate = CommandEvaluator(name="unit", command=f"{command}exit {code}", report=report)
    trees = [
        {"a": "", **{f"{places.index(name)}.in": text for name, text in each.items()}}
        for each in (written, before)
    ]
    return await gate.evaluate("coding", "", context(*trees))


def files(preset: PresetName, trouble: bool = False) -> dict[str, str]:
    """A report for each module, of which the last may have trouble."""
    template, told, places = TOOLS[preset]
    name = "junit.xml" if preset == "nextest" else "TEST-com.example.xml"
    found = {f"{place}/{name}": made(template) for place in places}
    last = f"{places[-1]}/{name}"
    return {**found, last: made(template, told)} if trouble else found


@pytest.mark.parametrize("preset", TOOLS)
async def test_reports_of_all_modules_count(context: Context, preset: PresetName) -> None:
    passed = await judge(context, preset, files(preset), files(preset))
    assert passed.status == "passed", passed.feedback
    failed = await judge(context, preset, files(preset, trouble=True), files(preset), code=1)
    assert failed.status == "failed"
    assert any(name in failed.feedback for name in ("tenthIsFree", "[2] 250, 3", "the_tenth"))


@pytest.mark.parametrize("preset", ["maven", "gradle"])
async def test_a_module_without_its_report_lost_its_tests(context: Context, preset: PresetName) -> None:
    before = files(preset)
    rest = dict(list(before.items())[:1])
    result = await judge(context, preset, rest, before)
    assert result.status == "failed"
    assert "no longer run" in result.feedback


async def test_a_report_of_several_suites_counts_beside_others(context: Context) -> None:
    written = {f"target/nextest/default/{name}.xml": made(NEXTEST) for name in ("a", "b")}
    result = await judge(context, "nextest", written, written)
    assert "All 4 tests passed" in result.feedback


@pytest.mark.parametrize(
    ("printed", "status"),
    [
        ("\nrunning 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed\n", "passed"),
        ("\nrunning 1 test\n", "failed"),
        ("what the test printed", "passed"),
    ],
)
async def test_a_rust_test_must_run_to_its_end(context: Context, printed: str, status: str) -> None:
    told = f"<system-out>{printed}</system-out>"
    written = {"target/nextest/default/junit.xml": NEXTEST.format(failures=0, trouble=told)}
    result = await judge(context, "nextest", written, files("nextest"))
    assert result.status == status, result.feedback


async def test_tests_that_all_fail_at_the_base_are_no_evidence(context: Context) -> None:
    told = '<failure message="Cannot find module lodash"/>'
    suite = f'<testsuite name="s"><testcase name="a">{told}</testcase></testsuite>'
    written = {"target/nextest/default/junit.xml": suite}
    result = await judge(context, "nextest", written, written, code=1)
    assert result.status == "errored"
    assert "1 failing tests and none that passes, at the base as well" in result.feedback
    assert "Cannot find module lodash. If it is one of the project's packages" in result.feedback


async def test_what_is_missing_is_told_before_a_long_trace(context: Context) -> None:
    command = "echo Cannot find module lodash; seq 1000; exit 1"
    gate = CommandEvaluator(name="unit", command=command, report=PRESETS["mocha"].report)
    result = await gate.evaluate("coding", "", context({"a": ""}, {"a": ""}))
    assert result.status == "errored"
    assert "Cannot find module lodash" in result.feedback
    assert "[environment] setup" in result.feedback


async def test_no_report_at_all_is_no_pass(context: Context) -> None:
    result = await judge(context, "maven", {}, files("maven"))
    assert result.status == "failed"
    assert "wrote no report" in result.feedback
    assert (await judge(context, "maven", {}, {})).status == "errored"


async def test_a_report_that_was_there_before_does_not_count(context: Context) -> None:
    report = PRESETS["maven"].report
    assert isinstance(report, JUnitReport)
    stale = {"core/target/surefire-reports/TEST-old.xml": made(SUREFIRE)}
    gate = CommandEvaluator(name="unit", command="true", report=report)
    assert (await gate.evaluate("coding", "", context(stale, stale))).status == "errored"


async def test_a_report_behind_a_link_is_not_read(context: Context) -> None:
    report = PRESETS["maven"].report
    assert isinstance(report, JUnitReport)
    command = "mkdir -p target/surefire-reports; ln -s ../../kept.xml target/surefire-reports/a.xml"
    gate = CommandEvaluator(name="unit", command=command, report=report)
    tree = {"kept.xml": made(SUREFIRE)}
    assert (await gate.evaluate("coding", "", context(tree, tree))).status == "errored"
