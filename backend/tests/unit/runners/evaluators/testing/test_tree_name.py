"""Tests run in a directory with the name of the base's project."""

from pathlib import Path

import pytest

from app.runners.evaluators.testing.layout.tree_name import tree_name
from tests.unit.runners.evaluators.testing.gate_support import run

pytestmark = pytest.mark.anyio

NAMED = '[project]\nname = "shop-keeper"\nversion = "1"\n'


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("pyproject.toml", NAMED, "shop-keeper"),
        ("pyproject.toml", '[tool.poetry]\nname = "shop"\n', "shop"),
        ("setup.cfg", "[metadata]\nname = shop\n", "shop"),
        ("setup.py", "from setuptools import setup\nsetup(name='shop')\n", "shop"),
        ("pyproject.toml", '[project]\nname = "../up"\n', "tree"),
        ("pyproject.toml", '[project]\nname = ".."\n', "tree"),
        ("pyproject.toml", f'[project]\nname = "{"a" * 300}"\n', "tree"),
        ("pyproject.toml", '[project]\nname = "import-places"\n', "tree"),
        ("pyproject.toml", '[project]\nname = ["shop"]\n', "tree"),
        ("pyproject.toml", "[project\n", "tree"),
        ("README.md", "# Shop\n", "tree"),
    ],
)
def test_the_name_of_the_project_or_tree(tmp_path: Path, file: str, text: str, name: str) -> None:
    (tmp_path / file).write_text(text)
    assert tree_name(tmp_path) == name


def test_without_a_base_it_is_tree() -> None:
    assert tree_name(None) == "tree"


async def test_tests_find_the_name_of_their_project_here_and_away(context) -> None:
    files = {
        "pyproject.toml": NAMED,
        "shop.py": "import os\n\n\ndef place():\n    return os.path.basename(os.getcwd())\n",
        "tests/test_shop.py": "import os\n\nfrom shop import place\n\n\ndef test_place():\n"
        "    assert os.path.basename(os.getcwd()) == 'shop-keeper'\n    assert place()\n",
    }
    result = await run(context, {**files, "pyproject.toml": NAMED.replace("keeper", "other")}, files)
    assert result.status == "passed", result.feedback
