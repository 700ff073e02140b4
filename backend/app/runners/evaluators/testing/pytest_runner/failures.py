"""Puts into a few words what failed, and names the files that a failure runs through."""

import os
import re
from collections.abc import Iterator
from itertools import dropwhile
from pathlib import Path
from typing import Any, cast

BECAUSE = "\n\nbecause of: "
"""Begins the part of a message about what led to the last exception."""

LEFT_OUT = "\n…\n"
"""Stands for the middle of a long message."""

_MESSAGE_CHARS = 1900
_END_CHARS = 400
_CAUSE_CHARS = 500
_FILES = 100
# pytest numbers the lines of a docstring down to the failed example; frames are those of `traceback`.
_NUMBERED = re.compile(r"\d{3,} ")
_FRAME = re.compile(r'  File "([^"]+)", line \d+')
_OWN_ERROR = re.compile(r"\Aphaserunner_tests\.\w+\.\w+: ")
"""Begins the message of an exception that is this runner's, as for a test that did not end."""

_TOLD = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception): \S")
_EXCEPTION = "UNEXPECTED EXCEPTION: "


def message_of(longrepr: Any, told: str = "") -> str:
    """Return place and assertion of a failure, the failing example of a doctest, or the reason of a skip.

    Args:
        longrepr: of a report.
        told: the error with which a process ended that the test started.
    """
    crash = getattr(longrepr, "reprcrash", None)
    if crash is not None:
        message = _OWN_ERROR.sub("", crash.message)
        return _shortened(f"{crash.path}:{crash.lineno}: {message}") + _because(longrepr, told)
    if isinstance(longrepr, tuple):
        text = str(cast("tuple[object, ...]", longrepr)[-1])
    elif hasattr(longrepr, "reprlocation_lines"):
        text = "\n".join(
            f"{place.path}:{place.lineno}: {_failing_example(lines)}"
            for place, lines in longrepr.reprlocation_lines
        )
    else:
        text = str(longrepr or "")[-_MESSAGE_CHARS:]
    return text[:_MESSAGE_CHARS]


def _shortened(message: str) -> str:
    """Return the beginning and the end of a message. Output of a program tells at its end what went wrong."""
    if len(message) <= _MESSAGE_CHARS:
        return message
    return f"{message[: _MESSAGE_CHARS - _END_CHARS]}{LEFT_OUT}{message[-_END_CHARS:]}"


def files_of(longrepr: Any) -> "list[Path]":
    """Return the absolute paths of the files that a failure's traceback runs through, in order, each once."""
    names = (*(name for name, _ in _frames(longrepr)), *_frames_of_doctest(longrepr))
    return list(dict.fromkeys(map(_absolute, names)))[:_FILES]


def files_below(longrepr: Any, tree: Path) -> "list[str]":
    """Return the files of `tree` that a failure's traceback runs through, as POSIX paths, each once."""
    return [path.relative_to(tree).as_posix() for path in files_of(longrepr) if tree in path.parents]


def last_line_below(longrepr: Any, tree: Path) -> str:
    """Return the last line of `tree` in a failure's traceback as `file:line`.

    Empty if the message begins with that line already, or if the traceback has none. An assertion of
    `unittest` or of a mock raises in the library, and its message begins with a line there.
    """
    crash = getattr(longrepr, "reprcrash", None)
    if crash is None or tree in Path(crash.path).parents:
        return ""
    found = [(_absolute(name), line) for name, line in _frames(longrepr)]
    lines = [f"{path.relative_to(tree).as_posix()}:{line}" for path, line in found if tree in path.parents]
    return lines[-1] if lines else ""


def _absolute(name: str) -> Path:
    """Return the path of a name in a traceback; that of a file elsewhere may begin with `../..`."""
    return Path(os.path.normpath(_working_directory() / name))


def _working_directory() -> Path:
    """Return the directory that pytest's paths are relative to. If a test removed it, they are absolute."""
    try:
        return Path.cwd()
    except OSError:
        return Path()


def told_by_child(report: Any) -> str:
    """Return the last line that a test's processes wrote to stderr, if it is an error of Python."""
    text = "".join(each for name, each in report.sections if name == f"Captured stderr {report.when}")
    last = text.rstrip().rpartition("\n")[2]
    return last if _TOLD.match(last) else ""


def _because(longrepr: Any, told: str) -> str:
    """Return the exceptions that were handled when the last one was raised, else the error of a process."""
    earlier = [crash.message for _, crash, _ in getattr(longrepr, "chain", ())[:-1] if crash is not None]
    causes = "; ".join(earlier) or told
    return f"{BECAUSE}{causes}"[: len(BECAUSE) + _CAUSE_CHARS] if causes else ""


def _failing_example(lines: "list[str]") -> str:
    """Return the first line of a doctest's failed example, with what was expected and got or the exception.

    The text before the example and all line numbers are left out: they change with the docstring, and the
    failure stays the same.
    """
    example = [_NUMBERED.sub("", line, count=1).strip() for line in lines if _NUMBERED.match(line)][-1:]
    outcome = [line for line in lines if not _NUMBERED.match(line)]
    frames = [number for number, line in enumerate(outcome) if _FRAME.match(line)]
    if frames and outcome[0].startswith(_EXCEPTION):
        # Below the last frame stands its source, indented, and then the exception.
        outcome = list(dropwhile(lambda line: line.startswith("    "), outcome[frames[-1] + 1 :]))
    return "\n".join([*example, *outcome])


def _frames(longrepr: Any) -> "Iterator[tuple[str, int]]":
    """Give file and line of each frame."""
    for part, _, _ in getattr(longrepr, "chain", ()):
        for entry in getattr(part, "reprentries", ()):
            location = getattr(entry, "reprfileloc", None)
            if location is not None:
                yield location.path, location.lineno


def _frames_of_doctest(longrepr: Any) -> "Iterator[str]":
    for place, lines in getattr(longrepr, "reprlocation_lines", ()):
        yield str(place.path)
        for line in lines:
            frame = _FRAME.match(line)
            if frame is not None and not frame.group(1).startswith("<"):
                yield frame.group(1)


def outcome_of(report: Any) -> str:
    """Return the outcome that a `TestReport` has for a part of a test: its set-up, call or tear-down."""
    expected_to_fail = hasattr(report, "wasxfail")
    if report.outcome == "failed":
        return "failed" if report.when == "call" else "error"
    if report.outcome == "skipped":
        return "xfailed" if expected_to_fail else "skipped"
    return "xpassed" if expected_to_fail else "passed"
