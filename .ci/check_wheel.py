"""Builds the wheel and starts it as somebody who has only that: from a fresh environment, in an empty directory.

The environment also holds a package called `app` that cannot be imported, and an evaluator of a package. When
root runs this, an account without rights and with an empty home starts the service.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ACCOUNT = 65534  # nobody
PATIENCE_SECONDS = 600
EXPECTED = {"completed", "waiting"}  # what becomes of the two examples that `up` runs

FOREIGN_APP = 'raise ImportError("phaserunner imports the package app of somebody else")\n'
EVALUATOR = '''
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
'''
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
        program = install(wheel, place)
        check_names(program, place)
        check_service(program, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    print(f"{wheel.name} starts from a fresh environment")
    return 0


def build(place: Path) -> Path:
    """Build the wheel with the page, which must be built already."""
    if not (ROOT / "frontend" / "dist" / "index.html").is_file():
        raise SystemExit("the dashboard is not built: make dashboard")
    run([sys.executable, "-m", "uv", "build", "--quiet", "--wheel", "--out-dir", str(place / "dist"), str(ROOT)])
    return next((place / "dist").glob("*.whl"))


def check_contents(wheel: Path) -> None:
    """Make sure that the wheel installs one package, with what the program needs beside its modules."""
    names = set(zipfile.ZipFile(wheel).namelist())
    packages = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    demand(packages == {"phaserunner"}, f"the wheel installs {sorted(packages)}, not phaserunner alone")
    for needed in ("py.typed", "_app/_dashboard/index.html", "_app/_examples/index.toml", "_app/_migrations/env.py"):
        demand(f"phaserunner/{needed}" in names, f"the wheel has no phaserunner/{needed}")


def install(wheel: Path, place: Path) -> Path:
    """Install the wheel as `uv tool install` does; put a foreign `app` and an evaluator beside it."""
    settings = {"UV_TOOL_DIR": str(place / "tools"), "UV_TOOL_BIN_DIR": str(place / "bin")}
    lock = str(ROOT / "requirements.lock")
    command = ["tool", "install", "--quiet", "--python", sys.executable, "--constraints", lock, str(wheel.resolve())]
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


def check_service(program: Path, place: Path) -> None:
    """Start `phaserunner up` and wait until both examples are through."""
    home, work = place / "home", place / "an empty directory"
    account = unprivileged(place)
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
        demand({each["status"] for each in runs} == EXPECTED, f"the examples ended as {runs}\n{log.read_text()}")
        evaluators = json.dumps(ask(f"{address}/api/v1/evaluators"))
        demand("tea_words" in evaluators, "the evaluator of a package is not there")
        with urllib.request.urlopen(address, timeout=60) as page:
            demand('type="module"' in page.read().decode(), "the service has no dashboard")
        process.send_signal(signal.SIGINT)
        demand(process.wait(PATIENCE_SECONDS) == 0, f"Ctrl-C ends it with {process.returncode}\n{log.read_text()}")


def unprivileged(place: Path) -> int | None:
    """Give the account that starts the service; None is this one."""
    if os.geteuid() != 0:
        return None
    python = place / "tools" / "phaserunner" / "bin" / "python"
    with contextlib.suppress(OSError):
        if subprocess.run([python, "-c", ""], user=ACCOUNT, group=ACCOUNT, extra_groups=[]).returncode == 0:
            return ACCOUNT
    print(f"{python.resolve()} is out of reach of other accounts; the service starts as root")
    return None


@contextlib.contextmanager
def started(
    program: Path, work: Path, environment: Mapping[str, str], log: Path, account: int | None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run `phaserunner up` while the block runs."""
    rights: dict[str, Any] = {} if account is None else {"user": account, "group": account, "extra_groups": []}
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [program, "up"], cwd=work, env=environment, stdout=sink, stderr=sink, start_new_session=True, **rights
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def examples_at_rest(address: str) -> list[dict[str, Any]]:
    """Give the runs once both examples have come to rest; before, an empty list."""
    runs = ask(f"{address}/api/v1/runs")["items"]
    states = [{"status": each["status"], "goal": each.get("goal")} for each in runs]
    at_rest = len(states) == len(EXPECTED) and all(each["status"] in {*EXPECTED, "failed"} for each in states)
    return states if at_rest else []


def wait_for(condition: Any, process: subprocess.Popen[bytes], log: Path) -> Any:
    """Ask until there is something; the service must stay alive meanwhile."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        demand(process.poll() is None, f"phaserunner up ended with {process.returncode}:\n{log.read_text()}")
        with contextlib.suppress(urllib.error.URLError, TimeoutError, ConnectionError):
            if found := condition():
                return found
        time.sleep(0.2)
    raise SystemExit(f"nothing after {PATIENCE_SECONDS} seconds:\n{log.read_text()}")


def ask(url: str) -> Any:
    """Get JSON."""
    with urllib.request.urlopen(url, timeout=60) as response:
        return json.load(response)


def free_port() -> int:
    """Give a port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def run(command: list[str], environment: Mapping[str, str] | None = None) -> str:
    """Run a program that must succeed, and give what it wrote."""
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    demand(ended.returncode == 0, f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def demand(holds: bool, otherwise: str) -> None:
    """End with an error unless a condition holds."""
    if not holds:
        raise SystemExit(otherwise)


if __name__ == "__main__":
    raise SystemExit(main())
