"""Puts the built dashboard into the wheel; without one the service says on its page how to build it."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DashboardHook(BuildHookInterface[Any]):
    """Includes `frontend/dist` as `app/_dashboard`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say what belongs into the wheel; an editable one needs nothing."""
        dist = Path(self.root) / "frontend" / "dist"
        if version == "editable":
            return
        if not (dist / "index.html").is_file():
            self.app.display_warning("the dashboard is not built and not part of this wheel: make dashboard")
            return
        for file in sorted(dist.rglob("*")):
            relative = file.relative_to(dist)
            if file.is_file() and not any(part.startswith(".") for part in relative.parts):
                build_data["force_include"][str(file)] = f"app/_dashboard/{relative.as_posix()}"
