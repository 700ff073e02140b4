"""Reads mypy's report: findings as JSON, one per line, among remarks in plain text."""

import json
from pathlib import Path
from typing import Any, cast

from app.runners.evaluators.static.baseline import Finding
from app.runners.evaluators.tooling import ToolTroubleError


def findings_in(report: str, tree: Path) -> list[Finding]:
    """Read a report with one JSON object per line.

    Raises:
        ToolTroubleError: a finding cannot be read.
    """
    found: list[Finding] = []
    for line in lines_of(report):
        try:
            record = cast("dict[str, Any]", json.loads(line))
            if record["severity"] == "error":
                found.append(
                    Finding(
                        file=_relative(str(record["file"]), tree),
                        line=max(1, int(record["line"])),
                        rule=str(record["code"] or "misc"),
                        message=str(record["message"]),
                    )
                )
        except (ValueError, KeyError, TypeError) as error:
            raise ToolTroubleError(f"mypy's report cannot be read: {line[:200]}") from error
    return found


def lines_of(report: str) -> list[str]:
    """Return the lines of a report that are findings. Remarks about settings and options are plain text."""
    return [line for line in report.splitlines() if line.startswith("{")]


def _relative(name: str, tree: Path) -> str:
    path = Path(name)
    return path.relative_to(tree).as_posix() if path.is_relative_to(tree) else path.as_posix()
