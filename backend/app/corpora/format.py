"""Reads and writes labelled cases: one directory each, with `case.toml`, `base` and `candidate`."""

import json
import os
import re
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from app.core.errors import InvalidInputError
from app.schemas.calibration import CaseHead, Label
from app.schemas.runs import Phase

HEAD = "case.toml"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_TREES = ("base", "candidate")


@dataclass(frozen=True, slots=True)
class SymbolicLink:
    """A symbolic link in a tree; the target is stored as it is, wherever it leads."""

    target: str


Files = Mapping[str, bytes | SymbolicLink]
"""A tree, by relative paths with `/`; bytes in names that are not UTF-8 are surrogates (`os.fsdecode`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusCase:
    """One tree to judge, and the right verdict on it.

    Attributes:
        name: unique in its corpus; also the name of its directory.
        label: the right verdict.
        about: what the candidate does, in one line.
        area: the kind of case, for grouping.
        twin: name of the case that looks similar and is honest.
        residual: why a case that should fail is known to pass; None if it must fail.
        phase: the phase whose evaluators judge it.
        goal: what the work was to achieve, for evaluators that ask.
        output: the agent's final message; without one, the evaluators of an agent's messages are skipped.
        base: the tree at the base commit.
        candidate: the tree to judge.
    """

    name: str
    label: Label
    about: str
    candidate: Files
    base: Files = field(default_factory=dict[str, bytes | SymbolicLink])
    area: str = ""
    twin: str | None = None
    residual: str | None = None
    phase: Phase = Phase.CODING
    goal: str = ""
    output: str = ""


def read_corpus(root: Path) -> tuple[CorpusCase, ...]:
    """Read every case of a directory, by name. Other files and hidden directories are ignored.

    Raises:
        InvalidInputError: there is no case, or one cannot be used; the error names the
            file and the field in it.
    """
    try:
        names = sorted(each.name for each in root.iterdir() if each.is_dir() and each.name[0] != ".")
    except OSError as error:
        raise InvalidInputError(f"cannot be read: {error.strerror}", field=str(root)) from error
    if not names:
        raise InvalidInputError(f"holds no case: a case is a directory with {HEAD} in it", field=str(root))
    cases = tuple(_read_case(root / name) for name in names)
    check_corpus(cases)
    return cases


def write_corpus(cases: Iterable[CorpusCase], root: Path) -> None:
    """Write cases to a directory that is empty or does not exist.

    Raises:
        InvalidInputError: the directory is not empty or cannot be written to, or a case cannot be used.
    """
    every = tuple(cases)
    check_corpus(every)
    try:
        root.mkdir(parents=True, exist_ok=True)
        if any(root.iterdir()):
            raise InvalidInputError("is not empty; name a new directory", field=str(root))
        for case in every:
            place = root / case.name
            place.mkdir()
            (place / HEAD).write_text(_head_text(case), encoding="utf-8")
            write_files(case.candidate, place / "candidate")
            if case.base:
                write_files(case.base, place / "base")
    except OSError as error:
        raise InvalidInputError(f"cannot be written to: {error.strerror}", field=str(root)) from error


def write_files(files: Files, root: Path) -> None:
    """Write a tree to a directory that does not exist.

    Raises:
        InvalidInputError: a path is absolute, leads out of the tree, or passes through a file or link.
        OSError: the directory cannot be written to.
    """
    for path in files:
        inside = next((str(each) for each in checked_path(path).parents if str(each) in files), None)
        if inside is not None:
            raise InvalidInputError(f"lies below {inside!r}, which is not a directory", field=path)
    root.mkdir(parents=True)
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, SymbolicLink):
            target.symlink_to(content.target)
        else:
            target.write_bytes(content)


def read_files(root: Path) -> dict[str, bytes | SymbolicLink]:
    """Read a tree without following links; empty directories are left out.

    Raises:
        InvalidInputError: the tree is unreadable, or contains something other than
            files, links and directories.
    """
    return {path.relative_to(root).as_posix(): _content(path) for path in _below(root)}


def check_corpus(cases: Iterable[CorpusCase]) -> None:
    """Check the rules across cases, and the rules of `case.toml`, which built-in cases have not passed yet.

    Raises:
        InvalidInputError: a name is unfit or repeated, a twin is missing or not good, a good case has a
            residual, or a head is not valid.
    """
    every = tuple(cases)
    by_name = {each.name: each for each in every}
    if len(by_name) < len(every):
        twice = next(name for name in by_name if sum(each.name == name for each in every) > 1)
        raise InvalidInputError("there are two cases of this name", field=twice)
    for case in every:
        place = f"{case.name}/{HEAD}"
        if not _NAME.fullmatch(case.name):
            raise InvalidInputError("the name of a case has letters, digits, '.', '_', '-'", field=case.name)
        _validated(_head_fields(case), place)
        if case.twin is not None and case.twin not in by_name:
            raise InvalidInputError(f"there is no case {case.twin!r}", field=f"{place}: twin")
        if case.twin is not None and by_name[case.twin].label is not Label.GOOD:
            raise InvalidInputError(f"{case.twin!r} is not a good case", field=f"{place}: twin")
        if case.residual is not None and case.label is Label.GOOD:
            raise InvalidInputError("a good case is to pass", field=f"{place}: residual")


def checked_path(path: str) -> PurePosixPath:
    """Return the path if it names a place inside a tree.

    Raises:
        InvalidInputError: it does not.
    """
    parts = path.split("/")
    if "\0" in path or not all(parts) or "." in parts or ".." in parts:
        raise InvalidInputError("is not a path inside a tree", field=repr(path))
    return PurePosixPath(path)


def _read_case(place: Path) -> CorpusCase:
    head = _read_head(place)
    trees = {name: _read_tree(place, name) for name in _TREES}
    candidate = trees["candidate"]
    if candidate is None:
        raise InvalidInputError("there is no directory candidate", field=f"{place.name}/candidate")
    return CorpusCase(name=place.name, base=trees["base"] or {}, candidate=candidate, **dict(head))


def _read_head(place: Path) -> CaseHead:
    name = f"{place.name}/{HEAD}"
    try:
        document = tomllib.loads((place / HEAD).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InvalidInputError("there is no such file", field=name) from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"is not UTF-8: {error.reason} at byte {error.start}", field=name) from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(f"is not TOML: {error}", field=name) from error
    except OSError as error:
        raise InvalidInputError(f"cannot be read: {error.strerror}", field=name) from error
    return _validated(document, name)


def _validated(document: Mapping[str, object], name: str) -> CaseHead:
    try:
        return CaseHead.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidInputError(
            first["msg"].removeprefix("Value error, "), field=f"{name}: {place}"
        ) from error


def _read_tree(place: Path, name: str) -> dict[str, bytes | SymbolicLink] | None:
    root = place / name
    if root.is_symlink() or (root.exists() and not root.is_dir()):
        raise InvalidInputError("is not a directory", field=f"{place.name}/{name}")
    try:
        return read_files(root) if root.exists() else None
    except InvalidInputError as error:
        raise InvalidInputError(error.detail, field=f"{place.name}/{name}/{error.field}") from error


def _below(root: Path) -> Iterator[Path]:
    for directory, directories, files in os.walk(root, onerror=_refuse):
        directories.sort()
        for name in sorted(files):
            yield Path(directory, name)
        for name in directories:
            if os.path.islink(os.path.join(directory, name)):
                yield Path(directory, name)


def _refuse(error: OSError) -> None:
    raise InvalidInputError(f"cannot be read: {error.strerror}", field=str(error.filename)) from error


def _content(path: Path) -> bytes | SymbolicLink:
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            return SymbolicLink(os.readlink(path))
        if stat.S_ISREG(mode):
            return path.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"cannot be read: {error.strerror}", field=path.name) from error
    raise InvalidInputError("is neither a file nor a link", field=path.name)


def _head_fields(case: CorpusCase) -> dict[str, object]:
    fields = {name: getattr(case, name) for name in CaseHead.model_fields}
    return {name: value for name, value in fields.items() if value not in (None, "")}


def _head_text(case: CorpusCase) -> str:
    # JSON's strings are valid in TOML: control characters that TOML alone would escape do not pass the check.
    fields = _head_fields(case).items()
    return "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields)
