"""A project's own metadata, without its code."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from app.workspaces.environments.project import project_of

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
