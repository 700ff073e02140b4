"""Finds the programs of commands, and the files that a sandbox must make readable for them."""

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.workspaces.confine.bubblewrap import visible_without_asking
from app.workspaces.confine.python_places import interpreter_paths

SYSTEM = (Path("/usr/local/bin"), Path("/usr/bin"), Path("/bin"))
_MAX_LINKS = 16
_PERSONAL = (".local", "snap")
"""Directories below a home that look like an installation and hold personal data."""


@dataclass(frozen=True, slots=True)
class Programs:
    """The search path of commands.

    Attributes:
        path: directories, in order of preference.
        readable: the installations that these directories belong to, which a confined command may read.
    """

    path: tuple[Path, ...] = SYSTEM
    readable: tuple[Path, ...] = ()

    @property
    def variable(self) -> str:
        """The value of `PATH`."""
        return os.pathsep.join(map(str, self.path))

    def led_by(self, python: Path) -> "Programs":
        """Return a search path that starts with the programs of an interpreter's environment."""
        own = python.parent
        paths = tuple(each for each in interpreter_paths(python) if not visible_without_asking(each))
        return Programs(
            tuple(dict.fromkeys((own, *self.path))), tuple(dict.fromkeys((*paths, *self.readable)))
        )

    def find(self, program: str) -> tuple[Path, tuple[Path, ...]] | None:
        """Return the file of a program that is named without a directory, and the paths that it must read."""
        found = shutil.which(program, path=self.variable)
        if found is None:
            return None
        path = Path(found)
        return path, tuple(each for each in _places(path) if not visible_without_asking(each))


def find_programs(python: Path, search: Sequence[Path], readable: Sequence[Path] = ()) -> Programs:
    """Return the search path of commands.

    Args:
        python: the interpreter of workspaces; its directory comes first.
        search: further directories, usually the operator's own search path.
        readable: paths that the operator lets every confined program read.
    """
    directories = [python.parent, *(each for each in search if each.is_absolute()), *SYSTEM]
    # Unlike `Path.is_dir`, this does not raise for a directory in another user's home.
    path = tuple(each for each in dict.fromkeys(directories) if os.path.isdir(each))
    places = dict.fromkeys([*interpreter_paths(python), *(root for each in path for root in _roots(each))])
    granted = tuple(each for each in places if not visible_without_asking(each))
    seen = [*granted, *readable]
    visible = tuple(
        each
        for each in path
        if visible_without_asking(each) or any(each.is_relative_to(root) for root in seen)
    )
    return Programs(visible, granted)


def _places(program: Path) -> Iterator[Path]:
    """Yield what one program needs: for each link in a chain its installation, or only the file."""
    place = program
    for _ in range(_MAX_LINKS):
        roots = _roots(place.parent)
        yield from roots or [place]
        if not place.is_symlink():
            break
        place = Path(os.path.normpath(place.parent / place.readlink()))


def _roots(directory: Path) -> list[Path]:
    """Return the installation to which a directory of programs belongs; none if it may be a user's home."""
    root = directory.parent
    if directory.name not in ("bin", "sbin") or root == Path("/"):
        return []
    if (root / "pyvenv.cfg").is_file():
        return list(interpreter_paths(directory / "python"))
    is_installation = (root / "lib").is_dir() or (root / "libexec").is_dir()
    is_personal = root.name in _PERSONAL or Path.home().is_relative_to(root)
    return [root] if is_installation and not is_personal else []
