"""Finds the failing part of a job's log."""

import re

_STAMP = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z (?:\d\d[OE][+ ]?)?")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def failing_part(log: str, lines: int = 60) -> str:
    """Return the end of a job's log up to its last error, without time stamps and colours.

    GitHub writes a time before each line and `##[error]` before the message of a step that failed. GitLab may
    write times with the number of the stream, and hides the marks of sections behind a carriage return.
    """
    shown = [_plain(each) for each in log.replace("\r\n", "\n").split("\n")]
    while shown and not shown[-1].strip():
        shown.pop()
    errors = [index for index, each in enumerate(shown) if "##[error]" in each]
    end = errors[-1] + 1 if errors else len(shown)
    return "\n".join(shown[max(0, end - lines) : end])


def _plain(line: str) -> str:
    seen = line.rstrip("\r").rpartition("\r")[2]
    return _COLOURS.sub("", _STAMP.sub("", seen, count=1))
