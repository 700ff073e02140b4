"""Finds the extras and files with which a project's own commands install it before its tests."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from app.workspaces.environments.commanded_words import commanded_words
from app.workspaces.environments.groups import Wanted
from app.workspaces.environments.imported import imported_by_tests
from app.workspaces.environments.local import without_self
from app.workspaces.environments.naming import names_in, normal
from app.workspaces.environments.reading import DeclarationError, read_text, read_toml, table, texts
from app.workspaces.environments.requirement_files import requirement_lines

_FILES = ("tox.ini", "noxfile.py", "Makefile", "justfile", ".gitlab-ci.yml", ".travis.yml")
_WORKFLOWS = ".github/workflows"
_MOST_WORKFLOWS = 30
_SCRIPT = re.compile(r"(?<![\w./-])(?:\./)?(scripts/[\w./-]+|(?:[\w-]+/)*[\w-]+\.(?:ba)?sh)(?![\w/-])")
_MOST_SCRIPTS = 20
_HATCH_TESTS = ("default", "hatch-test", "test", "tests")
RUNS_TESTS = re.compile(
    r"\b(?:pytest|py\.test|unittest|tox|nox|testenv\w*|run_?tests?\.py|manage\.py\s+test)\b"
)
_ALL = re.compile(r"--all-extras\b")
_OF_PROJECT = re.compile(r"(?:^|[\s'\"=])\.\[([\w.,\s-]+)\]", re.MULTILINE)
_INSTALLS = re.compile(r"\bpip3? install .*")
_FILE = re.compile(r"\s(?:-r|--requirement)[\s=]*([\w./-]+\.(?:txt|in|pip))(?![\w./-])")
_OPTION = re.compile(r"--extras?[ =](?:'([\w.,\s-]+)'|\"([\w.,\s-]+)\"|([\w.-]+))")
_OTHER_WORK = frozenset(
    {
        *("doc", "docs", "documentation", "rtd", "lint", "linting", "linters", "format", "style"),
        *("type", "types", "typing", "mypy", "release", "publish", "build"),
    }
)
NOT_FOR_TESTS = _OTHER_WORK | {"dev", "develop", "development"}
"""Extras for other work. One for development is chosen anyway if those for tests do not bring pytest."""
LARGE = frozenset({"torch", "tensorflow", "jax", "jaxlib", "pyspark", "ray", "triton"})
"""Packages of gigabytes. Tests that need them are skipped, or fail at the base, too."""


def commanded_extras(tree: Path, extras: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names of the extras that a project's commands for its tests install.

    The commands are those of tox, nox, make and of workflows that run tests, and the environments those of
    Hatch. Extras for documentation and the like are left out, as are those with packages of gigabytes.

    Args:
        tree: the base.
        extras: the project's extras, with the requirements of each.

    Raises:
        DeclarationError: pyproject.toml cannot be read.
    """
    if not extras:
        return []
    commands = [text for text in command_texts(tree) if RUNS_TESTS.search(text)]
    named = [name for text in commands for name in _named(text)]
    wanted = {normal(name) for name in (*named, *_features(tree))}
    takes_all = any(_ALL.search(text) for text in commands)
    return [
        name
        for name, requirements in extras.items()
        if (takes_all or normal(name) in wanted)
        and normal(name) not in NOT_FOR_TESTS
        and names_in(requirements).isdisjoint(LARGE)
    ]


def commanded_lines(tree: Path, known: Collection[str]) -> list[str]:
    """Return what tests need and only the project's commands install: by name, or from requirement files.

    Tests need what they import, and plug-ins of pytest.

    Args:
        tree: the base.
        known: normalised names of the packages that are installed anyway.
    """
    texts = [each for each in command_texts(tree) if RUNS_TESTS.search(each)]
    words = [each for each in commanded_words(tree, texts) if names_in([each]).isdisjoint(LARGE)]
    lines = [*requirement_lines(tree, _commanded_files(texts)), *words]
    unknown = [each for each in lines if names_in([each]).isdisjoint(known)]
    imported = imported_by_tests(tree) if unknown else frozenset[str]()
    found: dict[str, str] = {}
    for line in unknown:
        for name in names_in([line]):
            if name in imported or name.startswith("pytest-"):
                found.setdefault(name, line)
    return list(found.values())


def _commanded_files(texts: Iterable[str]) -> list[str]:
    """Return the requirement files that commands for tests install, but not those for other work."""
    found = (
        path.removeprefix("./")
        for text in texts
        for command in _INSTALLS.findall(text)
        for path in _FILE.findall(command)
    )
    return [
        name
        for name in dict.fromkeys(found)
        if _OTHER_WORK.isdisjoint(re.split(r"[^a-z]+", name.lower()))
        and not name.startswith("/")
        and ".." not in name.split("/")
    ]


def commanded_requirements(tree: Path, asked: Wanted, project: str, known: Collection[str]) -> list[str]:
    """Return the requirements of these extras.

    Args:
        tree: the base.
        asked: what the project declares.
        project: the project's name.
        known: normalised names of the packages that are installed anyway.

    Raises:
        DeclarationError: pyproject.toml cannot be read.
    """
    lines = [line for name in commanded_extras(tree, asked.extras) for line in asked.extra_requirements(name)]
    found = dict.fromkeys(without_self(lines, asked, project))
    return [each for each in found if names_in([each]).isdisjoint(known)]


def _named(text: str) -> Iterator[str]:
    groups = [*_OF_PROJECT.findall(text), *("".join(each) for each in _OPTION.findall(text))]
    for group in groups:
        yield from (each for each in re.split(r"[\s,]+", group) if each)


def _features(tree: Path) -> Iterator[str]:
    """Yield the extras in Hatch's environments for tests."""
    environments = table(read_toml(tree, "pyproject.toml"), "tool", "hatch", "envs")
    for name in _HATCH_TESTS:
        yield from texts(table(environments, name).get("features"))


def command_texts(tree: Path) -> Iterator[str]:
    """Yield the texts of the files with commands, each with the scripts of the tree that it runs.

    A file that cannot be read only adds nothing.
    """
    for name in (*_FILES, *_workflows(tree)):
        text = _text(tree, name)
        scripts = dict.fromkeys(each for each in _SCRIPT.findall(text) if ".." not in each)
        yield "\n".join([text, *(_text(tree, each) for each in list(scripts)[:_MOST_SCRIPTS])])


def _text(tree: Path, name: str) -> str:
    try:
        return read_text(tree, name) or ""
    except DeclarationError:
        return ""


def _workflows(tree: Path) -> list[str]:
    place = tree / _WORKFLOWS
    names = sorted(each.name for each in place.glob("*.y*ml")) if place.is_dir() else []
    return [f"{_WORKFLOWS}/{name}" for name in names[:_MOST_WORKFLOWS]]
