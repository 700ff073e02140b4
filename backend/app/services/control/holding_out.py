"""Decides what a new run holds out: what its request says, or a share that project or service name."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from app.core.errors import InvalidInputError
from app.db.models import HeldOut
from app.runners.evaluators.project.project_file import MAX_BYTES, ProjectFileError, read_project_file
from app.runners.evaluators.testing.sorting.goal import Goal
from app.schemas.held_out import HeldOutInput
from app.schemas.project_file import PROJECT_FILE, ProjectFile
from app.services.control.held_out import held_out_row
from app.services.control.held_out_reading import JUDGED_PHASES, read_held_out
from app.services.control.held_out_share import Wanted, hold_out_share
from app.workspaces.history.repository import RunRepository


@dataclass(frozen=True, slots=True)
class ShareDefault:
    """The share that sprints hide if neither request nor project says.

    Attributes:
        share: the share; 0 hides nothing.
        honour: False if project files are ignored.
    """

    share: float = 0.0
    honour: bool = True


NO_SHARE = ShareDefault()


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldOutRequest:
    """What a new run asks for.

    Attributes:
        given: the tests of the request; None for the default.
        goal: names the tests whose cases may be hidden.
        opened: globs of files that the run may change; the default hides nothing in them.
        phases: the phases of the run.
        is_known: whether the source has the base's commit.
        has_default: whether the default applies to the run.
    """

    given: HeldOutInput | None
    goal: Goal
    opened: Sequence[str]
    phases: Sequence[str]
    is_known: bool
    has_default: bool


@dataclass(frozen=True, slots=True)
class Holding:
    """What a run holds out.

    Attributes:
        base: the commit to start from.
        rows: the row with the held-out tests, if there are any.
        note: what became of a default, in a sentence; None if there is none.
    """

    base: str
    rows: Sequence[HeldOut] = ()
    note: str | None = None


async def hold_out(
    run_id: UUID, asked: HoldOutRequest, default: ShareDefault, repository: RunRepository, base: str
) -> Holding:
    """Hold tests out of a new run whose repository holds only its base.

    A default that cannot be applied hides nothing, and the note says why.

    Raises:
        InvalidInputError: what the request gives cannot be held out; the error names the field.
        WorkspaceError: the base is larger than the limits.
    """
    given = asked.given
    if given is None and asked.has_default:
        return await _by_default(run_id, asked, default, repository, base)
    if given is None or given.hides_nothing:
        return Holding(base)
    if given.share is None:
        return Holding(base, [held_out_row(run_id, await read_held_out(given, repository, base), None)])
    try:
        project = await _project_file(default, repository, base)
    except ProjectFileError:
        project = ProjectFile()  # the panel names the problem
    wanted = _wanted(run_id, given.share, asked, project)
    return await _share(run_id, wanted, repository, base, is_known=asked.is_known)


async def _by_default(
    run_id: UUID, asked: HoldOutRequest, default: ShareDefault, repository: RunRepository, base: str
) -> Holding:
    try:
        project = await _project_file(default, repository, base)
    except ProjectFileError as error:
        told = f"No test case is hidden: {PROJECT_FILE} at the base commit cannot be used: {error}."
        return Holding(base, note=told)
    name, share = "SPRINT_HELD_OUT_SHARE", default.share
    if project.tests.held_out_share is not None:
        name, share = f"held_out_share in {PROJECT_FILE}", project.tests.held_out_share
    if not share:
        return Holding(base)
    refused = f"No test case is hidden, although {name} is {share:g}"
    if not set(asked.phases) & set(JUDGED_PHASES):
        return Holding(base, note=f"{refused}: no phase of the sprint runs tests.")
    wanted = _wanted(run_id, share, asked, project)
    opened = [*asked.opened, *project.protected.open]
    try:
        made = await _share(run_id, replace(wanted, opened=opened), repository, base, is_known=asked.is_known)
    except InvalidInputError as error:
        return Holding(base, note=f"{refused}: {error.detail}.")
    return replace(made, note=f"The share is {share:g}, from {name}.")


async def _project_file(default: ShareDefault, repository: RunRepository, base: str) -> ProjectFile:
    """Return the settings of the project's file at the base.

    Raises:
        ProjectFileError: the file cannot be used.
    """
    content = await repository.read_file(base, PROJECT_FILE, MAX_BYTES + 1) if default.honour else None
    return ProjectFile() if content is None else read_project_file(content).settings


def _wanted(run_id: UUID, share: float, asked: HoldOutRequest, project: ProjectFile) -> Wanted:
    goal = replace(asked.goal, tests=[*asked.goal.tests, *project.tests.goal])
    return Wanted(share, goal, run_id.int)


async def _share(
    run_id: UUID, wanted: Wanted, repository: RunRepository, base: str, *, is_known: bool
) -> Holding:
    made = await hold_out_share(wanted, repository, base)
    cases = made.cases.model_copy(update={"is_known": is_known})
    return Holding(made.start, [held_out_row(run_id, made.files, cases)])
