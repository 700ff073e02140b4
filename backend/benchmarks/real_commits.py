"""Whether honest work passes: judges real commits and releases of well-known projects."""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import logfire

from app.composition.judging import evaluation_service
from app.core.config import Settings
from app.core.errors import PhaseRunnerError
from app.schemas.api.workspace_reports import EvaluateRequest
from app.services.local.evaluations import EvaluationService
from benchmarks.real_commit_cases import LIST, Case, ListError, choose, read_list
from benchmarks.real_commit_results import (
    JudgedCase,
    Outcome,
    add_result,
    judged,
    read_results,
    table,
    unjudged,
)
from benchmarks.real_commit_trees import FetchError, laid_out

_LIMIT_SECONDS = 900.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be judged, and where.

    Attributes:
        cases: in this order.
        place: directory for results, archives and environments.
        histories: directory with a clone for each project; None leaves commits without a verdict.
        seconds: for one case.
        again: whether cases that did not pass are judged once more.
    """

    cases: Sequence[Case]
    place: Path
    histories: Path | None
    seconds: float
    again: bool = False

    @property
    def results(self) -> Path:
        """One JSON line for each case that was judged."""
        return self.place / "results.jsonl"


async def judge_all(plan: Plan) -> None:
    """Judge the cases that have no result yet, one at a time; write a line for each to standard error."""
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    results = read_results(plan.results)
    done = {each.case for each in results if each.outcome is Outcome.PASSED or not plan.again}
    left = [each for each in plan.cases if each.name not in done]
    settings = Settings(DATA_DIR=plan.place / "data")
    async with evaluation_service(settings) as service:
        for number, case in enumerate(left, start=1):
            result = await _judge(service, case, plan)
            add_result(plan.results, result)
            words = f"{number}/{len(left)} {case.name}: {result.outcome}, {result.seconds:.0f} s"
            sys.stderr.write(f"{words} {result.gate} {' '.join(result.reason.split())[:200]}\n")


async def _judge(service: EvaluationService, case: Case, plan: Plan) -> JudgedCase:
    started = time.monotonic()
    try:
        async with laid_out(case, plan.histories, plan.place / "archives") as workspace:
            started = time.monotonic()
            request = EvaluateRequest(
                path=str(workspace.path), base=workspace.base, goal=workspace.goal, deterministic_only=True
            )
            with anyio.fail_after(plan.seconds):
                report = await service.judge(request)
            return judged(case, report, time.monotonic() - started)
    except TimeoutError:
        return unjudged(case, f"no verdict after {plan.seconds:.0f} s", time.monotonic() - started)
    except (FetchError, PhaseRunnerError, OSError) as error:
        return unjudged(case, str(error), time.monotonic() - started)


def _plan(arguments: argparse.Namespace, listed: Sequence[Case]) -> Plan:
    cases = choose(listed, arguments.only, arguments.sample)
    histories: Path | None = arguments.histories
    if histories is not None and not histories.is_dir():
        raise ListError(f"--histories: {histories} is not a directory")
    kept = [each for each in cases if each.is_release or histories is not None]
    place: Path = arguments.place.absolute()
    return Plan(kept, place, histories and histories.absolute(), arguments.limit, arguments.again)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.real_commits",
        description="Judge honest changes of well-known projects. Releases come from the package registry.",
    )
    parser.add_argument("place", type=Path, help="directory for results; with the same one a run goes on")
    parser.add_argument("--histories", type=Path, metavar="DIR", help="clones, each named as its project")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="a project or a case")
    parser.add_argument("--sample", type=_positive, metavar="N", help="N cases, of each project one first")
    parser.add_argument("--again", action="store_true", help="judge once more what did not pass")
    parser.add_argument("--limit", type=float, default=_LIMIT_SECONDS, metavar="SECONDS", help="for a case")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def main() -> None:
    """Judge what was asked for, and print the table of all that `place` holds."""
    parser = _parser()
    arguments = parser.parse_args()
    try:
        listed = read_list(LIST.read_text("utf-8"))
        plan = _plan(arguments, listed.cases)
    except ListError as error:
        parser.error(str(error))
    plan.place.mkdir(parents=True, exist_ok=True)
    asyncio.run(judge_all(plan))
    if results := read_results(plan.results):
        text = table(results, listed.rightly_refused)
        (plan.place / "results.md").write_text(f"{text}\n", "utf-8")
        print(text)


if __name__ == "__main__":
    main()
