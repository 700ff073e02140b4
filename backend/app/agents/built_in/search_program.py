"""A separate program that searches files for a regular expression.

It runs in a child process, because a bad pattern can take for ever and cannot be interrupted from inside. It
uses the standard library only. It is started with its own source text (`python -I -c`), so that it also runs
in a sandbox that does not show this package.
"""

import fnmatch
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MAX_FILE_BYTES = 1_000_000
_MAX_LINE_CHARS = 300


def main(arguments: str) -> int:
    """Run the search in the JSON object `arguments`: `pattern`, `path`, `files`, `skip`, `max_hits`."""
    wanted: dict[str, Any] = json.loads(arguments)
    try:
        pattern = re.compile(wanted["pattern"])
    except re.error as error:
        sys.stderr.write(f"not a regular expression: {error}\n")
        return 2
    hits = 0
    for file in _files(wanted["path"], set(wanted["skip"]), wanted["files"]):
        for number, line in enumerate(_lines(file), start=1):
            if not pattern.search(line):
                continue
            if hits == wanted["max_hits"]:
                sys.stdout.write(f"… more than {hits} lines match; search for something narrower\n")
                return 0
            hits += 1
            sys.stdout.write(f"{file}:{number}: {line[:_MAX_LINE_CHARS]}\n")
    return 0


def _files(top: str, skip: set[str], names: str) -> Iterator[str]:
    if os.path.isfile(top):
        yield top
    for directory, subdirectories, found in os.walk(top):
        subdirectories[:] = sorted(name for name in subdirectories if name not in skip)
        for name in sorted(found):
            path = os.path.normpath(os.path.join(directory, name))
            if fnmatch.fnmatch(path, names) or fnmatch.fnmatch(name, names):
                yield path


def _lines(file: str) -> list[str]:
    path = Path(file)
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_FILE_BYTES:
            return []
        data = path.read_bytes()
    except OSError:
        return []
    return [] if b"\0" in data else data.decode("utf-8", "replace").splitlines()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
