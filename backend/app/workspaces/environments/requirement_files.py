"""Reads pip's requirement files with their includes, without the lines that must not be followed."""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from app.workspaces.environments.local import local_extras, local_place
from app.workspaces.environments.naming import names_in
from app.workspaces.environments.reading import DeclarationError, read_text

_MAX_FILES = 50
_INCLUDE = re.compile(
    r"^(?P<option>-r|-c|--requirement|--constraint)(?:\s+|=)"
    r"(?:(?P<quote>['\"])(?P<quoted>[^\s'\"]+)(?P=quote)|(?P<plain>\S+))"
)
_ATTACHED = re.compile(r"^(-[rce])(?=[^\s=])")
"""A short option whose value follows without white space. Pip takes it, and uv refuses it."""

# The operator chooses the indexes. Pip's other options in such files do not matter here.
_KEPT_OPTIONS = re.compile(r"^(?:-r|-c|-e|--requirement|--constraint|--editable|--hash)\b")
_USUAL_PLACES = (
    "*requirements*.txt",
    "requirements/*.txt",
    "reqs/*.txt",
    "test/requirements*.txt",
    "tests/requirements*.txt",
    "*requirements*.in",
    "requirements/*.in",
    "requirements/*.pip",
)
_OF_PROJECT = re.compile(
    r"requirements(?:/(?:base|common|core|default|install|main|prod|requirements|runtime))?\.(?:txt|in|pip)"
)
_NAME_LIKE = re.compile(r"(?:^|[-_./])(test|tests|testing|dev|develop|development)(?:[-_./]|$)")

_EDITABLE_ADDRESS = re.compile(
    r"^(?:-e|--editable)(?:\s+|=)['\"]?(?P<address>\w++\+[^\s#'\"]++)"
    r"(?:#(?:[^\s#&]*&)*egg=(?P<egg>[\w.-]++(?:\[[^\]\s]*\])?))?"
)
_PLAIN = re.compile(
    r"(?:requirements[-_./])?(?:tests?|testing|dev|develop|development)(?:[-_./]requirements)?\.(?:txt|in|pip)"
)


@dataclass(slots=True)
class RequirementFiles:
    """Requirement files by path in the tree, those that others include, and the project's extras in them."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    included: set[str] = field(default_factory=set[str])
    extras: set[str] = field(default_factory=set[str])

    def outermost(self) -> list[str]:
        """Return the files that no other one includes, or all files if they all include each other."""
        return [name for name in self.texts if name not in self.included] or list(self.texts)

    def collect(self, tree: Path, name: str) -> None:
        """Add a file and all that it includes.

        Raises:
            DeclarationError: a file is missing, outside the tree or cannot be read.
        """
        name = posixpath.normpath(name)
        if name in self.texts:
            return
        text = None if name.startswith(("../", "/")) or "://" in name else read_text(tree, name)
        if text is None:
            raise DeclarationError(f"{name} is included by a requirement file and is not in the tree")
        if len(self.texts) >= _MAX_FILES:
            raise DeclarationError(f"more than {_MAX_FILES} requirement files include each other")
        self.texts[name] = ""
        lines = list(self._kept(text))
        self.texts[name] = "".join(f"{line}\n" for line in lines)
        for line in lines:
            include = _INCLUDE.match(line)
            if include:
                named = include["quoted"] or include["plain"]
                other = posixpath.normpath(posixpath.join(posixpath.dirname(name), named))
                self.included.add(other)
                self.collect(tree, other)

    def _kept(self, text: str) -> Iterator[str]:
        for line in _logical_lines(text):
            local = local_extras(line)
            if local is not None:
                # The project itself is judged, so it is not installed.
                self.extras.update(local)
            elif not line.startswith("-") or _KEPT_OPTIONS.match(line):
                # Pip takes quoted names of files, and uv takes quotes as parts of the names.
                yield _INCLUDE.sub(r"\g<option> \g<quoted>\g<plain>", _not_editable(line))


def requirement_file_names(tree: Path) -> tuple[list[str], list[str], list[str]]:
    """Return the requirement files at the usual paths: of the project, of its tests, of its development."""
    found = [
        path.relative_to(tree).as_posix() for pattern in _USUAL_PLACES for path in sorted(tree.glob(pattern))
    ]
    # Of a file and what was compiled from it, the compiled one has the versions.
    found = [
        each for each in found if f"{each.removesuffix('.in')}.txt" not in found or each.endswith(".txt")
    ]
    tests: list[str] = []
    development: list[str] = []
    for name in found:
        kind = _NAME_LIKE.search(posixpath.splitext(name.lower())[0])
        if kind:
            (tests if kind.group(1).startswith("test") else development).append(name)
    return [name for name in found if _OF_PROJECT.fullmatch(name)], _plainest(tests), _plainest(development)


def _not_editable(line: str) -> str:
    """Return a requirement from a repository without the wish to edit it there, which uv refuses."""
    found = _EDITABLE_ADDRESS.match(line)
    if found is None:
        return line
    return f"{found['egg']} @ {found['address']}" if found["egg"] else found["address"]


def plugins_in(tree: Path, names: Iterable[str], known: Collection[str]) -> list[str]:
    """Return the plug-ins of pytest that requirement files name besides `known`: tests need fixtures."""
    lines = [line for name in names for line in _logical_lines(read_text(tree, name) or "")]
    return [each for each in lines for name in names_in([each]) - set(known) if name.startswith("pytest-")]


def requirement_lines(tree: Path, names: Iterable[str]) -> list[str]:
    """Return the requirements in files, without options and includes. Files that cannot be read have none."""
    found: list[str] = []
    for name in names:
        with suppress(DeclarationError):
            lines = _logical_lines(read_text(tree, name) or "")
            found += [line for line in lines if not line.startswith("-") and local_extras(line) is None]
    return found


def local_projects(tree: Path) -> list[str]:
    """Return the projects beside the tree's own that requirement files install, as POSIX paths below it."""
    lines: list[str] = []
    for name in dict.fromkeys(name for names in requirement_file_names(tree) for name in names):
        with suppress(DeclarationError):
            lines += _logical_lines(read_text(tree, name) or "")
    return local_projects_in(tree, lines)


def local_projects_in(tree: Path, lines: Iterable[str]) -> list[str]:
    """Return the projects beside the tree's own that requirements name, as POSIX paths below it.

    Pip takes such a path as relative to the directory that it runs in, usually the root of the tree.
    """
    found = dict.fromkeys(place for line in lines if (place := local_place(line)))
    inside = [posixpath.normpath(each) for each in found]
    return [each for each in inside if each != "." and not each.startswith("..") and is_project(tree / each)]


def is_project(place: Path) -> bool:
    """Return True if a directory, and no link to one, has a project file."""
    return not place.is_symlink() and any((place / each).is_file() for each in ("pyproject.toml", "setup.py"))


def _plainest(names: list[str]) -> list[str]:
    """Return the general files for a purpose if there are any, else those for variants (`tests-min.txt`)."""
    plain = [name for name in names if _PLAIN.fullmatch(name.lower())]
    return plain or names


def _logical_lines(text: str) -> Iterator[str]:
    """Yield logical lines: continued lines are joined; comments, empty lines and empty markers are left out.

    Pip takes an empty marker, as in `attrs>=23;`, and uv refuses it.
    """
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        plain = re.sub(r"(?:^|\s)#.*$", "", line).strip().rstrip("; \t")
        if plain:
            yield _ATTACHED.sub(r"\1 ", plain)
