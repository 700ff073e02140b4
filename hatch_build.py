"""Lays out the wheel: one package, `phaserunner`, with the application, its migrations, page and examples.

A checkout imports the application as `app`. A wheel must not install a package of that common name. So it
holds the application as `phaserunner._app` and renames every import; docs/decisions/0024-public-package.md.
"""

import ast
import re
import shutil
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CHECKOUT_NAME = "app"
INSTALLED_NAME = "phaserunner._app"

# From a path in the checkout to a path in the wheel, and whether Python files there import the application.
_PARTS = (
    ("backend/phaserunner", "phaserunner", True),
    ("backend/app", "phaserunner/_app", True),
    ("backend/migrations", "phaserunner/_app/_migrations", True),
    ("examples", "phaserunner/_app/_examples", False),
    ("frontend/dist", "phaserunner/_app/_dashboard", False),
)
_IMPORT = re.compile(rf"^(\s*from\s+){CHECKOUT_NAME}\b")
_MODULE_PATH = re.compile(rf"{CHECKOUT_NAME}\.(\w+)[\w.:]*\Z")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")


class RenameError(Exception):
    """A source names the application in a way that cannot be renamed."""


class WheelHook(BuildHookInterface[Any]):
    """Writes the contents of the wheel to a temporary directory, from which it is built."""

    _staging: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Lay the files out; an editable wheel refers to the checkout and needs none."""
        if version == "editable":
            return
        root = Path(self.root)
        if not (root / "frontend" / "dist" / "index.html").is_file():
            self.app.display_warning("this wheel has no dashboard, because it is not built: make dashboard")
        self._staging = Path(tempfile.mkdtemp(prefix="phaserunner-wheel-"))
        lay_out(root, self._staging)
        build_data["force_include"][str(self._staging / "phaserunner")] = "phaserunner"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary directory."""
        if self._staging is not None:
            shutil.rmtree(self._staging, ignore_errors=True)


def lay_out(root: Path, target: Path) -> None:
    """Copy what a wheel holds from the checkout `root` to `target`, and rename the application's imports.

    Raises:
        RenameError: a source names the application in a way that cannot be renamed.
    """
    rooms = frozenset(each.stem for each in (root / "backend" / CHECKOUT_NAME).iterdir())
    for source, place, imports_it in _PARTS:
        if not (root / source).is_dir():
            continue
        copy = target / place
        shutil.copytree(root / source, copy, ignore=_LEFT_OUT, dirs_exist_ok=True)
        for file in sorted(copy.rglob("*.py")) if imports_it else ():
            text = file.read_bytes().decode("utf-8")
            file.write_bytes(renamed(text, file.relative_to(target).as_posix(), rooms).encode("utf-8"))


def renamed(source: str, name: str, rooms: Collection[str]) -> str:
    """Give Python source that imports the application under its installed name, each line at its place.

    Args:
        source: Python source.
        name: what an error calls it.
        rooms: modules and packages directly in the application.

    Raises:
        RenameError: `import app...` binds the name `app`, or a text holds the path of one of its modules.
    """
    lines = source.split("\n")
    for node in ast.walk(ast.parse(source, name)):
        for problem in _problems(node, rooms):
            raise RenameError(f"{name}:{getattr(node, 'lineno', 0)}: {problem}")
        if isinstance(node, ast.ImportFrom) and node.level == 0 and _is_ours(node.module or ""):
            # Only indentation stands before an import.
            lines[node.lineno - 1] = _IMPORT.sub(rf"\g<1>{INSTALLED_NAME}", lines[node.lineno - 1])
    return "\n".join(lines)


def _problems(node: ast.AST, rooms: Collection[str]) -> Iterator[str]:
    if isinstance(node, ast.Import) and any(_is_ours(each.name) for each in node.names):
        yield "write `from app... import ...`, which a wheel can rename"
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        path = _MODULE_PATH.match(node.value)
        if path and path[1] in rooms:
            yield f"the text {node.value!r} names a module; begin it with __package__, which a wheel renames"


def _is_ours(module: str) -> bool:
    return module == CHECKOUT_NAME or module.startswith(f"{CHECKOUT_NAME}.")
