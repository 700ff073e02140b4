"""The requirement files that a setup.py reads."""

from pathlib import Path

import pytest

from app.workspaces.environments.groups import wanted
from app.workspaces.environments.setup_py_files import requirement_files_of_setup

READ = "from setuptools import setup\n\n"
CALL = "setup(name='demo', long_description=open('README.txt').read(), install_requires={})\n"


@pytest.mark.parametrize(
    "text",
    [
        'with open("reqs/base.txt") as f:\n    NEEDS = f.read().splitlines()\n' + CALL.format("NEEDS"),
        CALL.format("open('reqs/base.txt').read().split()"),
        "if __name__ == '__main__':\n    needs = list(open('reqs/base.txt'))\n    " + CALL.format("needs"),
        "def read(name):\n    return list(open(name))\n\nneeds = read('reqs/base.txt')\n"
        + CALL.format("needs"),
        "def needs():\n    return list(open('reqs/base.txt'))\n\n" + CALL.format("needs()"),
        "needs = []\nfor line in open('reqs/base.txt'):\n    needs.append(line)\n" + CALL.format("needs"),
        "f = 'reqs/base.txt'\nlines = open(f)\nneeds = [each for each in lines]\n" + CALL.format("needs"),
    ],
)
def test_the_files_from_which_requirements_are_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "reqs").mkdir()
    (tmp_path / "reqs/base.txt").write_text("alpha\n")
    (tmp_path / "README.txt").write_text("Demo.\n")
    (tmp_path / "setup.py").write_text(READ + text)
    assert requirement_files_of_setup(tmp_path) == ["reqs/base.txt"]
    assert wanted(tmp_path).files == ["reqs/base.txt"]


@pytest.mark.parametrize(
    "text",
    [
        CALL.format("['alpha']"),
        "other = open('reqs/base.txt')\n" + CALL.format("needs"),
        CALL.format("open('reqs/missing.txt')"),
        CALL.format("open('../base.txt')"),
        CALL.format("open('reqs')"),
        "setup(\n",
        "",
    ],
)
def test_other_files_do_not_count(tmp_path: Path, text: str) -> None:
    (tmp_path / "reqs").mkdir()
    (tmp_path / "reqs/base.txt").write_text("beta\n")
    (tmp_path / "setup.py").write_text(READ + text)
    assert requirement_files_of_setup(tmp_path) == []
