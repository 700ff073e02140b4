"""A project's own metadata, without its code."""

import zipfile
from email import message_from_string
from email.message import Message
from io import BytesIO
from pathlib import Path

import pytest

from app.workspaces.environments.project import project_of, requires_python

NAMED = '[project]\nname = "De.mo-x"\ndynamic = ["version"]\n'


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"pyproject.toml": '[project]\nname = "demo"\nversion = "1.2rc1"\n'}, "1.2rc1"),
        ({"pyproject.toml": NAMED, "PKG-INFO": "Metadata-Version: 2.1\nVersion: 3.4\n"}, "3.4"),
        ({"pyproject.toml": NAMED, "src/De_mo_x/__init__.py": "__version__ = '0.9'\n"}, "0.9"),
        ({"pyproject.toml": NAMED + '[tool.hatch.version]\npath = "v.py"\n', "v.py": 'VERSION = "7"\n'}, "7"),
        (
            {
                "setup.cfg": "[metadata]\nname = demo\nversion = attr: demo.__version__\n",
                "demo.py": "__version__: str = '2.0'\n",
            },
            "2.0",
        ),
        ({"setup.py": "from setuptools import setup\nsetup(name='demo', version='5.1')\n"}, "5.1"),
        ({"pyproject.toml": NAMED}, "0"),
    ],
    ids=["stated", "source archive", "in the package", "hatch", "setup.cfg attribute", "setup.py", "unknown"],
)
def test_version(tmp_path: Path, files: dict[str, str], version: str) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    project = project_of(tmp_path)
    assert project is not None
    assert project.version == version


@pytest.mark.parametrize("name", ["", "../up", "a/b", "x\\ny", "-"], ids=repr)
def test_no_project_without_a_usable_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "{name}"\nversion = "1"\n')
    assert project_of(tmp_path) is None


def test_the_wheel_holds_metadata_and_entry_points_and_no_module(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "de-mo"\nversion = "1"\nrequires-python = ">=3.9"\n'
        '[project.scripts]\nrun = "demo:main"\n[project.entry-points."demo.plugins"]\none = "demo.one"\n'
    )
    project = project_of(tmp_path, ["alpha>=1"])
    assert project is not None
    name, content = project.wheel()
    with zipfile.ZipFile(BytesIO(content)) as wheel:
        texts = {each: wheel.read(each).decode() for each in wheel.namelist()}
    assert name == "de_mo-1-py3-none-any.whl"
    assert all(each.startswith("de_mo-1.dist-info/") for each in texts)
    assert "Requires-Dist: alpha>=1\n" in texts["de_mo-1.dist-info/METADATA"]
    assert "[console_scripts]\nrun = demo:main\n" in texts["de_mo-1.dist-info/entry_points.txt"]
    assert project.wheel() == (name, content)


def test_the_entry_points_that_pbr_reads_are_those_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text(
        "[metadata]\nname = demo\n[entry_points]\nconsole_scripts =\n    run = demo:main\ndemo.plugins =\n"
        "    # of the project\n    one = demo.one:One\n"
    )
    project = project_of(tmp_path)
    assert project is not None
    assert project.entry_points == {
        "console_scripts": {"run": "demo:main"},
        "demo.plugins": {"one": "demo.one:One"},
    }


def test_poetry_states_the_versions_of_python(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.poetry.dependencies]\npython = "^3.9"\n')
    assert requires_python(tmp_path) == ">=3.9,<4"
    (tmp_path / "setup.cfg").write_text("[options]\npython_requires = >=3.8\n")
    assert requires_python(tmp_path) == ">=3.8"


FULL = """
[project]
name = "demo"
version = "1"
description = "Does   things"
readme = "README.md"
keywords = ["a", "b"]
license = {text = "MIT"}
authors = [{name = "Ann", email = "ann@example.org"}, {name = "Bob"}]
classifiers = ["Typing :: Typed"]
[project.urls]
Source = "https://example.org/demo"
[project.optional-dependencies]
fast = ["alpha>=1; python_version > '3'", "not a requirement!"]
"""
OLDER = """
[metadata]
name = demo
version = 1
description = Does things
author = Ann
author_email = ann@example.org
license = MIT
url = https://example.org
project_urls =
    Source = https://example.org/demo
classifiers =
    Typing :: Typed
"""


def metadata_of(tree: Path, **more: object) -> Message:
    project = project_of(tree, **more)  # type: ignore[arg-type]
    assert project is not None
    _, content = project.wheel()
    with zipfile.ZipFile(BytesIO(content)) as wheel:
        return message_from_string(wheel.read("demo-1.dist-info/METADATA").decode())


def test_code_can_ask_for_all_that_the_project_says_about_itself(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(FULL)
    (tmp_path / "README.md").write_text("# Demo\n\nName: other\n")
    extras = {"fast": ["alpha>=1; python_version > '3'", "not a requirement!"]}
    found = metadata_of(tmp_path, extras=extras)
    assert found["Summary"] == "Does things"
    assert (found["Author"], found["Author-email"]) == ("Bob", "Ann <ann@example.org>")
    assert (found["License"], found["Keywords"]) == ("MIT", "a,b")
    assert found.get_all("Project-URL") == ["Source, https://example.org/demo"]
    assert found.get_all("Classifier") == ["Typing :: Typed"]
    assert found.get_all("Requires-Dist") == ["alpha>=1 ; (python_version > '3') and extra == 'fast'"]
    assert found.get_all("Name") == ["demo"]
    assert found["Description-Content-Type"] == "text/markdown"
    assert found.get_payload() == "# Demo\n\nName: other\n\n"


def test_setup_cfg_says_the_same(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text(OLDER)
    found = metadata_of(tmp_path)
    assert (found["Summary"], found["Author"], found["Author-email"]) == (
        "Does things",
        "Ann",
        "ann@example.org",
    )
    assert (found["License"], found["Home-page"]) == ("MIT", "https://example.org")
    assert found.get_all("Project-URL") == ["Source, https://example.org/demo"]
    assert found.get_all("Classifier") == ["Typing :: Typed"]


@pytest.mark.parametrize(
    "text",
    [
        'description = "x\\nName: other"',
        "description = 7",
        'authors = ["Ann"]',
        'urls = "none"',
        'license = {file = "../../etc/passwd"}',
        'readme = "../../etc/passwd"',
    ],
)
def test_odd_fields_spoil_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "demo"\nversion = "1"\n{text}\n')
    found = metadata_of(tmp_path)
    assert (found.get_all("Name"), found["Version"]) == (["demo"], "1")
    assert "root:" not in str(found)
