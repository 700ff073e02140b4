"""Collects the reports that a command wrote into its copy of a tree."""

import os
import re
import stat
from contextlib import suppress
from pathlib import Path, PurePosixPath

from app.runners.evaluators.tooling import excerpt
from app.workspaces.process import ProcessOutcome

MAX_REPORT_BYTES = 32_000_000
_MAX_REPORTS = 5000
_DECLARATION = re.compile(rb"<\?xml[^>]*\?>")
_BOM = b"\xef\xbb\xbf"


class NoVerdictError(Exception):
    """A run gives no evidence about the code. `kind` says why in a few words."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


_MISSING = re.compile(
    r"missing packages|could not determine executable|command not found|: not found|Cannot find module"
    r"|npm (?:error|ERR!)"
)
_STEP = ". If it is one of the project's packages, install them with [environment] setup, such as `npm ci`"


def next_step(trouble: NoVerdictError) -> str:
    """Return what to do if a program or a package is missing; empty for other reasons."""
    return _STEP if _MISSING.search(str(trouble)) else ""


def clear(copy: Path, report: str) -> None:
    """Remove an existing report, and create the directory for the new one.

    Links can lead out of the copy. Nothing is removed or created behind them.

    Raises:
        NoVerdictError: the report could not be written there.
    """
    path = copy / report
    try:
        if "*" in report:
            for each in _matching(copy, report):
                if _is_in(copy, each.parent):
                    each.unlink(missing_ok=True)
            return
        if not _is_in(copy, path.parent):
            raise NoVerdictError(f"{report} is outside the project", "report")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
    except OSError as error:
        raise NoVerdictError(f"{report} cannot be written: {error.strerror}", "report") from error


def _is_in(copy: Path, directory: Path) -> bool:
    return Path(os.path.realpath(directory)).is_relative_to(os.path.realpath(copy))


def take_file(copy: Path, report: str, outcome: ProcessOutcome) -> bytes:
    """Read the report: a regular file of bounded size, reached without a link.

    Raises:
        NoVerdictError: there is no such file.
    """
    kind = f"report, exit status {outcome.returncode}"
    opened: list[int] = []
    try:
        opened.append(os.open(copy, os.O_RDONLY | os.O_DIRECTORY))
        *directories, name = PurePosixPath(report).parts
        for directory in directories:
            opened.append(os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=opened[-1]))
        opened.append(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=opened[-1]))
        with os.fdopen(os.dup(opened[-1]), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise NoVerdictError(f"{report} is not a regular file", kind)
            content = file.read(MAX_REPORT_BYTES + 1)
    except OSError as error:
        reason = f"wrote no report {report} and ended with exit status {outcome.returncode}"
        raise NoVerdictError(f"{reason} ({error.strerror}){_said(outcome)}", kind) from error
    finally:
        for handle in opened:
            with suppress(OSError):
                os.close(handle)
    if len(content) > MAX_REPORT_BYTES:
        raise NoVerdictError(f"{report} is larger than {MAX_REPORT_BYTES // 1_000_000} MB", kind)
    return content


def take_all(copy: Path, report: str, outcome: ProcessOutcome) -> bytes:
    """Read every JUnit report that matches a glob, as one document.

    Raises:
        NoVerdictError: there is none, or there are too many or too large ones.
    """
    kind = f"report, exit status {outcome.returncode}"
    found = _matching(copy, report)
    if not found:
        reason = f"wrote no report {report} and ended with exit status {outcome.returncode}"
        raise NoVerdictError(f"{reason}{_said(outcome)}", kind)
    if len(found) > _MAX_REPORTS:
        raise NoVerdictError(f"wrote more than {_MAX_REPORTS} reports {report}", kind)
    parts: list[bytes] = []
    for each in found:
        text = take_file(copy, each.relative_to(copy).as_posix(), outcome)
        parts.append(_without_declaration(text))
        if sum(map(len, parts)) > MAX_REPORT_BYTES:
            raise NoVerdictError(f"{report} are larger than {MAX_REPORT_BYTES // 1_000_000} MB", kind)
    return b"<testsuites>" + b"\n".join(parts) + b"</testsuites>"


def _without_declaration(report: bytes) -> bytes:
    text = report.lstrip().removeprefix(_BOM).lstrip()
    found = _DECLARATION.match(text)
    return text[found.end() :] if found else text


def _said(outcome: ProcessOutcome) -> str:
    """Return the end of a command's output, where the reason usually is."""
    text = "\n".join(each.strip() for each in (outcome.stdout, outcome.stderr) if each.strip())
    end = excerpt(text)
    missing = next((line.strip()[:200] for line in text.splitlines() if _MISSING.search(line)), "")
    first = "" if missing in end else f". Its output says: {missing}"
    return f"{first}. The end of its output: {end}" if text else ""


def _matching(copy: Path, report: str) -> list[Path]:
    return sorted(each for each in copy.glob(report) if not each.is_dir() or each.is_symlink())
