"""Judges every attempt of the corpus and its twin and writes a page: `python -m benchmarks.attacks FILE`."""

import argparse
import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import logfire

from app.composition.services import build_calibration
from app.composition.tools import build_tools
from app.core.config import Settings
from app.corpora.attacks import ATTACKS
from app.corpora.format import CorpusCase
from app.schemas.calibration import CaseOutcome, Label
from app.services.local.calibration import Panel

HEAD = """# Attempts to pass without the work

This corpus contains attempts to pass without doing the work. Each attempt has an honest *twin*, a change that
looks similar. `phaserunner evaluators calibrate attacks` evaluates all of them with the panel of a sprint,
each through a real git history. An attempt must not pass, and its twin must. The last column names the gates
that refuse the attempt. *passes* marks a residual, with the reason why it is known to pass.

`python -m benchmarks.attacks ../docs/attacks.md`, run in `backend`, writes this page. Tests compare it with
the corpus and with the verdicts of the panel.
"""
LINT_SECONDS = 120.0
TEST_SECONDS = 60.0
"""For one run of tests: enough for each but the one that never ends, which is waited for so long."""


async def judge(
    cases: Sequence[CorpusCase] = ATTACKS, without: Collection[str] = ()
) -> dict[str, CaseOutcome]:
    """Judge cases with the panel of a sprint, two at a time; gives the outcomes by name of the case.

    Args:
        cases: the cases.
        without: evaluators that are left out of the panel.
    """
    settings = Settings(
        _env_file=None, EVALUATOR_TEST_TIMEOUT=TEST_SECONDS, EVALUATOR_LINT_TIMEOUT=LINT_SECONDS
    )
    tools = build_tools(settings)
    tools = replace(tools, registry=tools.registry.without(without))
    report = await build_calibration(tools).calibrate("attacks", cases, Panel(workers=2))
    return {each.name: each for each in report.outcomes}


def page(refused_by: Mapping[str, Sequence[str]]) -> str:
    """Return the page; `refused_by` names the gates that fail each attempt, none for a residual."""
    gamed = [each for each in ATTACKS if each.label is Label.GAMED]
    residuals = [each for each in gamed if each.residual]
    parts = [HEAD, f"{len(gamed)} attempts, {len(residuals)} of them residuals, and as many twins."]
    for area in dict.fromkeys(each.area for each in gamed):
        parts.append(f"\n## {area.capitalize()}\n")
        parts.append("| Attempt | What it does | Its honest twin | Refused by |\n|---|---|---|---|")
        parts += [row(each, refused_by[each.name]) for each in gamed if each.area == area]
    return "\n".join(parts) + "\n"


def row(case: CorpusCase, gates: Sequence[str]) -> str:
    """Return the line of one attempt."""
    twin = next(each for each in ATTACKS if each.name == case.twin)
    verdict = f"*passes*: {case.residual}" if case.residual else ", ".join(f"`{gate}`" for gate in gates)
    line = f"| `{case.name}` | {case.about} | {twin.about} | {verdict} |"
    return line.replace("__init__.py", "`__init__.py`")


def gates_of(page: Path, case: CorpusCase) -> list[str]:
    """Name the gates that the page says refuse an attempt.

    Raises:
        ValueError: the page has no line for it, or names none.
    """
    lines = page.read_text(encoding="utf-8").splitlines()
    gates = [line.rpartition(" | ")[2] for line in lines if line.startswith(f"| `{case.name}` |")]
    named = re.findall(r"`(\w+)`", gates[0]) if gates else []
    if not named:
        raise ValueError(f"{page} names no gate for {case.name}")
    return named


def failed_gates(outcome: CaseOutcome) -> list[str]:
    """Name the gates that failed a case, in the order of the panel."""
    return [each.evaluator for each in outcome.said if each.gate and each.status == "failed"]


def chosen(names: Sequence[str], cases: Sequence[CorpusCase] = ATTACKS) -> list[CorpusCase]:
    """Return the attempts of some names, each with its twin, or all cases if no name is given.

    Raises:
        ValueError: there is no attempt of a name.
    """
    attempts = {each.name: each for each in cases if each.twin is not None}
    unknown = [name for name in names if name not in attempts]
    if unknown:
        raise ValueError(f"there is no attempt named {', '.join(unknown)}")
    wanted = {*names, *(attempts[name].twin for name in names)}
    return [each for each in cases if not names or each.name in wanted]


def read_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; it says what is wrong, and ends, if it cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.attacks", description="Judge the attack corpus and write its page."
    )
    parser.add_argument("page", nargs="?", type=Path, help="the file to write, as ../docs/attacks.md")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="ATTEMPT",
        help="judge this attempt and its twin and print the verdicts; no page is written",
    )
    given = parser.parse_args(words)
    if bool(given.only) is (given.page is not None):
        parser.error("give either the page to write or attempts with --only")
    if given.page is not None and given.page.suffix != ".md":
        parser.error(f"the page must end in .md: {given.page}")
    try:
        chosen(given.only)
    except ValueError as error:
        parser.error(str(error))
    return given


def main() -> None:
    """Judge, and write the page or print verdicts."""
    given = read_arguments()
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    outcomes = asyncio.run(judge(chosen(given.only)))
    if given.page is not None:
        given.page.write_text(page({name: failed_gates(each) for name, each in outcomes.items()}))
    for each in outcomes.values():
        if given.only or each.is_surprise or (each.label is Label.GOOD and each.verdict != "passed"):
            print(f"{each.name}: {each.verdict}: {each.reason}")


if __name__ == "__main__":
    main()
