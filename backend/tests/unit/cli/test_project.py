"""A project's file on the command line: check it, list what it makes, print its schema."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.fakes import FakeService, invoke

COMMAND = '[evaluators.type_check]\nenabled = false\n[[command]]\nname = "unit"\nrun = "true"\n'


def run(*arguments: str, cwd: Path) -> tuple[int, str, str]:
    outcome = invoke(FakeService(), *arguments, cwd=cwd)
    return outcome.code, outcome.out, outcome.err


@pytest.mark.parametrize("given", [".", "phaserunner.toml"])
def test_a_good_file(tmp_path: Path, given: str) -> None:
    (tmp_path / "phaserunner.toml").write_text(COMMAND)
    code, out, _ = run("evaluators", "check", given, cwd=tmp_path)
    assert (code, out) == (0, "phaserunner.toml is valid; commands: 1\n")


def test_a_wrong_file_names_line_and_key(tmp_path: Path) -> None:
    (tmp_path / "phaserunner.toml").write_text("[evaluators.pytset]\n\n[verdict]\npass_threshold = 2\n")
    code, out, err = run("evaluators", "check", cwd=tmp_path)
    assert (code, out) == (2, "")
    assert "phaserunner.toml:4: verdict.pass_threshold: must be less than or equal to 1" in err
    (tmp_path / "phaserunner.toml").write_text("[evaluators.pytset]\n")
    code, out, _ = run("evaluators", "check", "--json", cwd=tmp_path)
    (problem,) = json.loads(out)["problems"]
    assert (code, problem["line"], problem["key"]) == (2, 1, "evaluators.pytset")
    code, _, err = run("evaluators", "--path", ".", cwd=tmp_path)
    assert code == 2
    assert "did you mean pytest?" in err


def test_what_a_file_makes_of_the_evaluators(tmp_path: Path) -> None:
    (tmp_path / "phaserunner.toml").write_text(COMMAND)
    code, out, _ = run("evaluators", "--path", ".", cwd=tmp_path)
    assert code == 0
    assert "type_check" not in out
    (line,) = [each for each in out.splitlines() if each.startswith("unit ")]
    assert line.split() == [
        *("unit", "gate", "tool", "testing", "coding,", "verification", "from", "phaserunner.toml")
    ]


def test_no_file_and_the_schema(tmp_path: Path) -> None:
    code, _, err = run("evaluators", "check", cwd=tmp_path)
    assert (code, "there is no phaserunner.toml" in err) == (2, True)
    code, out, _ = run("schema", cwd=tmp_path)
    assert (code, json.loads(out)["title"]) == (0, "phaserunner.toml")
