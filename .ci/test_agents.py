"""Installs real coding agents at the versions that their profiles name, and has them work without a key.

Each is checked in the sandbox, and some of them also work on sprints: with the commands of the README, and
while their provider fails. They take gigabytes and minutes, so this is no part of the tests. Agents go into
.venv/agents, or to AGENTS_DIR. One that cannot be installed is skipped, with the reason.

`--installed` installs nothing and takes what is in AGENTS_PATH and PATH. `--quick` leaves out the
faults. `--seconds N` bounds all steps together; those that do not fit are skipped.
"""

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROFILES = ROOT / "backend" / "app" / "agents" / "external" / "built_in.toml"
PROGRAM = Path(sys.executable).parent / "phaserunner"
NODE = "node@24"
EXTRA = {"mini-swe-agent": ["mcp"]}
PYTHON = {"aider-chat": ">=3.10,<3.13"}
SECONDS = 900
STEP_SECONDS = 90
"""What a step takes on a slow machine."""

TESTS = ROOT / "backend" / "tests" / "real_agents"
PYTEST = [sys.executable, "-m", "pytest", "-n", "0", "-m", "real", "-q", "-rs"]
NO_TESTS = 5
NO_NETWORK = (
    "ENOTFOUND",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "EAI_AGAIN",
    "dns error",
    "Failed to fetch",
)


class SkippedError(Exception):
    """An agent is not tried; the message says why."""


def main(given: Sequence[str]) -> int:
    """Check the agents that are named, or all; return 1 if one fails."""
    profiles = tomllib.loads(PROFILES.read_text(encoding="utf-8"))["agents"]
    asked = arguments(given)
    unknown = [name for name in asked.agents if name not in profiles]
    if unknown:
        print(f"there is no profile {unknown[0]!r}: choose of {', '.join(profiles)}")
        return 2
    time_left = TimeLeft(asked.seconds)
    installer = None if asked.installed else Installer(time_left)
    results: dict[str, str] = {}
    for name in asked.agents or profiles:
        package = profiles[name]["package"]
        print(f"== {name} ({package} {profiles[name]['tried']})", flush=True)
        at = time.monotonic()
        try:
            paths = installer.paths(package, profiles[name]["tried"]) if installer else []
            results[name] = vet(name, profiles, environment(paths), time_left, quick=asked.quick)
        except SkippedError as error:
            results[name] = f"skipped: {error}"
        print(f"{name}: {results[name]} ({time.monotonic() - at:.0f} s)", flush=True)
    print(f"== {time_left.used():.0f} s in all")
    for name, result in results.items():
        print(f"{name:<16} {result}")
    return 1 if any(each.startswith("failed") for each in results.values()) else 0


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="test_agents.py")
    parser.add_argument("agents", nargs="*")
    parser.add_argument("--installed", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, default=math.inf)
    return parser.parse_args(given)


class TimeLeft:
    """A bound on all steps together."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._begun = time.monotonic()

    def used(self) -> float:
        """Give the seconds since the start."""
        return time.monotonic() - self._begun

    def bound(self, most: float) -> float:
        """Give the seconds that a step may take."""
        return max(1.0, min(most, self._seconds - self.used()))


def environment(paths: Sequence[Path]) -> dict[str, str]:
    """Give the environment in which the programs of these directories are found."""
    known = os.environ.get("AGENTS_PATH")
    places = [*map(str, paths), *([known] if known else [])]
    return {**os.environ, "AGENTS_PATH": ",".join(places)}


def vet(
    name: str, profiles: Iterable[str], env: Mapping[str, str], time_left: TimeLeft, *, quick: bool
) -> str:
    """Check an agent, and let it work on sprints; return `passed`, or what is not so.

    Raises:
        SkippedError: it is not installed.
    """
    if not is_there(name, env):
        raise SkippedError("it is not installed")
    tests = [*PYTEST, "-k", selection(name, profiles)]
    steps: list[tuple[str, Sequence[str | Path]]] = [
        ("the check", [PROGRAM, "agents", "check", name, "--timeout", "300"]),
        ("the README's commands", [*tests, TESTS / "test_readme.py"]),
    ]
    if not quick:
        steps.append(("the faults", [*tests, TESTS / "test_faults.py"]))
    done: list[str] = []
    for step, command in steps:
        result = tried(command, env, time_left)
        if result.startswith("failed"):
            return f"{result} of {step}"
        if result:
            done.append(f"{step}: {result}")
    return ", ".join(done)


def selection(name: str, profiles: Iterable[str]) -> str:
    """Give pytest's expression for the tests of one agent; the names of others may begin with its name."""
    longer = [each for each in profiles if each.startswith(f"{name}-")]
    return " and not ".join(f"[{each}" for each in (name, *longer))


def tried(command: Sequence[str | Path], env: Mapping[str, str], time_left: TimeLeft) -> str:
    """Run one step; return `passed`, `skipped` or `failed` with its reason, or nothing if it has no tests."""
    seconds = time_left.bound(SECONDS)
    if seconds < STEP_SECONDS:
        return "skipped, too little time is left"
    code = run(command, env, seconds)
    if code is None:
        result = "failed" if seconds == SECONDS else "skipped"
        return f"{result}, it did not end within {seconds:.0f} s"
    return {0: "passed", NO_TESTS: ""}.get(code, f"failed with exit code {code}")


def run(command: Sequence[str | Path], env: Mapping[str, str], seconds: float) -> int | None:
    """Run a command; return its exit code, or None if it had to be interrupted."""
    process = subprocess.Popen(command, env=env, cwd=ROOT)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        # It ends the services that it has started.
        process.send_signal(signal.SIGINT)
    try:
        process.wait(STEP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return None


def is_there(name: str, env: Mapping[str, str]) -> bool:
    """Return whether an agent's program is found."""
    listed = subprocess.run(
        [PROGRAM, "agents", "--json"], env=env, capture_output=True, text=True, check=True
    )
    state = next(each for each in json.loads(listed.stdout)["items"] if each["name"] == name)
    return not (state["missing"] or "").startswith("there is no program")


class Installer:
    """Installs packages, each kind until its registry does not answer."""

    def __init__(self, time_left: TimeLeft) -> None:
        self._time_left = time_left
        self._place = Path(os.environ.get("AGENTS_DIR", ROOT / ".venv" / "agents"))
        self._away: dict[str, str] = {}
        self._node: Path | None = None

    def paths(self, package: str, version: str) -> list[Path]:
        """Install a package such as `npm:opencode-ai`; return where programs are looked for.

        Raises:
            SkippedError: the registry is not there, or has no such version.
        """
        kind, _, name = package.partition(":")
        if kind == "pypi":
            return [self._install(kind, name, version)]
        if self._node is None:
            package, _, version_of_node = NODE.partition("@")
            self._node = self._install("npm", package, version_of_node)
        return [self._install(kind, name, version), self._node]

    def _install(self, kind: str, name: str, version: str) -> Path:
        place = self._place / name.rpartition("/")[2]
        programs = place / ("node_modules/.bin" if kind == "npm" else "bin")
        note = place / "installed.txt"
        if note.is_file() and note.read_text() == f"{name} {version}":
            return programs
        if kind in self._away:
            raise SkippedError(self._away[kind])
        place.mkdir(parents=True, exist_ok=True)
        commands = npm(place, name, version) if kind == "npm" else pypi(place, name, version)
        for command in commands:
            self._run(kind, command)
        note.write_text(f"{name} {version}")
        return programs

    def _run(self, kind: str, command: Sequence[str]) -> None:
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=self._time_left.bound(SECONDS)
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            self._away[kind] = str(error)
            raise SkippedError(self._away[kind]) from error
        if done.returncode:
            told = done.stderr.strip()[-300:]
            if any(each in done.stderr for each in NO_NETWORK):
                self._away[kind] = f"the registry does not answer: {told}"
            raise SkippedError(self._away.get(kind, told))


def npm(place: Path, name: str, version: str) -> list[list[str]]:
    """Give the commands that install a package from npm."""
    quick = ["--no-audit", "--no-fund", "--fetch-retries", "1", "--fetch-timeout", "60000"]
    return [["npm", "install", *quick, "--prefix", str(place), f"{name}@{version}"]]


def pypi(place: Path, name: str, version: str) -> list[list[str]]:
    """Give the commands that install a package from PyPI into an environment of its own."""
    python = ["--python", PYTHON[name]] if name in PYTHON else []
    uv = [sys.executable, "-m", "uv"]
    wanted = [f"{name}=={version}", *EXTRA.get(name, [])]
    interpreter = str(place / "bin" / "python")
    # In the sandbox the environment is read-only, so Python could not keep what it compiles at each start.
    return [
        [*uv, "venv", "--quiet", "--allow-existing", *python, str(place)],
        [*uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", interpreter, *wanted],
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
