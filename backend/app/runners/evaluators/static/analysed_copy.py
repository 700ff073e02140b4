"""Makes the copy of a tree for static tools: only its Python files, without new silencers."""

import hashlib
import io
import os
import re
import secrets
import stat
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.runners.evaluators.source_tree import is_plain_name
from app.runners.evaluators.static.annotated import annotates_all, checked_throughout, is_of_tests
from app.runners.evaluators.static.baseline import Finding
from app.runners.evaluators.static.silencers import (
    Silencer,
    known_silencers,
    names_rule,
    silencers,
    without,
)
from app.runners.evaluators.static.silencing_comments import Tool
from app.runners.evaluators.tooling import ToolTroubleError

_MAX_BYTES = 200_000_000
_TIME_KEY = secrets.token_bytes(16)
_PLAIN_ENCODINGS = frozenset({"utf-8", "utf-8-sig", "ascii"})
# Encodings in which every byte is one character and ASCII is ASCII, so all tools see the same comments.
_SINGLE_BYTE = re.compile(r"(?:iso-?8859-?\d+|latin[-_]?\d*|cp125\d|koi8-[rut]|mac-?roman)", re.IGNORECASE)
_COOKIE = re.compile(r"^([ \t\f]*#.*?coding[:=][ \t]*)[-\w.]+", re.ASCII)
_OTHER_ENCODING = (
    "the file says that its encoding is {}, so tools do not read what Python runs; save it as UTF-8 and "
    "remove that comment"
)
_NAME = "the file's name contains a line break or is not UTF-8, so no tool can read it; rename it"


@dataclass(frozen=True, slots=True)
class AnalysedBase:
    """A base tree and its Python files."""

    path: Path
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnalysedCopy:
    """A copy for tools to read.

    Attributes:
        path: the directory.
        files: the Python files in it.
        faults: findings for the files that are left out, because tools would not read them as Python does.
        taken: the silencers that were removed, by file.
        familiar: kinds of comments that silence the tool for a line, of which the base has at least one.
    """

    path: Path
    files: tuple[str, ...]
    faults: tuple[Finding, ...]
    taken: Mapping[str, Sequence[Silencer]]
    familiar: frozenset[str] = frozenset()

    def with_reasons(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Note on findings if a comment that does not count was meant to hide them."""
        return tuple(self._with_reason(each) for each in findings)

    def hidden(self, finding: Finding) -> str:
        """Return the comment that was meant to hide a finding.

        Return an empty text if no comment names the rule, or if the base has no such comments.
        """
        found = next((each for each in self._naming(finding) if self.familiar.intersection(each.kinds)), None)
        return f"{_shown(found)} hides it, and the base has such comments" if found else ""

    def comment_naming(self, finding: Finding) -> str:
        """Return the comment that was meant to hide a finding and names its rule; empty if there is none."""
        found = next(self._naming(finding), None)
        return _shown(found) if found else ""

    def _naming(self, finding: Finding) -> Iterator[Silencer]:
        for each in self.taken.get(finding.file, ()):
            if (each.line == finding.line or each.alone) and names_rule(each, finding.rule):
                yield each

    def _with_reason(self, finding: Finding) -> Finding:
        for each in self.taken.get(finding.file, ()):
            if each.line == finding.line or each.alone:
                note = f"({_shown(each)} is new and does not count; fix the code instead)"
                return replace(finding, message=f"{finding.message[:200]} {note}")
        return finding


def _shown(silencer: Silencer) -> str:
    return f"`{silencer.text.strip()[:80]}`"


@dataclass(frozen=True, slots=True)
class _Source:
    """A file: its bytes, its text with plain line endings, and why there is no text.

    `is_program` is True if the file may be executed, which rules for scripts compare with the first line.
    """

    data: bytes
    text: str = ""
    fault: str = ""
    is_program: bool = False


def copy_candidate(
    tree: Path,
    files: Sequence[str],
    base: AnalysedBase | None,
    tool: Tool,
    into: Path,
    *,
    allow: bool = False,
) -> AnalysedCopy:
    """Copy a candidate's files, without the silencers that the base does not have.

    Args:
        tree: the candidate.
        files: names of its Python files.
        base: the base tree; without one every silencer is new.
        tool: the tool whose silencers are removed.
        into: a directory that does not exist.
        allow: True keeps new silencers.

    Raises:
        ToolTroubleError: a file cannot be read, or the files are too large.
    """
    sources = _read_all(tree, files)
    found = {name: silencers(each.text, tool) for name, each in sources.items()}
    taken: dict[str, Sequence[Silencer]] = {}
    familiar: frozenset[str] = frozenset()
    if not allow:
        known = known_silencers(_silencers_of(base, sources, found, tool) if base else {}, found)
        taken = {name: new for name, each in found.items() if (new := known.new_among(name, each))}
        familiar = known.familiar
    texts = {
        name: without(each.text, taken.get(name, ())) for name, each in sources.items() if not each.fault
    }
    if tool is Tool.TYPE_CHECKER and not allow and base is not None and base_annotates_all(base):
        texts = checked_throughout(texts)
    _write(texts, sources, into)
    return AnalysedCopy(into, tuple(texts), _faults(files, sources), taken, familiar)


def copy_base(base: AnalysedBase, into: Path) -> AnalysedCopy:
    """Copy the files of a base with all their silencers.

    Raises:
        ToolTroubleError: a file cannot be read, or the files are too large.
    """
    sources = _read_all(base.path, base.files)
    texts = {name: each.text for name, each in sources.items() if not each.fault}
    _write(texts, sources, into)
    return AnalysedCopy(into, tuple(texts), _faults(base.files, sources), {})


def _silencers_of(
    base: AnalysedBase,
    candidate: Mapping[str, _Source],
    found: Mapping[str, list[Silencer]],
    tool: Tool,
) -> dict[str, list[Silencer]]:
    at_base: dict[str, list[Silencer]] = {}
    for name in filter(is_plain_name, base.files):
        source = _read(base.path / name, name)
        same = name in candidate and candidate[name].data == source.data
        at_base[name] = found[name] if same else silencers(source.text, tool)
    return at_base


def base_annotates_all(base: AnalysedBase) -> bool:
    """Return True if a base annotates its functions, not counting its tests.

    Raises:
        ToolTroubleError: a file cannot be read.
    """
    names = [each for each in base.files if is_plain_name(each) and each.endswith(".py")]
    return annotates_all(
        {name: _read(base.path / name, name).text for name in names if not is_of_tests(name)}
    )


def _faults(files: Sequence[str], sources: Mapping[str, _Source]) -> tuple[Finding, ...]:
    misnamed = [Finding(ascii(name), 1, "file-name", _NAME) for name in files if name not in sources]
    unread = [Finding(name, 1, "encoding", each.fault) for name, each in sources.items() if each.fault]
    return (*misnamed, *unread)


def _read_all(tree: Path, files: Sequence[str]) -> dict[str, _Source]:
    sources: dict[str, _Source] = {}
    size = 0
    for name in filter(is_plain_name, files):
        sources[name] = _read(tree / name, name)
        size += len(sources[name].data)
        if size > _MAX_BYTES:
            raise ToolTroubleError(
                f"the Python files hold more than {_MAX_BYTES:,} bytes; too much to analyse"
            )
    return sources


def _read(path: Path, name: str) -> _Source:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
            is_program = bool(os.fstat(file.fileno()).st_mode & stat.S_IXUSR)
    except OSError as error:
        raise ToolTroubleError(f"{name} cannot be read: {error.strerror}") from error
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError:
        return _Source(data, fault="the file is not in its declared encoding; save it as UTF-8")
    if encoding not in _PLAIN_ENCODINGS and not _SINGLE_BYTE.fullmatch(encoding):
        return _Source(data, fault=_OTHER_ENCODING.format(encoding[:40]))
    try:
        text = data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return _Source(data, fault=f"the file is not in {encoding}; save it as UTF-8")
    if "\0" in text:
        return _Source(data, fault="the file contains NUL bytes, which Python does not accept; remove them")
    if encoding not in _PLAIN_ENCODINGS:
        head = [_COOKIE.sub(r"\1utf-8", line) for line in text.split("\n", 2)]
        text = "\n".join([*head[:2], *text.split("\n", 2)[2:]])
    return _Source(data, text.replace("\r\n", "\n").replace("\r", "\n"), is_program=is_program)


def _write(files: Mapping[str, str], sources: Mapping[str, _Source], into: Path) -> None:
    into.mkdir()
    for directory in {os.path.dirname(name) for name in files}:
        (into / directory).mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        write_stamped(into / name, text.encode())
        if sources[name].is_program:
            (into / name).chmod(0o700)


def write_stamped(path: Path, data: bytes) -> None:
    """Write a file for tools to read, with a time that tells its content from others.

    Checkers that remember a file by its time must notice a change even within a second. So the time is
    derived from the content, with a key, so that attackers cannot find two contents with one time.
    """
    path.write_bytes(data)
    stamp = int.from_bytes(hashlib.blake2b(data, key=_TIME_KEY, digest_size=4).digest()) >> 1
    os.utime(path, (stamp, stamp))
