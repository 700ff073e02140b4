"""Compiled modules of a project: when they are built, what of them is used, and what a failure means."""

import os
import shutil
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from uv import find_uv_bin

from app.runners.evaluators.deterministic import PytestEvaluator
from app.runners.evaluators.testing.baselines import baseline_at
from app.schemas.modes import EnvironmentBuild
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.extensions.building import Extensions
from app.workspaces.environments.extensions.sources import build_requirements, is_compiled, state_of
from app.workspaces.environments.extensions.wheels import keep_compiled, lay_compiled
from app.workspaces.environments.launches import InstallOptions
from app.workspaces.environments.outcome import Ready
from app.workspaces.environments.shelf import Shelf
from tests.patience import PATIENCE
from tests.unit.workspaces.environments.making import judge, write

BACKEND = """import pathlib
import socket
import subprocess
import sysconfig
import zipfile


def build_wheel(directory, config_settings=None, metadata_directory=None):
    assert [name for _, name in socket.if_nameindex()] == ["lo"], "there is a network"
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    include = sysconfig.get_path("include")
    made = "built.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-I", include, "src/calc/_fast.c", "-o", made], check=True)
    name = "calc-1.0-cp311-cp311-linux_x86_64.whl"
    with zipfile.ZipFile(pathlib.Path(directory, name), "w") as wheel:
        wheel.write("src/calc/__init__.py", "calc/__init__.py")
        wheel.write(made, f"calc/_fast{suffix}")
        wheel.writestr("calc-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: calc\\nVersion: 1.0\\n")
    return name
"""
SOURCE = """#include <Python.h>

static PyObject *add(PyObject *self, PyObject *args) {
    long a, b;
    if (!PyArg_ParseTuple(args, "ll", &a, &b)) return NULL;
    return PyLong_FromLong(a + b);
}

static PyMethodDef methods[] = {{"add", add, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_fast", NULL, -1, methods};
PyMODINIT_FUNC PyInit__fast(void) { return PyModule_Create(&module); }
"""
CALC = {
    "pyproject.toml": '[project]\nname = "calc"\nversion = "1.0"\n\n[build-system]\nrequires = []\n'
    'build-backend = "backend"\nbackend-path = ["."]\n\n[tool.pytest.ini_options]\npythonpath = ["src"]\n',
    "backend.py": BACKEND,
    "src/calc/__init__.py": "from calc._fast import add\n",
    "src/calc/_fast.c": SOURCE,
    "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
}


@pytest.fixture
def extensions(tmp_path: Path, sandbox: Sandbox) -> Extensions:
    options = InstallOptions(network=False, build=EnvironmentBuild.MISSING)
    return Extensions(Shelf(tmp_path / "extensions"), Path(find_uv_bin()), sandbox, options)


def gate_with(extensions: Extensions) -> PytestEvaluator:
    return PytestEvaluator(python=Path(sys.executable), extensions=extensions)


def kept(extensions: Extensions) -> list[str]:
    return sorted(each.name for each in extensions.shelf.root.iterdir() if each.is_dir())


@pytest.mark.anyio
async def test_tests_run_with_the_compiled_modules_of_the_tree(tmp_path: Path, extensions) -> None:
    base = write(tmp_path / "base", CALC)
    more = {**CALC, "src/calc/__init__.py": CALC["src/calc/__init__.py"] + "MORE = 1\n"}
    gate = gate_with(extensions)
    result = await judge(gate, base, write(tmp_path / "more", more))
    assert (result.status, result.metadata["passed_tests"]) == ("passed", 1), result.feedback
    assert len(kept(extensions)) == 1, "a change of Python needs no build"
    wrong = {**CALC, "src/calc/_fast.c": SOURCE.replace("a + b", "a - b")}
    refused = await judge(gate, base, write(tmp_path / "wrong", wrong))
    assert (refused.status, refused.questions) == ("failed", []), refused.feedback
    assert len(kept(extensions)) == 2


@pytest.mark.anyio
async def test_two_evaluations_use_the_same_modules_at_once(tmp_path: Path, extensions) -> None:
    base = write(tmp_path / "base", CALC)
    found = Ready(Path(sys.executable))
    with anyio.fail_after(PATIENCE):
        async with (
            extensions.lent(found, base, [base]) as one,
            extensions.lent(found, base, [base]) as other,
        ):
            assert one.places == other.places != {}


@pytest.mark.anyio
async def test_an_interpreter_may_be_named_in_a_roundabout_way(tmp_path: Path, extensions) -> None:
    base = write(tmp_path / "base", CALC)
    place = Path(sys.executable).parent
    async with extensions.lent(Ready(place / ".." / place.name / "python"), base, [base]) as built:
        assert (built.trouble, len(built.places)) == ("", 1)


@pytest.mark.anyio
async def test_an_attempt_that_does_not_compile_fails_with_the_compilers_words(
    tmp_path: Path, extensions
) -> None:
    broken = {**CALC, "src/calc/_fast.c": SOURCE.replace("long a, b;", "long a b;")}
    base, candidate = write(tmp_path / "base", CALC), write(tmp_path / "broken", broken)
    result = await judge(gate_with(extensions), base, candidate)
    assert (result.status, result.questions) == ("failed", []), result.feedback
    assert "The compiled modules of the project were not built" in result.feedback
    assert "_fast.c" in result.metadata["unbuilt"]
    assert not [each for each in extensions.shelf.root.iterdir() if each.name.startswith(".")]


@pytest.mark.anyio
async def test_a_base_that_does_not_compile_gives_no_verdict_on_what_needs_it(
    tmp_path: Path, extensions
) -> None:
    broken = {**CALC, "src/calc/_fast.c": "this is not C\n"}
    base = write(tmp_path / "base", broken)
    result = await judge(gate_with(extensions), base, write(tmp_path / "same", {**broken, "more.py": ""}))
    assert result.status == "errored", result.feedback


@pytest.mark.anyio
async def test_the_baseline_is_measured_with_the_modules(tmp_path: Path, extensions) -> None:
    base = write(tmp_path / "base", CALC)
    found = await baseline_at(gate_with(extensions), base)
    assert found is not None
    assert found.baseline.passing == ["tests/test_calc.py::test_add"]
    never = replace(extensions, options=replace(extensions.options, build=EnvironmentBuild.NEVER))
    without = await baseline_at(gate_with(never), base)
    assert without is not None
    assert without.baseline.passing == []
    assert without.baseline.key != found.baseline.key


@pytest.mark.parametrize(
    ("files", "compiled"),
    [
        pytest.param({"setup.py": "setup(ext_modules=[])", "a.c": ""}, True, id="setup.py"),
        pytest.param({"setup.py": "setup(ext_modules=cythonize('a.pyx'))", "a.pyx": ""}, True, id="Cython"),
        pytest.param(
            {"pyproject.toml": '[build-system]\nbuild-backend = "maturin"\n', "src/lib.rs": ""},
            True,
            id="Rust",
        ),
        pytest.param({"setup.py": "setup()", "a.c": ""}, False, id="nothing is built"),
        pytest.param({"setup.py": "setup(ext_modules=[])"}, False, id="no sources"),
        pytest.param({"setup.py": "setup(ext_modules=[])", "tests/a.c": ""}, False, id="sources of tests"),
        pytest.param({"pyproject.toml": "[", "setup.py": "ext_modules", "a.c": ""}, False, id="unreadable"),
    ],
)
def test_which_projects_are_compiled(tmp_path: Path, files: Mapping[str, str], *, compiled: bool) -> None:
    assert is_compiled(write(tmp_path, files)) is compiled


def test_the_state_is_that_of_the_sources_outside_tests(tmp_path: Path) -> None:
    states = {
        name: state_of(write(tmp_path / name, {"a.c": "1", "a.py": "1", "tests/b.c": "1", **files}))
        for name, files in {
            "one": {},
            "python": {"a.py": "2"},
            "tests": {"tests/b.c": "2"},
            "c": {"a.c": "2"},
            "moved": {"c/a.c": "1"},
        }.items()
    }
    assert states["one"] == states["python"] == states["tests"]
    assert len({states["one"], states["c"], states["moved"]}) == 3


def test_what_a_build_requires(tmp_path: Path) -> None:
    assert build_requirements(tmp_path) == ["setuptools", "wheel"]
    write(tmp_path, {"pyproject.toml": '[build-system]\nrequires = ["cython>=3"]\n'})
    assert build_requirements(tmp_path) == ["cython>=3"]


def wheel_of(path: Path, names: list[str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return path


def test_only_compiled_modules_of_the_code_are_taken(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"src/calc/__init__.py": "", "src/calc/plain.py": ""})
    names = [
        *("calc/__init__.py", "calc/_fast.cpython-311.so", "calc/plain.so", "calc/tests/helper.so"),
        *("calc/data.txt", "json.so", "conftest.so", "pytest/x.so", "../out.so", "/root.so", "_top.abi3.so"),
    ]
    wheel = wheel_of(tmp_path / "calc.whl", names)
    found = keep_compiled(wheel, tree, tmp_path / "place")
    assert found == ["src/calc/_fast.cpython-311.so", "src/_top.abi3.so"]


def test_a_copy_keeps_what_it_has(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"calc/__init__.py": ""})
    names = ["calc/__init__.py", "calc/a.so", "calc/b.so", "calc/c.so", "gone/d.so"]
    keep_compiled(wheel_of(tmp_path / "calc.whl", names), tree, tmp_path / "place")
    copy = write(tmp_path / "copy", {"calc/__init__.py": "", "calc/a.so": "mine", "calc/b.py": ""})
    outside = tmp_path / "outside"
    outside.mkdir()
    lay_compiled(tmp_path / "place", copy)
    assert (copy / "calc/a.so").read_text() == "mine"
    assert not (copy / "calc/b.so").exists(), "it would hide a module in Python"
    assert (copy / "calc/c.so").read_text() == "calc/c.so"
    shutil.rmtree(copy / "calc")
    (copy / "calc").symlink_to(outside)
    lay_compiled(tmp_path / "place", copy)
    assert list(outside.iterdir()) == []


def test_what_is_no_wheel_is_refused(tmp_path: Path) -> None:
    (tmp_path / "calc.whl").write_text("no wheel")
    with pytest.raises(ValueError, match="no valid wheel"):
        keep_compiled(tmp_path / "calc.whl", tmp_path, tmp_path / "place")
    (tmp_path / "link.whl").symlink_to(wheel_of(tmp_path / "other.whl", ["a.so"]))
    os.mkfifo(tmp_path / "pipe.whl")
    for name in ("link.whl", "pipe.whl"):
        with pytest.raises(ValueError, match="a link or a pipe"):
            keep_compiled(tmp_path / name, tmp_path, tmp_path / "place")


def test_modules_that_fill_the_disk_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.workspaces.environments.extensions.wheels._MOST_BYTES", 8)
    wheel = wheel_of(tmp_path / "calc.whl", ["a.so", "b.so", "c.so"])
    with pytest.raises(ValueError, match="more than 8 bytes"):
        keep_compiled(wheel, tmp_path, tmp_path / "place")
