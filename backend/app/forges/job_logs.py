"""Finds the failing part of a job's log."""

import re

_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def failing_part(log: str, lines: int = 60) -> str:
    """Return the end of a job's log up to its last error, without time stamps and colours.

    GitHub writes a time before each line and `##[error]` before the message of a step that failed.
    """
    shown = [_plain(each) for each in log.splitlines()]
    errors = [index for index, each in enumerate(shown) if "##[error]" in each]
    end = errors[-1] + 1 if errors else len(shown)
    return "\n".join(shown[max(0, end - lines) : end])


def _plain(line: str) -> str:
    _, separator, rest = line.partition("Z ")
    stamped = separator and line[:4].isdecimal() and line[4:5] == "-"
    return _COLOURS.sub("", rest if stamped else line)
