"""Installs real coding agents at the versions that their profiles name, and checks each in the sandbox.

They take gigabytes and minutes, so this is no part of the tests. Agents go into .venv/agents, or to
AGENTS_DIR. An agent that cannot be installed here is skipped, with the reason.
"""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROFILES = ROOT / "backend" / "app" / "agents" / "external" / "built_in.toml"
BIN = Path(sys.executable).parent
NODE = "node@24"
EXTRA = {"mini-swe-agent": ["mcp"]}
PYTHON = {"aider-chat": "3.12"}
SECONDS = 900


def main(wanted: list[str]) -> int:
    """Check the agents that are named, or all; return 1 if one fails."""
    place = Path(os.environ.get("AGENTS_DIR", ROOT / ".venv" / "agents"))
    profiles = tomllib.loads(PROFILES.read_text(encoding="utf-8"))["agents"]
    unknown = [name for name in wanted if name not in profiles]
    if unknown:
        print(f"there is no profile {unknown[0]!r}: choose of {', '.join(profiles)}")
        return 2
    search = [install(place / "node", "npm", NODE)]
    failed: list[str] = []
    for name in wanted or profiles:
        kind, _, package = profiles[name]["package"].partition(":")
        version = profiles[name]["tried"]
        print(f"== {name} ({package} {version})", flush=True)
        separator = "@" if kind == "npm" else "=="
        programs = install(place / name, kind, f"{package}{separator}{version}", package)
        if programs is None:
            continue
        paths = [programs, *(each for each in search if each)]
        env = {**os.environ, "AGENTS_PATH": ",".join(map(str, paths)), "LOGFIRE_IGNORE_NO_CONFIG": "1"}
        done = subprocess.run([BIN / "phaserunner", "agents", "check", name, "--timeout", "300"], env=env)
        if done.returncode:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all that could be installed pass")
    return 1 if failed else 0


def install(place: Path, kind: str, what: str, package: str = "") -> Path | None:
    """Install a package below `place`; return the directory of its programs, or None with the reason said."""
    place.mkdir(parents=True, exist_ok=True)
    if kind == "npm":
        commands = [["npm", "install", "--no-audit", "--no-fund", "--prefix", str(place), what]]
        programs = place / "node_modules" / ".bin"
    else:
        python = ["--python", PYTHON[package]] if package in PYTHON else []
        uv, extra = [sys.executable, "-m", "uv"], EXTRA.get(package, [])
        interpreter = str(place / "bin" / "python")
        commands = [
            [*uv, "venv", "--quiet", "--allow-existing", *python, str(place)],
            [*uv, "pip", "install", "--quiet", "--python", interpreter, what, *extra],
        ]
        programs = place / "bin"
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            print(f"skipped: {what} cannot be installed: {error}")
            return None
        if done.returncode:
            print(f"skipped: {what} cannot be installed: {done.stderr.strip()[-300:]}")
            return None
    return programs


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
