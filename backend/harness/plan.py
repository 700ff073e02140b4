"""The fault that each run will meet, shared by all processes."""

from pathlib import Path
from typing import Any
from uuid import UUID

from harness.boundaries import Action


class Plan(dict[UUID, tuple[str, Action]]):
    """Boundary and fault of each run, kept in files so that workers that already run see them."""

    def __init__(self, place: Path) -> None:
        super().__init__()
        self._place = place

    def __setitem__(self, run_id: UUID, fault: tuple[str, Action]) -> None:
        super().__setitem__(run_id, fault)
        draft = self._place / f"{run_id}.new"
        draft.write_text("\n".join(fault))
        draft.rename(self._place / str(run_id))

    def get(self, run_id: UUID, default: Any = None) -> Any:
        """Return a run's fault, whichever process planned it."""
        try:
            boundary, action = (self._place / str(run_id)).read_text().splitlines()
        except FileNotFoundError:
            return default
        return boundary, Action(action)

    def __reduce__(self) -> Any:
        return Plan, (self._place,)
