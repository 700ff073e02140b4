"""Reads and writes durations such as `3m30s`."""

import re

_PART = re.compile(r"(\d+)\s*([ms])")
_SECONDS = {"m": 60, "s": 1}


def parse_duration(text: str) -> int:
    """Give the seconds in a text such as `90s`, `2m` or `3m 30s`."""
    return sum(int(number) * _SECONDS[unit] for number, unit in _PART.findall(text))


def format_duration(seconds: int) -> str:
    """Give seconds as people write them; the opposite of `parse_duration`."""
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    parts = [f"{count}{unit}" for count, unit in ((hours, "h"), (minutes, "m"), (seconds, "s")) if count]
    return "".join(parts) or "0s"
