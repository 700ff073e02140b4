"""The compiled modules of some trees."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.workspaces.environments.extensions.sources import state_of
from app.workspaces.environments.extensions.wheels import lay_compiled


@dataclass(frozen=True, slots=True)
class Built:
    """The compiled modules of some trees.

    Attributes:
        places: by the state of the sources, the directory with the modules.
        trouble: why the modules of a tree are missing; `""` if they are not.
    """

    places: Mapping[str, Path] = field(default_factory=dict[str, Path])
    trouble: str = ""

    def has(self, tree: Path) -> bool:
        """Return True if there are modules for the state of a tree's sources.

        Raises:
            OSError: the tree cannot be read.
        """
        return bool(self.places) and state_of(tree) in self.places

    def lay(self, copy: Path) -> None:
        """Copy the modules into a copy of a tree, if there are any for the state of its sources.

        Raises:
            OSError: the copy cannot be read or written to.
        """
        place = self.places.get(state_of(copy)) if self.places else None
        if place is not None:
            lay_compiled(place, copy)
