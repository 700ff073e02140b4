"""Leaves out what a run of some files says about others. Pure."""

from collections.abc import Collection
from pathlib import PurePosixPath

from app.runners.evaluators.testing.layout.inventory import file_of
from app.runners.evaluators.testing.running.report import RunReport


def without_asides(report: RunReport, files: Collection[str] | None) -> RunReport:
    """Return a report without problems of directories that hold none of the files that were to run.

    pytest reads the `conftest.py` of each directory on its way to them.

    Args:
        report: the report of the run.
        files: POSIX paths relative to the tree; None means all.
    """
    if files is None:
        return report
    paths = list(map(PurePosixPath, files))
    places = {str(place) for path in paths for place in (path, *path.parents)}
    aside = [each.id for each in report.problems if (file_of(each.id) or ".") not in places]
    return report.without(aside) if aside else report
