"""What counter-tests find in honest suites, which is nothing, and in forgeries."""

import argparse
import asyncio
import json
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from app.runners.evaluators.testing.counter_tests.counter_run import CounterTests
from app.runners.evaluators.testing.counter_tests.sampling import CounterTestBudget, Nearness
from app.runners.evaluators.testing.layout.config import settings_for
from app.runners.evaluators.testing.layout.trees import lay_out, whole_tree
from app.runners.evaluators.testing.running.run import Harness
from app.schemas.modes import SandboxMode
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.sandbox import Sandbox

_MOST_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Measured:
    """What one check of one suite gave; times in seconds of the clock."""

    project: str
    seed: int
    base: bool
    passed: int
    proven: int
    refuted: dict[str, str]
    reasons: dict[str, int]
    plain: float
    extra: float


async def measure(root: Path, seed: int, python: Path, *, base: bool, budget: CounterTestBudget) -> Measured:
    """Check a project's own suite against itself; `base` tells whether its code may speak for itself."""
    sandbox = Sandbox(SandboxSettings(mode=SandboxMode.PREFERRED))
    harness = Harness(python=python, base=root, seconds=_MOST_SECONDS, sandbox=sandbox)
    tree = lay_out(root, root, settings_for(root, root)).base_run
    if tree is None:
        raise SystemExit(f"{root} has no tests")
    began = time.monotonic()
    plain = await harness.run(tree)
    took = time.monotonic() - began
    own = whole_tree(root)
    honest = replace(own, trusted=frozenset(own.files)) if base else None
    report = await CounterTests(harness=harness, base=honest, seed=seed, budget=budget).check(
        tree, plain, {}, Nearness()
    )
    return Measured(
        project=root.name,
        seed=seed,
        base=base,
        passed=sum(each.ok for each in plain.tests.values()),
        proven=len(report.proven),
        refuted=dict(report.refuted),
        reasons=report.metadata()["reasons"],
        plain=round(took, 2),
        extra=round(report.seconds, 2),
    )


def main() -> None:
    """Measure projects one after the other and print a line of JSON for each check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("projects", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    parser.add_argument(
        "--free", type=float, default=CounterTestBudget().free, help="seconds of tests that always fit"
    )
    parser.add_argument("--goal", action="store_true", help="judge as if the base did not pass its tests")
    given = parser.parse_args()
    for root in given.projects:
        for seed in range(given.seeds):
            measured = asyncio.run(
                measure(
                    root.resolve(),
                    seed,
                    given.python,
                    base=not given.goal,
                    budget=CounterTestBudget(free=given.free),
                )
            )
            print(json.dumps(asdict(measured)), flush=True)


if __name__ == "__main__":
    main()
