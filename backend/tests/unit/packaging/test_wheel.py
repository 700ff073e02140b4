"""How the wheel names the application, and what its public face holds."""

import importlib.util
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import phaserunner
import phaserunner.client
import phaserunner.engine
import phaserunner.evaluators
from app.client.events import follow
from app.runners.evaluators.protocol import EvaluationResult
from app.runners.evaluators.registrations import Registration

ROOT = Path(__file__).parents[4]
ROOMS = frozenset({"core", "cli"})


@pytest.fixture(scope="module")
def build_hook() -> Any:
    """The build hook; skipped where the tool that builds wheels is not installed."""
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("from app.core import x\n", "from phaserunner._app.core import x\n", id="a module"),
        pytest.param("from app import x\n", "from phaserunner._app import x\n", id="the package"),
        pytest.param("from  app.core import (\n    x,\n)\n", None, id="several lines"),
        pytest.param("def f():\n    from app.core import x\n", None, id="in a function"),
        pytest.param("from apple.core import x\n", "from apple.core import x\n", id="a name that begins so"),
        pytest.param("from .app import x\n", "from .app import x\n", id="a relative import"),
        pytest.param(
            'T = """\nfrom app.core import x\n"""\n', 'T = """\nfrom app.core import x\n"""\n', id="text"
        ),
        pytest.param("app = 1\napp.core\n", "app = 1\napp.core\n", id="a variable"),
        pytest.param('x = "\x0c"\nfrom app.core import y\r\n', None, id="unusual line ends"),
    ],
)
def test_imports_are_renamed(build_hook: Any, source: str, expected: str | None) -> None:
    expected = expected or source.replace(" app.core", " phaserunner._app.core")
    assert build_hook.renamed(source, "x.py", ROOMS) == expected


@pytest.mark.parametrize(
    ("source", "told"),
    [
        pytest.param("import app.core\n", "from app... import", id="binds the common name"),
        pytest.param("import app as a\n", "from app... import", id="under another name"),
        pytest.param('load("app.cli.main:main")\n', "'app.cli.main:main'", id="a path in a text"),
        pytest.param('load(f"app.cli.{x}")\n', "'app.cli.'", id="the beginning of a path"),
    ],
)
def test_what_cannot_be_renamed_ends_the_build(build_hook: Any, source: str, told: str) -> None:
    with pytest.raises(build_hook.RenameError, match=r"x\.py:1: ") as failed:
        build_hook.renamed(source, "x.py", ROOMS)
    assert told in str(failed.value)


def test_the_whole_application_can_be_renamed(build_hook: Any, tmp_path: Path) -> None:
    build_hook.lay_out(ROOT, tmp_path)
    installed = tmp_path / "phaserunner" / "_app"
    for needed in ("main.py", "_migrations/env.py", "_examples/index.toml"):
        assert (installed / needed).is_file()
    command = [
        sys.executable,
        "-I",
        "-c",
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import phaserunner;",
    ]
    command[-1] += "[getattr(phaserunner, name) for name in phaserunner.__all__]; print('app' in sys.modules)"
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.stdout.strip() == "False", ended.stderr


def test_public_names_are_the_objects_that_the_application_uses() -> None:
    assert phaserunner.EvaluationResult is EvaluationResult
    assert phaserunner.Registration is Registration
    assert phaserunner.follow is follow


def test_the_package_offers_all_names_of_its_modules() -> None:
    modules = (phaserunner.client, phaserunner.engine, phaserunner.evaluators)
    names = {"__version__", *(name for module in modules for name in module.__all__)}
    assert set(phaserunner.__all__) == names
    assert set(dir(phaserunner)) == names
    assert all(hasattr(phaserunner, name) for name in names)


def test_the_version_is_that_of_the_distribution() -> None:
    assert phaserunner.__version__ == version("phaserunner")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="frobnicate"):
        getattr(phaserunner, "frobnicate")  # noqa: B009 - the checker knows that there is none
