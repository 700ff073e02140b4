"""What a run lacks: a module that was to be installed, or to be written; a network, a library, a program."""

import configparser
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

_MISSING = re.compile(r"No module named '([\w.]+)'")
_NAME = re.compile(r"^\s*([A-Za-z0-9][\w.-]*)")

# What an error message says about the machine rather than the code.
_ENVIRONMENT = (
    (
        re.compile(r"Network is unreachable|name resolution|Name or service not known"),
        "the tests have no network",
    ),
    (re.compile(r"cannot open shared object file|error while loading shared"), "a system library is missing"),
    (re.compile(r"(?:No such file or directory|Permission denied): '[\w.+-]+'$"), "a program is missing"),
    (re.compile(r"Connection refused|Cannot connect to"), "a service that the tests need does not answer"),
    (re.compile(r"Read-only file system"), "the tests may only write in their tree and to temporary files"),
    (re.compile(r"No space left on device"), "there is no space left"),
)

# Distributions whose module has another name; enough of the well-known ones to tell whose fault it is.
_DISTRIBUTION_OF = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "jwt": "pyjwt",
    "pil": "pillow",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}


def missing_module(message: str) -> str | None:
    """Give the top-level module that an error message says is missing."""
    match = _MISSING.search(message)
    return match.group(1).partition(".")[0] if match else None


def lacking(message: str) -> str | None:
    """Say what the machine lacks by an error message; None when it does not speak of that.

    Code can raise what it likes: the message counts only where the base fails with it, too.
    """
    return next((what for pattern, what in _ENVIRONMENT if pattern.search(message)), None)


def is_foreign(module: str, tree: Path, sources: Iterable[str]) -> bool:
    """Tell whether a missing module is one that the environment should provide.

    It is when the tree has no module of that name, and either declares it as a dependency or imports it in
    its own code. A module that only tests import may be the very one the agent is asked to write.

    Args:
        module: a top-level module name.
        tree: the tree with the base commit.
        sources: the tree's Python files that are not tests.
    """
    if any((tree / place / name).exists() for place in ("", "src") for name in (module, f"{module}.py")):
        return False
    wanted = {_normal(module), _DISTRIBUTION_OF.get(module.lower(), _normal(module))}
    if wanted & {_normal(name) for name in _declared(tree)}:
        return True
    pattern = re.compile(rf"^\s*(?:import|from)\s+{re.escape(module)}\b", re.MULTILINE)
    return any(pattern.search(_text(tree / name)) for name in sources)


def _declared(tree: Path) -> Iterator[str]:
    """Name the distributions that a project says it needs."""
    try:
        document = tomllib.loads(_text(tree / "pyproject.toml"))
    except tomllib.TOMLDecodeError:
        document = {}
    project = _table(document, "project")
    groups = [project.get("dependencies"), *_table(project, "optional-dependencies").values()]
    groups += _table(document, "dependency-groups").values()
    for group in groups:
        yield from _names(cast("Sequence[object]", group) if isinstance(group, list) else ())
    yield from _table(_table(_table(document, "tool"), "poetry"), "dependencies")
    for path in tree.glob("*requirements*.txt"):
        yield from _names(_text(path).splitlines())
    yield from _names(_setup_cfg(tree).splitlines())


def _setup_cfg(tree: Path) -> str:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(_text(tree / "setup.cfg"))
    except configparser.Error:
        return ""
    return parser.get("options", "install_requires", fallback="")


def _table(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = document.get(name)
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _names(requirements: Iterable[object]) -> Iterator[str]:
    for requirement in requirements:
        match = _NAME.match(str(requirement))
        if match:
            yield match.group(1)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
