"""Finishes an environment: no package code runs at start, and the interpreter is the original one."""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

_RUN_AT_START = frozenset({"sitecustomize.py", "usercustomize.py"})
_CONFIGURATION = "pyvenv.cfg"
# Programs that tests start find the project; see the module whose text this is.
_FOR_CHILDREN = Path(__file__).with_name("tree_for_children.py")
_OURS = {
    "phaserunner-tree.pth": "import phaserunner_tree\n",
    "phaserunner_tree.py": _FOR_CHILDREN.read_text(encoding="utf-8"),
}

_NAMESPACES = "namespace_packages.txt"
_DOTTED = re.compile(r"^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$", re.MULTILINE)
_JOINED = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"


class AlteredError(Exception):
    """An installed package replaced the environment's interpreter or its configuration."""


def configuration_of(root: Path) -> bytes:
    """Return the configuration of a virtual environment, for a later comparison."""
    return (root / _CONFIGURATION).read_bytes()


def seal(root: Path, python: Path, configuration: bytes) -> None:
    """Make an environment safe to start outside the sandbox: only this process's user can write to it.

    Remove the files that packages use to run code at every interpreter start. That code would run before the
    test runner, and even in programs that only ask the interpreter for its paths. Our own takes their place.

    Args:
        root: the environment.
        python: the installation on which it is based.
        configuration: the result of `configuration_of` before anything was installed.

    Raises:
        AlteredError: the interpreter is not the original one.
    """
    _check(root, python, configuration)
    for path in _below(root):
        name = os.path.basename(path)
        in_site = os.path.basename(os.path.dirname(path)) == "site-packages"
        if in_site and (name.endswith(".pth") or name in _RUN_AT_START):
            os.unlink(path)
        else:
            _make_ours(path)
    for site in root.glob("lib/python3*/site-packages"):
        if not site.is_symlink() and not site.parent.is_symlink():
            ours = {site / name: text for name, text in _OURS.items()}
            for path, text in {**ours, **_namespaces(site)}.items():
                path.write_text(text)
                _make_ours(str(path))


def open_to_all(root: Path) -> None:
    """Let every user read a directory."""
    for path in _below(root):
        os.chmod(path, 0o755 if os.path.isdir(path) else 0o644)


def _check(root: Path, python: Path, configuration: bytes) -> None:
    program, settings = root / "bin" / "python", root / _CONFIGURATION
    places = (root, root / "bin", settings)
    whole = not any(path.is_symlink() for path in places) and settings.is_file() and program.is_symlink()
    if not whole or program.resolve() != python.resolve() or settings.read_bytes() != configuration:
        raise AlteredError("what was installed replaced the environment's interpreter")


def _namespaces(site: Path) -> dict[Path, str]:
    """Return the initial modules of old namespace packages, which are spread over several directories.

    The files that run at the start would have joined them.
    """
    lists = [
        each for each in site.glob(f"*.*-info/{_NAMESPACES}") if each.is_file() and not each.is_symlink()
    ]
    names = {name for each in lists for name in _DOTTED.findall(each.read_text("utf-8", errors="replace"))}
    places = [site.resolve().joinpath(*name.split(".")) for name in sorted(names)]
    theirs = [place for place in places if place.is_dir() and place.resolve() == place]
    return {place / "__init__.py": _JOINED for place in theirs if not os.path.lexists(place / "__init__.py")}


def _make_ours(path: str) -> None:
    mode = os.lstat(path).st_mode
    if os.geteuid() == 0:
        os.chown(path, 0, 0, follow_symlinks=False)
    if not stat.S_ISLNK(mode):
        executable = 0o111 if stat.S_ISDIR(mode) or mode & 0o100 else 0
        os.chmod(path, 0o444 | executable | (0o200 if stat.S_ISDIR(mode) else 0))


def _below(root: Path) -> Iterator[str]:
    yield str(root)
    for directory, subdirectories, files in os.walk(root):
        for name in (*subdirectories, *files):
            yield os.path.join(directory, name)
