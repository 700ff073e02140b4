"""Asks Lighthouse about the built page: the list of runs, a run and an escalation, with the two examples.

Prints a table of scores and fails below 95. npx fetches Lighthouse from its registry; Chromium is installed.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from examples_service import demand
from screenshots import CHROMIUMS, examples

PACKAGE = "lighthouse@12.8.2"  # the last one that runs on Node 20
CATEGORIES = ("performance", "accessibility", "best-practices")
LEAST = 95
ROUNDS = 3


def main() -> int:
    """Measure each page, print the medians, and say whether they suffice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", choices=("desktop", "mobile"), default="desktop")
    preset = parser.parse_args().preset
    chromium = next((path for name in CHROMIUMS if (path := shutil.which(name))), None)
    npx = shutil.which("npx")
    if chromium is None or npx is None:
        demand(chromium is not None, "no Chromium is installed (Debian, Ubuntu: apt install chromium)")
        demand(npx is not None, "no Node is installed: npx is not on the search path")
        return 1
    with (
        tempfile.TemporaryDirectory(prefix="phaserunner-lighthouse-") as place,
        examples(Path(place)) as (address, ids),
    ):
        pages = {
            "/": address,
            "a run": f"{address}/sprints/{ids['completed']}",
            "an escalation": f"{address}/escalations/{escalation(address)}",
        }
        command = [npx, "--yes", PACKAGE, "--quiet", "--output=json", "--output-path=stdout"]
        command += ["--preset=desktop"] if preset == "desktop" else []
        environment = {**os.environ, "CHROME_PATH": chromium}
        reports = {
            name: [ask(command, url, environment) for _ in range(ROUNDS)] for name, url in pages.items()
        }
    return report(reports)


def escalation(address: str) -> str:
    """Give the id of the one that is open."""
    with urllib.request.urlopen(f"{address}/api/v1/escalations?status=open") as answer:
        return str(json.load(answer)["items"][0]["id"])


def ask(command: Sequence[str], url: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """Give Lighthouse's report of one page."""
    flags = "--headless=new" + (" --no-sandbox" if os.geteuid() == 0 else "")
    asked = [*command, url, f"--chrome-flags={flags}", f"--only-categories={','.join(CATEGORIES)}"]
    done = subprocess.run(asked, env=environment, capture_output=True, text=True, timeout=300)
    demand(done.returncode == 0, f"Lighthouse failed: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def report(reports: Mapping[str, Sequence[Mapping[str, Any]]]) -> int:
    """Print the medians and what each score lost points for; 1 if one is too low."""
    worst = 100
    sys.stdout.write(
        f"| Page | {' | '.join(CATEGORIES)} | machine |\n|---|{'---:|' * len(CATEGORIES)}---:|\n"
    )
    for name, rounds in reports.items():
        scores = [
            round(100 * statistics.median(each["categories"][category]["score"] for each in rounds))
            for category in CATEGORIES
        ]
        worst = min(worst, *scores)
        # Lighthouse's own measure of the machine: the lower, the slower.
        machine = statistics.median(each["environment"]["benchmarkIndex"] for each in rounds)
        sys.stdout.write(f"| {name} | {' | '.join(map(str, scores))} | {machine:.0f} |\n")
    for name, rounds in reports.items():
        for audit in rounds[-1]["audits"].values():
            if audit.get("score") is not None and audit["score"] < 0.9:
                sys.stderr.write(f"{name}: {audit['id']} {audit['score']} {audit.get('displayValue', '')}\n")
    return 0 if worst >= LEAST else 1


if __name__ == "__main__":
    raise SystemExit(main())
