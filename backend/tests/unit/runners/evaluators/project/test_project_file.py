"""A project's file is read whole, or refused with the line and the key of every complaint."""

import json
import tomllib
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.runners.evaluators.project.project_file import (
    MAX_BYTES,
    ProjectFileError,
    json_schema,
    read_project_file,
)
from app.runners.evaluators.protocol import EvaluationCategory
from app.schemas.project_file import CategoryName
from app.schemas.toml_lines import lines_of

GOOD = b"""\
# What judges this project.
[evaluators.ruff_lint]
gate = false

[evaluators.pytest]
timeout = 300
options = { compare_base = false }

[[command]]
name = "unit"
run = ["node", "--test"]
phases = ["coding"]
[command.report]
kind = "junit"
path = "out/junit.xml"

[[command]]
name = "shell"
run = "make check | tail"

[protected]
open = ["tests/golden/**"]
extra = ["*.test.js"]

[verdict]
pass_threshold = 0.9
"""


def test_a_good_file() -> None:
    settings = read_project_file(GOOD).settings
    assert settings.evaluators["ruff_lint"].gate is False
    assert settings.evaluators["pytest"].timeout == 300
    assert [each.run for each in settings.command] == [["node", "--test"], "make check | tail"]
    assert settings.protected.extra == ["*.test.js"]
    assert settings.verdict.pass_threshold == 0.9
    assert read_project_file(b"").settings.command == []


@pytest.mark.parametrize(("text", "share"), [("0.3", 0.3), ("0", 0), ("0.8", 0.8)])
def test_a_share_of_test_cases(text: str, share: float) -> None:
    read = read_project_file(f"[tests]\nheld_out_share = {text}\n".encode())
    assert read.settings.tests.held_out_share == share
    assert read_project_file(b"[tests]\n").settings.tests.held_out_share is None


@pytest.mark.parametrize(
    "value", ["1.5", "-0.1", '"abc"', '"0.3"', "true", "{ share = 0.3 }", "[0.3]", "nan", "inf"]
)
def test_any_other_share_is_refused_with_its_line(value: str) -> None:
    with pytest.raises(ProjectFileError, match=r"^phaserunner\.toml:3: tests\.held_out_share: "):
        read_project_file(f"[tests]\n\nheld_out_share = {value}\n".encode())


COMMAND = b'[[command]]\nname = "a"\nrun = "x"\n'
BAD = {
    "no TOML": (b"a = \n", "phaserunner.toml:1: is not TOML: Invalid value"),
    "an open list": (b'\nx = [1,\n"2"\n', "phaserunner.toml:4: is not TOML"),
    "not UTF-8": (b"a = 1\n\xff", "phaserunner.toml:2: is not UTF-8 text"),
    "too long": (b"#" * (MAX_BYTES + 1), "phaserunner.toml: is longer than 65536 bytes"),
    "very deep": (b"x = " + b"[" * 400, "phaserunner.toml:1: is not TOML"),
    "too many lists": (b"x = " + b"[" * 1000, "phaserunner.toml: has more than 500 tables and lists"),
    "a key of 20,000 parts": (b"\n[evaluators]\n" + b"a." * 20_000 + b"b = 1", ":3: has more than 200 dots"),
    "an unknown table": (
        b"\n[[comand]]\n",
        ":2: comand: is not known here; did you mean command?",
    ),
    "an unknown key": (
        b"[evaluators.pytest]\n\n# so long\ntimeut = 3\n",
        "phaserunner.toml:4: evaluators.pytest.timeut: is not known here; did you mean timeout?",
    ),
    "zero seconds": (
        b"[evaluators]\npytest = { timeout = 0 }\n",
        "phaserunner.toml:2: evaluators.pytest.timeout: must be greater than 0",
    ),
    "text for a number": (
        b'evaluators.pytest.timeout = "5"\n',
        "phaserunner.toml:1: evaluators.pytest.timeout: must be a valid number",
    ),
    "a number for text": (
        b'[[command]]\nname = 3\nrun = "x"\n',
        ":2: command[1].name: must be a valid",
    ),
    "a name with spaces": (
        b'[[command]]\nname = "a b"\nrun = "x"\n',
        ":2: command[1].name: must be of",
    ),
    "a missing key": (COMMAND + b'[[command]]\nname = "b"\n', ":4: command[2]: needs run or preset"),
    "no program": (b'[[command]]\nname = "a"\nrun = []\n', ":3: command[1].run: "),
    "the same name twice": (COMMAND + COMMAND, ":5: command[2].name: is also the name of another command"),
    "an unknown phase": (COMMAND + b'phases = ["codin"]\n', ":4: command[1].phases[1]: must be"),
    "no phase": (COMMAND + b"phases = []\n", ":4: command[1].phases: "),
    "a report of another kind": (
        COMMAND + b'report.kind = "tap"\n',
        ":4: command[1].report: its kind must",
    ),
    "a report without a kind": (
        COMMAND + b'report.path = "x"\n',
        ":4: command[1].report: its kind is",
    ),
    "a key of another report": (
        COMMAND + b'[command.report]\nkind = "junit"\npath = "x"\nminimun = 3\n',
        ":7: command[1].report.minimun: is not known here",
    ),
    "a report outside": (
        COMMAND + b'report = { kind = "junit", path = "../x" }\n',
        ":4: command[1].report.path: must be a path below",
    ),
    "our variable": (
        COMMAND + b'env = { PATH = "/tmp" }\n',
        ":4: command[1].env: PATH is set by",
    ),
    "a glob outside": (
        b'[protected]\nopen = ["a",\n"/etc/*"]\n',
        ":2: protected.open[2]: must be a path",
    ),
    "a threshold above one": (b"[verdict]\npass_threshold = 2\n", ":2: verdict.pass_threshold: must be less"),
    "a table for a list": (b'[command]\nname = "a"\n', ":1: command: must be a valid list"),
}


@pytest.mark.parametrize(("content", "told"), BAD.values(), ids=BAD.keys())
def test_a_bad_file(content: bytes, told: str) -> None:
    with pytest.raises(ProjectFileError) as raised:
        read_project_file(content)
    assert any(told in str(problem) for problem in raised.value.problems), str(raised.value)


def test_every_complaint_is_told_in_the_order_of_the_file() -> None:
    content = b"[verdict]\npass_threshold = -1\n[evaluators.pytest]\ntimeout = 0\nwrong = 1\n"
    with pytest.raises(ProjectFileError) as raised:
        read_project_file(content)
    assert [each.line for each in raised.value.problems] == [2, 4, 5]


def test_the_categories_are_those_of_the_evaluators() -> None:
    assert set(get_args(CategoryName)) == {each.value for each in EvaluationCategory}


def test_lines_of_everything() -> None:
    text = 'a.b = """\n[x]\n# no\n"""\n\n[[t]] # "\nk = [\n  { m = \'#\' },\n]\r\n'
    text += '[[t]]\n"q.r" = 1\n[t.sub]\nz = 2\n'
    lines = lines_of(text)
    assert lines["a", "b"] == 1
    assert lines["t", 0, "k", 0, "m"] == 7
    assert lines["t", 1] == 10
    assert lines["t", 1, "q.r"] == 11
    assert lines["t", 1, "sub", "z"] == 13


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        read_project_file(content)
    except ProjectFileError:
        return


TOML = st.text(alphabet="ab.=[]{}\"'#,\n 1\\", max_size=60)


@given(TOML)
def test_lines_can_be_told_of_all_toml(text: str) -> None:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    lines = lines_of(text)
    assert {(key,) for key in document} <= set(lines)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())


def test_the_published_schema_is_the_schema() -> None:
    published = Path(__file__).parents[6] / "docs" / "phaserunner.schema.json"
    assert json.loads(published.read_text()) == json_schema(), (
        "phaserunner schema > docs/phaserunner.schema.json"
    )
