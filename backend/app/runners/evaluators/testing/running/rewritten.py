"""Finds the tests that a run of other tests rewrites."""

import stat
from pathlib import Path

from app.runners.evaluators.testing.layout.trees import RunTree


def rewritten(tree: RunTree, copy: Path) -> tuple[str, ...]:
    """Return the Python files of the test setting that differ from those that were copied, after a run.

    Other files of the setting may be results, which tests write anew.
    """
    names = [each for each in tree.trusted if each.endswith(".py")]
    before = {name: _content(tree.files[name] / name) for name in names}
    changed = (name for name, content in before.items() if content not in (None, _content(copy / name)))
    return tuple(sorted(changed))


def _content(path: Path) -> bytes | None:
    """Return what a file holds; None for what is no file, such as a link or a pipe that a test made."""
    try:
        return path.read_bytes() if stat.S_ISREG(path.lstat().st_mode) else None
    except OSError:
        return None
