"""Recognises what a test run lacks: a module to install or to write, a network, a library, a program."""

import configparser
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from app.runners.evaluators.source_places import source_places
from app.runners.evaluators.testing.running.machine_words import missing_on_machine
from app.workspaces.environments.groups import Wanted, wanted
from app.workspaces.environments.locked import locked_versions, uv_locked_versions
from app.workspaces.environments.naming import names_in, normal
from app.workspaces.environments.reading import DeclarationError

_MISSING = re.compile(r"No module named '([\w.]+)'")
_PLUGIN = re.compile(r"""Error importing plugin "([\w.]+)": No module named '\1'""")
_UNIMPORTABLE = re.compile(r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'")
_SUBMODULE_PATH = re.compile(r"^[ \t]*path\s*=\s*([^\s#]+)", re.MULTILINE)
_REQUIREMENTS = (
    *("*requirements*.txt", "*requirements*.in", "requirements/*.txt", "requirements/*.in"),
    *("requirements/*/*.txt", "requirements/*/*.in"),
)
_FRAME = re.compile(r'INTERNALERROR>\s+File "([^"]+)", line \d+')
"""A line in a traceback of pytest itself. It names files of the tree by their path below it."""
_IMPORT_FRAME = re.compile(r"(?:^|\s)(\S+\.py):\d+: in ")
"""A line in a traceback of an import that failed."""

# Distributions with a module of another name; enough of the well-known ones to tell whose fault it is.
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

# Libraries that only tests import and some projects declare nowhere. No goal asks an agent to write one.
_TEST_LIBRARIES = frozenset(
    {
        *("factory", "faker", "flaky", "freezegun", "hypothesis", "mock", "moto", "pretend", "requests_mock"),
        *("respx", "responses", "sybil", "syrupy", "testfixtures", "time_machine", "trustme", "vcr", "xdist"),
        *("aioresponses", "betamax", "coverage", "ddt", "httpretty", "model_bakery", "nose", "parameterized"),
        *("playwright", "pyfakefs", "selenium", "snapshottest", "testcontainers", "webtest"),
    }
)
_TEST_PLUGIN = "pytest_"
_TELLING = 6
"""Letters of a module's name that do not occur in another project's name by chance."""
_COMPILED = (".c", ".cc", ".cpp", ".pyx", ".rs")


def missing_module(message: str) -> str | None:
    """Return the top-level module that an error message reports as missing."""
    match = _MISSING.search(message)
    return match.group(1).partition(".")[0] if match else None


def missing_submodule(message: str) -> str | None:
    """Return the dotted name of the module that an error message reports as missing in a package."""
    match = _MISSING.search(message)
    return match.group(1) if match and "." in match.group(1) else None


def missing_part(message: str) -> str | None:
    """Return the dotted name of what a message reports as missing in a package: a module or another name."""
    match = _UNIMPORTABLE.search(message)
    return missing_submodule(message) or (f"{match.group(2)}.{match.group(1)}" if match else None)


def lacking(message: str, tree: Path | None = None) -> str | None:
    """Return what the machine lacks according to an error message, or None.

    Code can raise any message, so it counts only if the base fails with the same one.

    Args:
        message: the error's message.
        tree: the base, where a git submodule may be missing.
    """
    found = missing_on_machine(message)
    return found or (None if tree is None else _unfetched_submodule(message, tree))


def _unfetched_submodule(message: str, tree: Path) -> str | None:
    """Return the missing git submodule if a message names a path in it and its directory is empty."""
    for path in _SUBMODULE_PATH.findall(_text(tree / ".gitmodules")):
        place = tree / path
        if path in message and not (place.is_dir() and any(place.iterdir())):
            return f"the git submodule {path} is not fetched"
    return None


def is_foreign(module: str, tree: Path, sources: Iterable[str]) -> bool:
    """Return True if the environment should provide a missing module.

    That is so if the tree has no module with that name, and either declares it as a dependency (or one of its
    tests), has it in a lock file, or imports it in its own code. Any other module that only tests import may
    be the one that the agent must write; see `is_test_library`.

    Args:
        module: a top-level module name.
        tree: the tree with the base commit.
        sources: the tree's Python files that are not tests.
    """
    if is_in_tree(module, tree):
        return False
    distributions = {normal(module), _DISTRIBUTION_OF.get(module.lower(), normal(module))}
    declared = {normal(name) for name in _declared(tree)}
    if distributions & {*declared, *_locked(tree)} or any(_may_hold(each, module) for each in declared):
        return True
    pattern = re.compile(rf"^[ \t]*(?:import|from)\s+{re.escape(module)}\b", re.MULTILINE)
    return any(pattern.search(_text(tree / name)) for name in sources)


def _may_hold(distribution: str, module: str) -> bool:
    """Return True if a distribution may hold a module, as "requests-wsgi-adapter" holds `wsgiadapter`."""
    name = normal(module).replace("-", "")
    return len(name) >= _TELLING and name in distribution.replace("-", "")


def is_lacked_by_installed(message: str) -> bool:
    """Return True if an installed package imports the module that an error message names as missing.

    One of them is pytest, which imports the plug-ins that a configuration names. Code can raise any message.
    This one counts only if the base fails with it, too.

    Args:
        message: of pytest, with the frames that lead to the error.
    """
    if _PLUGIN.search(message):
        return True
    # Warnings above the traceback may name the module, too.
    *_, last = (0, *(error.start() for error in _MISSING.finditer(message)))
    frames = _IMPORT_FRAME.findall(message[:last])
    return bool(frames) and "/site-packages/" in frames[-1]


def is_test_library(module: str, tree: Path) -> bool:
    """Return True if a module is a well-known test library that the tree itself does not contain.

    Without a declaration, the environment is at fault only if the base's own tests fail for it, too.
    """
    known = module.lower() in _TEST_LIBRARIES or module.lower().startswith(_TEST_PLUGIN)
    return known and not is_in_tree(module, tree)


def is_made_by_build(module: str, tree: Path, sources: Iterable[str]) -> bool:
    """Return True if the project's build writes or compiles a missing module of a package.

    The tree has the package and not the module, but its own code imports the module. A module that only tests
    import may be the one that the agent must write.

    Args:
        module: a dotted name.
        tree: the tree with the base commit.
        sources: the tree's Python files that are not tests.
    """
    package, _, name = module.rpartition(".")
    path = package.replace(".", "/")
    if not package or not is_in_tree(path, tree) or is_in_tree(f"{path}/{name}", tree):
        return False
    inside = rf"(?:{re.escape(package)}|\.+[\w.]*)"
    pattern = re.compile(
        rf"^[ \t]*(?:from\s+(?:{re.escape(module)}|\.+(?:[\w.]*\.)?{re.escape(name)})\s+import\b"
        rf"|import\s+{re.escape(module)}\b|from\s+{inside}\s+import\s+[^#\n]*\b{re.escape(name)}\b)",
        re.MULTILINE,
    )
    return any(pattern.search(_text(tree / each)) for each in sources)


def is_compiled(module: str, tree: Path) -> bool:
    """Return True if a tree has a package, and a file in a compiled language with the name of its module.

    The build makes the module of that file, so no code is missing, even if only tests import it.
    """
    package, _, name = module.rpartition(".")
    path = package.replace(".", "/")
    if not package or not is_in_tree(path, tree) or is_in_tree(f"{path}/{name}", tree):
        return False
    return any(next(tree.rglob(f"{name}{suffix}"), None) for suffix in _COMPILED)


def is_declared_part(module: str, tree: Path) -> bool:
    """Return True if a tree declares a package with the dotted name of a module, or of one above it.

    The tree itself has no such module.
    """
    first, *others = module.split(".")
    names = [".".join((first, *others[:count])) for count in range(1, len(others) + 1)]
    if any(is_in_tree(name.replace(".", "/"), tree) for name in names):
        return False
    declared = {normal(name) for name in _declared(tree)}
    return any(normal(name) in declared for name in names)


def is_in_tree(module: str, tree: Path) -> bool:
    """Return True if a tree has a module, named with slashes, at its root or in a source directory."""
    places = ("", *source_places(tree))
    return any((tree / place / name).exists() for place in places for name in (module, f"{module}.py"))


def _declared(tree: Path) -> Iterator[str]:
    """Yield the distributions that a project declares as dependencies."""
    try:
        asked = wanted(tree)
    except DeclarationError:
        asked = Wanted()
    for lines in (asked.requirements, *asked.extras.values(), *asked.groups.values()):
        yield from names_in(lines)
    for pattern in _REQUIREMENTS:
        for path in sorted(tree.glob(pattern)):
            yield from names_in(_text(path).splitlines())
    for options in _sections(tree / "tox.ini").values():
        # A dependency may be only for some environments: `py3: name`.
        yield from names_in(line.rpartition(": ")[2] for line in options.get("deps", "").splitlines())


def _locked(tree: Path) -> frozenset[str]:
    """Return the distributions in a project's lock files, with those that others bring along."""
    found: set[str] = set()
    for read in (locked_versions, uv_locked_versions):
        with suppress(DeclarationError):
            found.update(names_in(read(tree)))
    return frozenset(found)


def _sections(path: Path) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(_text(path))
    except configparser.Error:
        return {}
    return {section: dict(parser[section]) for section in parser.sections()}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def own_hook_broke(text: str) -> bool:
    """Return True if pytest itself broke in a hook of the project.

    Such a hook may break on every failing test, at the base as well. That does not excuse a failing test, so
    it counts only where nothing was collected.
    """
    frames = _FRAME.findall(text)
    return bool(frames) and not frames[-1].startswith("/")
