"""The CI templates: static checks of what a runner would do."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.cli.formats.names import ReportFormat

ROOT = Path(__file__).parents[4]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
GITLAB: dict[str, Any] = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
SCRIPTS = [step["run"] for step in STEPS] + ["\n".join(GITLAB["phaserunner"]["script"])]


def test_the_action_is_composite_and_uses_no_other_action() -> None:
    assert ACTION["runs"]["using"] == "composite"
    assert all("uses" not in step and step["shell"] == "bash" for step in STEPS)


def test_what_is_installed_is_pinned_by_hashes() -> None:
    install = STEPS[0]["run"]
    assert '--require-hashes -r "$GITHUB_ACTION_PATH/requirements.lock"' in install
    assert '--no-deps "$GITHUB_ACTION_PATH"' in install


def test_no_input_becomes_part_of_a_script() -> None:
    assert [step["name"] for step in STEPS if "${{" in step["run"]] == []
    named = {
        name
        for step in STEPS
        for value in step["env"].values()
        for name in re.findall(r"inputs\.(\w+)", value)
    }
    assert named == set(ACTION["inputs"])


def test_outputs_come_from_the_step() -> None:
    for name, output in ACTION["outputs"].items():
        assert output["value"] == f"${{{{ steps.evaluate.outputs.{name} }}}}"
        assert f'echo "{name}=' in STEPS[1]["run"]


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_scripts_are_valid_shell(script: str) -> None:
    done = subprocess.run(["bash", "-n"], input=script, text=True, check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("script", SCRIPTS[1:])
def test_reports_have_formats_that_exist(script: str) -> None:
    words = [each for line in script.splitlines() for each in shlex.split(line, comments=True)]
    named = {word.partition("=")[0] for word in words if re.fullmatch(r"[a-z]+=\S*phaserunner\S*", word)}
    assert {"sarif", "junit"} <= named - {"reports"}
    assert named - {"reports", "verdict"} <= set(ReportFormat)


@pytest.mark.parametrize("script", SCRIPTS[1:])
def test_the_evaluated_project_is_not_the_current_directory(script: str) -> None:
    entered = [line for line in script.splitlines() if re.search(r"\bcd ", line)]
    assert entered
    assert not any("GITHUB_WORKSPACE" in line.rpartition("cd ")[2] for line in entered)


def test_gitlab_gets_the_reports_that_are_written() -> None:
    job = GITLAB["phaserunner"]
    for path in job["artifacts"]["reports"].values():
        assert f'$CI_PROJECT_DIR/{path}"' in "\n".join(job["script"])
    assert job["artifacts"]["when"] == "always"
    assert job["variables"]["GIT_DEPTH"] == "0"
