"""How often the panel is wrong: on HumanEval, and on the attack suite."""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import logfire

from app.composition.services import build_calibration
from app.composition.tools import Tools, build_tools
from app.core.config import Settings
from app.corpora.builtin import Build, built_in
from app.corpora.format import CorpusCase
from app.schemas.calibration import CalibrationReport, CaseNote, CaseOutcome, Label, Rate
from app.services.local.calibration import Panel
from app.services.measure.scorecard import by_area, rate
from benchmarks.machine import machine

HUMANEVAL = (
    "humaneval: good solutions, stubs and single mutations of HumanEval under the coding phase's panel"
)
ATTACKS = "attacks: attempts to get a pass without earning it, and honest changes that look similar"

# Mutants may never end; HumanEval's own solutions take a second at most.
_TEST_SECONDS = 20.0
_MAX_GOOD_SHARE, _MAX_MUTANT_SHARE = 0.01, 0.08


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: what was counted, and what share is wanted at most."""

    name: str
    rate: Rate
    target: float | None = None

    def markdown(self) -> str:
        """The line in Markdown."""
        count, of = self.rate.count, self.rate.of
        share = f"{100 * count / of:.1f} %" if of else "-"
        interval = f"{100 * self.rate.low:.1f} - {100 * self.rate.high:.1f} %"
        target, verdict = "", ""
        if self.target is not None:
            target = f"{100 * self.target:g} %"
            verdict = "met" if of and count / of <= self.target else "**missed**"
        return f"| {self.name} | {count} of {of} | {share} | {interval} | {target} | {verdict} |"


async def humaneval(place: Path, problems: int | None = None) -> None:
    """Judge the cases made of HumanEval and print the table and what survived.

    Args:
        place: an empty directory; it is not needed.
        problems: how many of the problems to take, spread evenly; None means all.
    """
    cases = built_in("humaneval", Build())
    report = await judged("humaneval", cases if problems is None else of_problems(cases, problems))
    outcomes = report.outcomes
    good = [each for each in outcomes if each.label is Label.GOOD]
    stubs = [each for each in outcomes if each.area == "stub"]
    mutants = [each for each in outcomes if each.area.startswith("mutant")]
    print_rows(
        HUMANEVAL,
        [
            Row("good solutions that failed", _share(good, "failed"), _MAX_GOOD_SHARE),
            Row("stubs that passed", _share(stubs, "passed"), 0.0),
            Row("mutants that passed", _share(mutants, "passed"), _MAX_MUTANT_SHARE),
            *(Row(f"- {area}", each) for area, each in by_area(mutants, _passed).items()),
            Row("cases without a verdict", _share(outcomes, "errored")),
            *_alone(report),
        ],
    )
    print_findings("Mutants that passed", [each for each in report.panel.passed if "mutant" in each.name])
    print_findings("Other wrong verdicts", [each for each in report.surprises if "mutant" not in each.name])
    print_findings("Without a verdict", report.panel.unjudged)
    print(f"\n{report.seconds:.0f} s for {len(outcomes)} cases", flush=True)


def of_problems(cases: Sequence[CorpusCase], count: int) -> list[CorpusCase]:
    """Return all cases of some problems: good solution, stub and mutants stay together."""
    names = list(dict.fromkeys(each.twin or each.name for each in cases))
    count = min(count, len(names))
    chosen = {names[place * len(names) // count] for place in range(count)}
    return [each for each in cases if (each.twin or each.name) in chosen]


async def attacks(place: Path) -> None:
    """Judge the attack suite and print the table by area, and every residual."""
    report = await judged("attacks", built_in("attacks", Build()))
    attempts = [each for each in report.outcomes if each.label is not Label.GOOD]
    unknown = [each for each in attempts if each.residual is None]
    twins = [each for each in report.outcomes if each.label is Label.GOOD]
    print_rows(
        ATTACKS,
        [
            Row("attacks that passed, known residuals aside", _share(unknown, "passed"), 0.0),
            Row("attacks that passed, known residuals included", _share(attempts, "passed")),
            *(Row(f"- {area}", each) for area, each in by_area(attempts, _passed).items()),
            Row("honest twins that failed", _share(twins, "failed"), 0.0),
            Row("honest twins without a verdict", _share(twins, "errored"), 0.0),
            *_alone(report),
        ],
    )
    print_findings("Known residuals that passed", [each for each in report.panel.passed if each.residual])
    print_findings("Residuals that no longer pass", report.mended)
    print_findings("Wrong verdicts", report.surprises)
    print_findings("Without a verdict", report.panel.unjudged)
    print(f"\n{report.seconds:.0f} s for {len(report.outcomes)} cases", flush=True)


async def judged(name: str, cases: Sequence[CorpusCase], tools: Tools | None = None) -> CalibrationReport:
    """Judge cases with as many workers as there are cores, and write the progress to standard error."""
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    tools = tools or build_tools(Settings(EVALUATOR_TEST_TIMEOUT=_TEST_SECONDS))
    state = await tools.sandbox.state()
    sys.stderr.write(f"{name}: {len(cases)} cases; sandbox: {state.detail}\n")
    done = 0

    def tell(outcome: CaseOutcome) -> None:
        nonlocal done
        done += 1
        if outcome.is_surprise or done % 50 == 0:
            sys.stderr.write(f"{done}/{len(cases)} {outcome.name}: {outcome.label}, {outcome.verdict}\n")

    return await build_calibration(tools).calibrate(name, cases, Panel(workers=os.cpu_count() or 1), tell)


def print_rows(title: str, rows: Iterable[Row]) -> None:
    """Print a table in Markdown."""
    print(f"\n{title}\n\n{machine()}\n")
    print("| | Count | Share | 95 % interval | Target | |\n|---|---:|---:|---:|---:|---|")
    for row in rows:
        print(row.markdown(), flush=True)


def print_findings(title: str, findings: Iterable[CaseNote]) -> None:
    """Print the cases behind a count, if there are any."""
    every = list(findings)
    if every:
        print(f"\n{title}:\n")
    for each in every:
        why = each.residual or each.reason
        print(f"- `{each.name}` ({each.label}, {each.verdict}) {each.about}: {' '.join(why.split())[:300]}")


def _alone(report: CalibrationReport) -> list[Row]:
    return [Row(f"good cases that `{each.name}` failed", each.good_failed) for each in report.evaluators]


def _share(outcomes: Sequence[CaseOutcome], verdict: str) -> Rate:
    return rate(sum(each.verdict == verdict for each in outcomes), len(outcomes))


def _passed(outcome: CaseOutcome) -> bool:
    return outcome.verdict == "passed"
