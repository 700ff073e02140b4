"""The arguments of setup() that follow from the text of setup.py."""

from pathlib import Path
from typing import Any

import pytest

from app.workspaces.environments.project import project_of
from app.workspaces.environments.setup_py import setup_arguments

PUT_TOGETHER = """\
from setuptools import setup

EXTRAS = {"yaml": ["PyYAML>=3.10"], "docs": read("docs.txt")}
EXTRAS["tests"] = EXTRAS["yaml"] + ["pytest"]
EXTRAS.update({"lint": ["ruff"]})
NEEDS: list[str] = []
NEEDS.append("alpha")
NEEDS.extend(["beta", "gamma"])
NEEDS += ["delta"]
EXTRAS["dev"] = [*EXTRAS["tests"], *EXTRAS["lint"]]
setup(name="demo", install_requires=sorted(NEEDS), extras_require=EXTRAS)
"""


def arguments_of(tree: Path, text: str) -> dict[str, Any]:
    (tree / "setup.py").write_text(text)
    return dict(setup_arguments(tree))


def test_lists_and_tables_that_the_file_puts_together(tmp_path: Path) -> None:
    assert arguments_of(tmp_path, PUT_TOGETHER) == {
        "name": "demo",
        "install_requires": ["alpha", "beta", "gamma", "delta"],
        "extras_require": {
            "yaml": ["PyYAML>=3.10"],
            "tests": ["PyYAML>=3.10", "pytest"],
            "lint": ["ruff"],
            "dev": ["PyYAML>=3.10", "pytest", "ruff"],
        },
    }


def test_arguments_that_are_put_together_where_the_file_is_run(tmp_path: Path) -> None:
    text = (
        "from setuptools import setup\n\nmore = {}\nif __name__ == '__main__':\n"
        "    more['entry_points'] = {'console_scripts': ['demo = demo:main']}\n    setup(**more)\n"
    )
    assert arguments_of(tmp_path, text)["entry_points"] == {"console_scripts": ["demo = demo:main"]}
    elsewhere = text.replace("__name__ == '__main__'", "windows")
    assert "entry_points" not in arguments_of(tmp_path, elsewhere)


def test_arguments_in_a_table(tmp_path: Path) -> None:
    text = """\
import setuptools

arguments = dict(name="demo", install_requires=list(("alpha",)))
arguments["extras_require"] = {**{"tests": ["pytest"]}, "docs": ["sphinx"]}
setuptools.setup(version="1", **arguments)
"""
    assert arguments_of(tmp_path, text) == {
        "version": "1",
        "name": "demo",
        "install_requires": ["alpha"],
        "extras_require": {"tests": ["pytest"], "docs": ["sphinx"]},
    }


@pytest.mark.parametrize(
    "text",
    [
        "from setuptools import setup\nA = ['a']\n" + "A = A + A\n" * 60 + "setup(install_requires=A)\n",
        "from setuptools import setup\nA = ['a']\n" + "A.extend(A)\n" * 60 + "setup(install_requires=A)\n",
        "from setuptools import setup\nA = ['a']\nA.append(A)\nsetup(install_requires=A)\n",
        "from setuptools import setup\nA = {}\nA['tests'] = A\nsetup(install_requires=['a'], x=A)\n",
    ],
    ids=["doubled", "extended by itself", "in itself", "a table in itself"],
)
def test_hostile_lists_stay_small(tmp_path: Path, text: str) -> None:
    found = arguments_of(tmp_path, text)["install_requires"]
    assert found[0] == "a"
    assert len(found) <= 20_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "def setup(",
        "print('no call')",
        "from setuptools import setup\nsetup()\n",
        "from setuptools import setup\nsetup(*ARGS, **UNKNOWN)\n",
        "from setuptools import setup\nsetup(install_requires=" + "[" * 90 + "]" * 90 + ")\n",
    ],
)
def test_nothing_is_known(tmp_path: Path, text: str) -> None:
    found = arguments_of(tmp_path, text)
    found.pop("install_requires", None)
    assert found == {}


def test_lists_that_hold_each_other_many_times_are_not_written_out(tmp_path: Path) -> None:
    nested = "from setuptools import setup\nA = ['a']\n" + "A = [A, A]\n" * 60
    (tmp_path / "setup.py").write_text(f"{nested}setup(name='demo', use_scm_version=True, classifiers=A)\n")
    found = project_of(tmp_path)
    assert found is not None
    assert found.name == "demo"


@pytest.mark.parametrize("condition", ["has_setuptools", "HAVE_SETUPTOOLS"])
def test_what_setuptools_alone_gets_counts(tmp_path: Path, condition: str) -> None:
    text = (
        "more = dict(name='demo')\nversion = 'alpha>=1'\nneeds = [version]\n"
        f"if {condition}:\n    more.update(zip_safe=False, install_requires=needs)\nsetup(**more)\n"
    )
    assert arguments_of(tmp_path, text)["install_requires"] == ["alpha>=1"]
    assert "install_requires" not in arguments_of(tmp_path, text.replace(condition, "windows"))


def test_extras_that_a_function_names(tmp_path: Path) -> None:
    text = (
        "from setuptools import setup\n\nTESTS = ['pytest', 'pytest-instafail']\n\n\ndef main():\n"
        "    kwargs = dict(name='demo')\n    if setuptools:\n"
        "        extras_require = {'test': TESTS, 'dev': TESTS + ['ruff']}\n"
        "        kwargs.update(extras_require=extras_require)\n    setup(**kwargs)\n"
    )
    assert arguments_of(tmp_path, text)["extras_require"] == {
        "test": ["pytest", "pytest-instafail"],
        "dev": ["pytest", "pytest-instafail", "ruff"],
    }
    assert arguments_of(tmp_path, text.replace("setup(**kwargs)", "pass")) == {}


TEXTS = """\
import os
from setuptools import setup

NAME = "demo"
LEAST = "1.4"
setup(
    name=NAME,
    use_scm_version={
        "write_to": os.path.join("src", NAME, "{0}_version.py".format(NAME)),
        "write_to_template": '__version__ = "{version}"',
    },
    install_requires=[f"alpha>={LEAST}", "beta>=%s" % LEAST, "gamma>={}".format(LEAST)],
    setup_requires=["delta>={least}".format(least=LEAST)],
    extras_require={"tests": ["py" + "test", "a>=%s,<%s" % (LEAST, "2")]},
    version=f"{LEAST}{os.environ['MORE']}",
    author="{0.name}".format(NAME),
    url="{0}".format(),
    license="%d" % LEAST,
    description=f"{NAME:>9}",
    keywords="{0:1000000000}".format(NAME),
)
"""


def test_texts_that_the_file_puts_together(tmp_path: Path) -> None:
    assert arguments_of(tmp_path, TEXTS) == {
        "name": "demo",
        "use_scm_version": {
            "write_to": "src/demo/demo_version.py",
            "write_to_template": '__version__ = "{version}"',
        },
        "install_requires": ["alpha>=1.4", "beta>=1.4", "gamma>=1.4"],
        "setup_requires": ["delta>=1.4"],
        "extras_require": {"tests": ["pytest", "a>=1.4,<2"]},
    }


def test_texts_do_not_grow_without_bound(tmp_path: Path) -> None:
    doubled = (
        "name = 'a' * 9\n"
        + "name = 'ab'\n"
        + "name += name\n" * 60
        + "from setuptools import setup\nsetup(name=name)"
    )
    assert len(arguments_of(tmp_path, doubled).get("name", "")) <= 100_000
