"""Runs the workspace's tests for an agent. The output helps the agent and is never a verdict."""

import configparser
import os
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.agents.files import FileRefusedError, WorkspaceFiles
from app.agents.programs import RunProgram

MAX_OUTPUT_CHARS = 20_000
_MAX_TARGETS = 50


async def run_pytest(
    files: WorkspaceFiles,
    run_program: RunProgram,
    python: Path,
    *,
    targets: Sequence[str],
    keyword: str,
    timeout: float,
) -> str:
    """Run pytest in the workspace. Return its output.

    Args:
        targets: files, directories or test ids (`tests/test_a.py::test_b`); empty for all tests.
        keyword: pytest's `-k` expression, or empty.
        timeout: seconds until it is killed.

    Raises:
        FileRefusedError: a target is not in the workspace, or the interpreter cannot be started.
    """
    argv = [
        str(python),
        *("-m", "pytest", "-q", "--no-header", "--color=no", "-p", "no:cacheprovider"),
        *_configuration(files.root),
        *([f"-k{keyword}"] if keyword else []),
        "--",
        *_targets(files, targets),
    ]
    with tempfile.TemporaryDirectory() as home:
        try:
            outcome = await run_program(
                argv,
                cwd=files.root,
                env=clean_environment(python, Path(home)),
                timeout=timeout,
                output_limit=MAX_OUTPUT_CHARS,
            )
        except OSError as error:
            raise FileRefusedError(f"the tests cannot be started: {error}") from error
    ending = f"killed after {timeout:g} s" if outcome.timed_out else f"exit status {outcome.returncode}"
    printed = "\n".join(text.strip() for text in (outcome.stdout, outcome.stderr) if text.strip())
    return f"pytest: {ending}\n{printed}"


def clean_environment(python: Path, home: Path) -> dict[str, str]:
    """Return the environment for a program of the workspace.

    It has no variables of the service, so no keys.
    """
    return {
        "PATH": os.pathsep.join([str(python.parent), "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _targets(files: WorkspaceFiles, targets: Sequence[str]) -> list[str]:
    if len(targets) > _MAX_TARGETS:
        raise FileRefusedError(f"{len(targets)} targets are too many; {_MAX_TARGETS} are allowed")
    chosen: list[str] = []
    for target in targets:
        path, separator, test = target.partition("::")
        place = files.locate(path)
        if not place.exists():
            raise FileRefusedError(f"{path}: no such file or directory")
        chosen.append(f"{place}{separator}{test}")
    return chosen


def _configuration(root: Path) -> list[str]:
    # Without this argument, pytest searches every directory above the workspace for settings.
    return ["-c", _settings_file(root), f"--rootdir={root}", f"--confcutdir={root}"]


def _settings_file(root: Path) -> str:
    for name in ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"):
        if (root / name).is_file():
            return str(root / name)
    if "pytest" in _tool_table(root / "pyproject.toml"):
        return str(root / "pyproject.toml")
    for name, section in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        if _has_section(root / name, section):
            return str(root / name)
    return os.devnull


def _tool_table(pyproject: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(pyproject.read_text(encoding="utf-8")).get("tool", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}


def _has_section(file: Path, section: str) -> bool:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read(file, encoding="utf-8")
    except (OSError, UnicodeDecodeError, configparser.Error):
        return False
    return parser.has_section(section)
