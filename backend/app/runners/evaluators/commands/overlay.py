"""Puts files of the base into a candidate's copy, and removes files of the candidate."""

import posixpath
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Overlay:
    """The changes to a candidate's copy before a command runs in it.

    Attributes:
        changed: files that are taken from the base.
        added: files of the candidate that are removed.
        texts: files that are rewritten.
    """

    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    texts: Mapping[str, bytes] = field(default_factory=dict[str, bytes])

    def __bool__(self) -> bool:
        return bool(self.changed or self.added or self.texts)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all these files, sorted."""
        return tuple(sorted({*self.changed, *self.added, *self.texts}))

    def apply(self, copy: Path, base: Path) -> None:
        """Change a copy of the candidate.

        Raises:
            OSError: a file cannot be written.
        """
        for name in self.added:
            _remove(copy / name)
        for name in self.changed:
            _clear_way(copy, name)
            _remove(copy / name)
            shutil.copyfile(base / name, copy / name, follow_symlinks=False)
            if not (base / name).is_symlink():
                shutil.copymode(base / name, copy / name)
        for name, text in self.texts.items():
            _clear_way(copy, name)
            if (copy / name).is_symlink():
                _remove(copy / name)
            (copy / name).write_bytes(text)


@dataclass(frozen=True, slots=True)
class Overlays:
    """The two ways in which a command runs on a candidate.

    Attributes:
        strict: with the base's tests and settings; empty if the candidate has exactly these.
        own: with the candidate's own, except files that replace a tool. For a measurement or a checker, with
            the base's settings.
        free: for a measurement or a checker, with the candidate's own settings; None for other commands.
    """

    strict: Overlay
    own: Overlay
    free: Overlay | None = None

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings of a measurement or a checker that differ from the base's, sorted."""
        free = self.free.names if self.free is not None else self.own.names
        return tuple(each for each in self.own.names if each not in free)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _clear_way(copy: Path, name: str) -> None:
    """Clear the way for directories: remove files and links, so that nothing is written elsewhere."""
    place = copy
    for part in posixpath.dirname(name).split("/") if posixpath.dirname(name) else ():
        place = place / part
        if place.is_symlink() or not place.is_dir():
            _remove(place)
            place.mkdir()
