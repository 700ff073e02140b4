"""Builds the wheel and starts it as a newcomer does: from a fresh environment, in an empty directory.

The environment also holds a package called `app` that cannot be imported, and an evaluator of a package. When
root runs this, an account without rights and with an empty home starts the service.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Mapping
from pathlib import Path

from examples_service import (
    EXPECTED,
    PATIENCE_SECONDS,
    ask,
    demand,
    examples_at_rest,
    free_port,
    started,
    wait_for,
)

ROOT = Path(__file__).resolve().parents[1]
ACCOUNT = 65534  # nobody
OLDEST_PYTHON = (3, 11)

FOREIGN_APP = 'raise ImportError("phaserunner imports the package app of somebody else")\n'
EVALUATOR = """
from phaserunner import EvaluationCategory, EvaluationResult, Registration


class Tea:
    name = "tea_words"
    category = EvaluationCategory.DOCUMENTATION
    is_deterministic = True

    async def evaluate(self, phase, output, context):
        return EvaluationResult(
            evaluator_name=self.name, category=self.category, passed=True, score=1.0, feedback="tea"
        )


def tea_words():
    return Registration(Tea(), phases=("coding",), gate=True)
"""
PUBLIC_NAMES = """
import sys, phaserunner
for name in phaserunner.__all__:
    getattr(phaserunner, name)
assert "app" not in sys.modules
print(phaserunner.__version__)
"""


def main() -> int:
    """Check a wheel that is given, or else one that is built."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, help="check this wheel instead of building one")
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="phaserunner-wheel-"))
    place.chmod(0o755)
    try:
        wheel = given.wheel or build(place)
        check_contents(wheel)
        python, account = interpreter()
        program = install(wheel, place, python)
        check_names(program, place)
        check_service(program, place, account)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    print(f"{wheel.name} starts from a fresh environment")
    return 0


def build(place: Path) -> Path:
    """Build the wheel with the page, which must be built already."""
    if not (ROOT / "frontend" / "dist" / "index.html").is_file():
        raise SystemExit("the dashboard is not built: make dashboard")
    run(
        [
            sys.executable,
            "-m",
            "uv",
            "build",
            "--quiet",
            "--wheel",
            "--out-dir",
            str(place / "dist"),
            str(ROOT),
        ]
    )
    return next((place / "dist").glob("*.whl"))


def check_contents(wheel: Path) -> None:
    """Make sure that the wheel installs one package, with what the program needs beside its modules."""
    names = set(zipfile.ZipFile(wheel).namelist())
    packages = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    demand(packages == {"phaserunner"}, f"the wheel installs {sorted(packages)}, not phaserunner alone")
    for needed in (
        "py.typed",
        "_app/_dashboard/index.html",
        "_app/_examples/index.toml",
        "_app/_migrations/env.py",
    ):
        demand(f"phaserunner/{needed}" in names, f"the wheel has no phaserunner/{needed}")


def interpreter() -> tuple[str, int | None]:
    """Choose the Python of the environment and the account that starts the service; None is this one."""
    if os.geteuid() != 0:
        return sys.executable, None
    version = f"import sys; sys.exit(sys.version_info < {OLDEST_PYTHON})"
    for python in (sys.executable, "/usr/bin/python3"):
        with contextlib.suppress(OSError):
            command = [os.path.realpath(python), "-c", version]
            if subprocess.run(command, user=ACCOUNT, group=ACCOUNT, extra_groups=[]).returncode == 0:
                return command[0], ACCOUNT
    print("no Python is within reach of other accounts; the service starts as root")
    return sys.executable, None


def install(wheel: Path, place: Path, python: str) -> Path:
    """Install the wheel as `uv tool install` does; put a foreign `app` and an evaluator beside it."""
    settings = {"UV_TOOL_DIR": str(place / "tools"), "UV_TOOL_BIN_DIR": str(place / "bin")}
    lock = str(ROOT / "requirements.lock")
    command = ["tool", "install", "--quiet", "--python", python, "--constraints", lock, str(wheel.resolve())]
    run([sys.executable, "-m", "uv", *command], {**os.environ, **settings})
    site = next((place / "tools" / "phaserunner").glob("lib/python*/site-packages"))
    (site / "app").mkdir()
    (site / "app" / "__init__.py").write_text(FOREIGN_APP)
    (site / "tea_checks.py").write_text(EVALUATOR)
    metadata = site / "tea_checks-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: tea-checks\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[phaserunner.evaluators]\ntea_words = tea_checks:tea_words\n")
    return place / "bin" / "phaserunner"


def check_names(program: Path, place: Path) -> None:
    """Import every public name, and ask the program for its version."""
    python = place / "tools" / "phaserunner" / "bin" / "python"
    imported = run([str(python), "-I", "-c", PUBLIC_NAMES]).strip()
    told = run([str(program), "--version"]).strip()
    demand(imported == told, f"phaserunner.__version__ is {imported}, phaserunner --version says {told}")


def check_service(program: Path, place: Path, account: int | None) -> None:
    """Start `phaserunner up` and wait until both examples are through."""
    home, work = place / "home", place / "an empty directory"
    for directory in (home, work):
        directory.mkdir()
        if account is not None:
            os.chown(directory, account, account)
    port = free_port()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PORT": str(port),
        "EVALUATOR_PLUGINS": "tea_words",
    }
    log = place / "log.txt"
    with started(program, work, environment, log, account) as process:
        address = f"http://127.0.0.1:{port}"
        runs = wait_for(lambda: examples_at_rest(address), process, log)
        demand(
            {each["status"] for each in runs} == EXPECTED, f"the examples ended as {runs}\n{log.read_text()}"
        )
        evaluators = json.dumps(ask(f"{address}/api/v1/evaluators"))
        demand("tea_words" in evaluators, "the evaluator of a package is not there")
        with urllib.request.urlopen(address, timeout=60) as page:
            demand('type="module"' in page.read().decode(), "the service has no dashboard")
        process.send_signal(signal.SIGINT)
        demand(
            process.wait(PATIENCE_SECONDS) == 0,
            f"Ctrl-C ends it with {process.returncode}\n{log.read_text()}",
        )


def run(command: list[str], environment: Mapping[str, str] | None = None) -> str:
    """Run a program that must succeed, and give what it wrote."""
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    demand(
        ended.returncode == 0,
        f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}",
    )
    return ended.stdout


if __name__ == "__main__":
    raise SystemExit(main())
