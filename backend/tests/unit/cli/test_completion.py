"""Scripts with which shells complete commands."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.unit.cli.fakes import FakeService, invoke


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_names_commands_and_options(shell: str) -> None:
    outcome = invoke(FakeService(), "completion", shell)
    assert (outcome.code, outcome.err) == (0, "")
    for each in ("escalations", "resolve", "guidance"):
        assert each in outcome.out


def test_bash_completes_with_it(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    script = tmp_path / "phaserunner"
    script.write_text(invoke(FakeService(), "completion", "bash").out)
    asks = (
        'source "$1"; COMP_WORDS=(phaserunner escalations res); COMP_CWORD=2; _phaserunner; '
        'echo "${COMPREPLY[@]}"'
    )
    said = subprocess.run([bash, "-c", asks, "bash", str(script)], capture_output=True, text=True, check=True)
    assert said.stdout == "resolve\n"


def test_another_shell_is_refused() -> None:
    outcome = invoke(FakeService(), "completion", "tcsh")
    assert (outcome.code, "bash" in outcome.err) == (2, True)
