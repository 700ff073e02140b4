"""Installs real coding agents at the versions that their profiles name, and has them work without a key.

Each is checked in the sandbox, and two of them work on the example sprint, as docs/agents.md says. They
take gigabytes and minutes, so this is no part of the tests. Agents go into .venv/agents, or to AGENTS_DIR.
One that cannot be installed is skipped, with the reason. `--installed` installs nothing and takes what is in
AGENTS_PATH and PATH.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from examples_service import free_port

ROOT = Path(__file__).resolve().parents[1]
PROFILES = ROOT / "backend" / "app" / "agents" / "external" / "built_in.toml"
PROGRAM = Path(sys.executable).parent / "phaserunner"
NODE = "node@24"
EXTRA = {"mini-swe-agent": ["mcp"]}
PYTHON = {"aider-chat": ">=3.10,<3.13"}
SECONDS = 900
START_SECONDS = 120
SPRINTS = ("codex", "opencode")
EXAMPLE = "teatime"
NO_NETWORK = (
    "ENOTFOUND",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "EAI_AGAIN",
    "dns error",
    "Failed to fetch",
)


class CannotInstallError(Exception):
    """A package cannot be installed; the message says why."""


def main(given: Sequence[str]) -> int:
    """Check the agents that are named, or all; return 1 if one fails."""
    profiles = tomllib.loads(PROFILES.read_text(encoding="utf-8"))["agents"]
    wanted = [each for each in given if each != "--installed"]
    unknown = [name for name in wanted if name not in profiles]
    if unknown:
        print(f"there is no profile {unknown[0]!r}: choose of {', '.join(profiles)}")
        return 2
    installer = None if "--installed" in given else Installer()
    results: dict[str, str] = {}
    begun = time.monotonic()
    for name in wanted or profiles:
        package = profiles[name]["package"]
        print(f"== {name} ({package} {profiles[name]['tried']})", flush=True)
        at = time.monotonic()
        try:
            paths = installer.paths(package, profiles[name]["tried"]) if installer else []
        except CannotInstallError as error:
            results[name] = f"skipped: {error}"
        else:
            results[name] = vet(name, environment(paths))
        print(f"{name}: {results[name]} ({time.monotonic() - at:.0f} s)", flush=True)
    print(f"== {time.monotonic() - begun:.0f} s in all")
    for name, result in results.items():
        print(f"{name:<16} {result}")
    return 1 if any(each.startswith("failed") for each in results.values()) else 0


def environment(paths: Sequence[Path]) -> dict[str, str]:
    """Give the environment in which the programs of these directories are found."""
    known = os.environ.get("AGENTS_PATH")
    places = [*map(str, paths), *([known] if known else [])]
    return {**os.environ, "AGENTS_PATH": ",".join(places), "LOGFIRE_IGNORE_NO_CONFIG": "1"}


def vet(name: str, env: Mapping[str, str]) -> str:
    """Check an agent, and let it work on the example sprint; return `passed`, or what is not so."""
    if not is_there(name, env):
        return "skipped: it is not installed"
    done = subprocess.run([PROGRAM, "agents", "check", name, "--timeout", "300"], env=env)
    if done.returncode:
        return "failed: phaserunner agents check"
    return sprint(name, env) if name in SPRINTS else "passed"


def is_there(name: str, env: Mapping[str, str]) -> bool:
    """Return whether an agent's program is found."""
    listed = subprocess.run(
        [PROGRAM, "agents", "--json"], env=env, capture_output=True, text=True, check=True
    )
    state = next(each for each in json.loads(listed.stdout)["items"] if each["name"] == name)
    return not (state["missing"] or "").startswith("there is no program")


def sprint(name: str, env: Mapping[str, str]) -> str:
    """Let an agent work on the example sprint, with the commands of docs/agents.md."""
    with tempfile.TemporaryDirectory(prefix="test-agents-") as directory, contextlib.ExitStack() as stack:
        place = Path(directory)
        model = stack.enter_context(
            running(["scripted-model", "--example", EXAMPLE, "--port", "0", "--json"], env, place)
        )
        settings = wait_for_json(model, place / "scripted-model.log")["settings"]
        port = str(free_port())
        service = {**env, **settings, "DATA_DIR": str(place / "data"), "PORT": port}
        stack.enter_context(running(["serve"], service, place))
        asked = [PROGRAM, "run", "--example", EXAMPLE, "--agent", name, "--timeout", str(SECONDS)]
        deadline = time.monotonic() + START_SECONDS
        while True:
            done = subprocess.run(asked, env=service)
            # 5 is what a service that does not answer yet gives.
            if done.returncode != 5 or time.monotonic() > deadline:
                break
            time.sleep(1)
        if done.returncode:
            print((place / "serve.log").read_text()[-3_000:])
    return (
        f"failed: the example sprint, exit code {done.returncode}"
        if done.returncode
        else "passed, also the sprint"
    )


@contextlib.contextmanager
def running(
    arguments: Sequence[str], env: Mapping[str, str], place: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command of PhaseRunner while the block runs; what it prints goes to NAME.log."""
    with (place / f"{arguments[0]}.log").open("wb") as log:
        process = subprocess.Popen([PROGRAM, *arguments], env=env, stdout=log, stderr=log, cwd=place)
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for_json(process: subprocess.Popen[bytes], log: Path) -> dict[str, dict[str, str]]:
    """Wait until a process has written a JSON document."""
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(ValueError):
            return json.loads(log.read_text())
        time.sleep(0.1)
    raise SystemExit(f"{process.args}: {log.read_text()}")


class Installer:
    """Installs packages, each kind until its registry does not answer."""

    def __init__(self) -> None:
        self._place = Path(os.environ.get("AGENTS_DIR", ROOT / ".venv" / "agents"))
        self._away: dict[str, str] = {}
        self._node: Path | None = None

    def paths(self, package: str, version: str) -> list[Path]:
        """Install a package such as `npm:opencode-ai`; return where programs are looked for.

        Raises:
            CannotInstallError: the registry is not there, or has no such version.
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
            raise CannotInstallError(self._away[kind])
        place.mkdir(parents=True, exist_ok=True)
        commands = npm(place, name, version) if kind == "npm" else pypi(place, name, version)
        for command in commands:
            self._run(kind, command)
        note.write_text(f"{name} {version}")
        return programs

    def _run(self, kind: str, command: Sequence[str]) -> None:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            self._away[kind] = str(error)
            raise CannotInstallError(self._away[kind]) from error
        if done.returncode:
            told = done.stderr.strip()[-300:]
            if any(each in done.stderr for each in NO_NETWORK):
                self._away[kind] = f"the registry does not answer: {told}"
            raise CannotInstallError(self._away.get(kind, told))


def npm(place: Path, name: str, version: str) -> list[list[str]]:
    """Give the commands that install a package from npm."""
    quick = ["--no-audit", "--no-fund", "--fetch-retries", "1", "--fetch-timeout", "60000"]
    return [["npm", "install", *quick, "--prefix", str(place), f"{name}@{version}"]]


def pypi(place: Path, name: str, version: str) -> list[list[str]]:
    """Give the commands that install a package from PyPI into an environment of its own."""
    python = ["--python", PYTHON[name]] if name in PYTHON else []
    uv = [sys.executable, "-m", "uv"]
    wanted = [f"{name}=={version}", *EXTRA.get(name, [])]
    return [
        [*uv, "venv", "--quiet", "--allow-existing", *python, str(place)],
        [*uv, "pip", "install", "--quiet", "--python", str(place / "bin" / "python"), *wanted],
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
