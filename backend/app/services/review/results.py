"""The output of a sprint: diffs of its attempts, and the result as patch and bundle."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import ConflictError, NotFoundError
from app.db.engine import Sessions
from app.db.models import Attempt, Candidate, HeldOut, Run
from app.schemas.api.attempts import AttemptDiff
from app.schemas.held_out import HiddenCases
from app.services.control.cancelling import word_of
from app.services.execute.trees import RunTrees
from app.services.read.runs import find_attempt
from app.workspaces.sources.held_back import put_back


class Against(StrEnum):
    """What an attempt is compared with: the run's base, or the output of the previous attempt.

    The first attempt of a phase has no previous one and is compared with what the phase started from.
    """

    BASE = "base"
    PREVIOUS = "previous"


@dataclass(frozen=True, slots=True)
class Result:
    """The newest commit of a run.

    Attributes:
        branch: the name for a branch with it.
        base_commit: the commit that the agent started from.
        commit: the result.
        is_final: False until the gates have passed it.
        source_commit: the commit of the source; another one than `base_commit` if some of its test cases were
            hidden.
        held_back: the complete test files of which the agent saw a part, by path.
        attaches: whether the source has `source_commit`.
    """

    branch: str
    base_commit: str
    commit: str
    is_final: bool
    source_commit: str
    held_back: Mapping[str, str] = field(default_factory=dict[str, str])
    attaches: bool = True


class ResultService:
    """Returns the output of runs.

    Args:
        sessions: opens short sessions.
        trees: provides the runs' commits.
    """

    def __init__(self, sessions: Sessions, trees: RunTrees) -> None:
        self._sessions = sessions
        self._trees = trees

    async def diff(
        self,
        run_id: UUID,
        phase: str,
        number: int,
        against: Against,
        paths: Sequence[str] = (),
        *,
        candidate: int | None = None,
        context: int = 3,
    ) -> AttemptDiff:
        """Compare an attempt file by file; with `paths`, only these files and in full.

        Args:
            run_id: the run.
            phase: the attempt's phase.
            number: the attempt's number.
            against: what the attempt is compared with.
            paths: names of files.
            candidate: index of a candidate; by default the chosen one.
            context: unchanged lines around each change of the files in `paths`.

        Raises:
            NotFoundError: there is no such attempt or candidate.
            ConflictError: the attempt has no output yet.
            InvalidInputError: a path names no changed file.
        """
        base, head = await self._ends(run_id, phase, number, against, candidate)
        repository = await self._trees.repository(run_id, base, head)
        found = await (
            repository.diff_of(base, head, list(paths), context) if paths else repository.diff(base, head)
        )
        return AttemptDiff(
            **dict(found),
            base_commit=base,
            head_commit=head,
            additions=sum(each.additions for each in found.files),
            deletions=sum(each.deletions for each in found.files),
        )

    async def diff_text(
        self, run_id: UUID, phase: str, number: int, against: Against, candidate: int | None = None
    ) -> str:
        """Return the same comparison as unified text; beyond 64 MB it is cut, and its last line says so."""
        base, head = await self._ends(run_id, phase, number, against, candidate)
        return await (await self._trees.repository(run_id, base, head)).diff_text(base, head)

    async def result(self, run_id: UUID) -> Result:
        """Return the newest output of a run.

        Raises:
            NotFoundError: there is no such run.
            ConflictError: there is no output yet.
        """
        async with self._sessions() as session:
            run = await session.get(Run, run_id)
            if run is None:
                raise NotFoundError(f"there is no run {run_id}")
            # By place, not by time: the work that is kept of a failed agent has no time.
            statement = (
                select(Attempt.head_commit)
                .join(Run, Run.id == Attempt.run_id)
                .where(Attempt.run_id == run_id, Attempt.head_commit.is_not(None))
                .order_by(func.array_position(Run.phases, Attempt.phase).desc(), Attempt.number.desc())
                .limit(1)
            )
            newest = await session.scalar(statement)
            kept = await session.get(HeldOut, run_id)
        is_final = run.status == "completed"
        commit = run.head_commit if is_final else newest
        if commit is None:
            raise ConflictError(f"the {word_of(run)} has no output yet")
        branch = f"phaserunner/{str(run_id)[:8]}"
        if kept is None or kept.hidden_cases is None:
            return Result(branch, run.base_commit, commit, is_final, run.base_commit)
        cases = HiddenCases.model_validate(kept.hidden_cases)
        return Result(branch, run.base_commit, commit, is_final, cases.base, kept.files, cases.is_known)

    async def files(self, run_id: UUID) -> AttemptDiff:
        """List the files that the result changes, without their patches."""
        result = await self.result(run_id)
        repository = await self._trees.repository(run_id, result.commit)
        files = await repository.changed_files(result.base_commit, result.commit)
        return AttemptDiff(
            files=files,
            base_commit=result.base_commit,
            head_commit=result.commit,
            additions=sum(each.additions for each in files),
            deletions=sum(each.deletions for each in files),
        )

    async def patch(self, run_id: UUID) -> bytes:
        """Return the result as a patch for `git apply`."""
        result = await self.result(run_id)
        return await (await self._trees.repository(run_id, result.commit)).patch(
            result.base_commit, result.commit
        )

    async def bundle(self, run_id: UUID) -> tuple[Result, bytes]:
        """Return the result as a bundle for `git fetch`; see `bundle_of`."""
        return await self.bundle_of(run_id, await self.result(run_id))

    async def bundle_of(self, run_id: UUID, result: Result) -> tuple[Result, bytes]:
        """Return a run's result with the test cases that were hidden, and its bundle.

        Args:
            run_id: the run.
            result: its result; the branch in the bundle has the name that it gives.
        """
        repository = await self._trees.repository(run_id, result.commit)
        if not result.held_back:
            made = await repository.bundle_for_export(result.base_commit, result.commit, result.branch)
            return result, made
        files = {name: text.encode() for name, text in result.held_back.items()}
        onto = result.source_commit if result.attaches else None
        commit, made = await put_back(
            repository, result.base_commit, onto, result.commit, files, result.branch
        )
        return replace(result, commit=commit), made

    async def _ends(
        self, run_id: UUID, phase: str, number: int, against: Against, candidate: int | None
    ) -> tuple[str, str]:
        async with self._sessions() as session:
            attempt = await find_attempt(session, run_id, phase, number)
            run = await session.get_one(Run, run_id)
            before = await session.scalar(
                select(Attempt.head_commit).where(
                    Attempt.run_id == run_id, Attempt.phase == phase, Attempt.number == number - 1
                )
            )
            head = attempt.head_commit
            if candidate is not None:
                head = await _commit_of_candidate(session, attempt, candidate)
        if head is None:
            raise ConflictError(f"attempt {number} of {phase} has no output yet")
        base = run.base_commit if against is Against.BASE else before or attempt.base_commit
        return base, head


async def _commit_of_candidate(session: AsyncSession, attempt: Attempt, index: int) -> str | None:
    statement = select(Candidate).where(Candidate.attempt_id == attempt.id, Candidate.index == index)
    candidate = await session.scalar(statement)
    if candidate is None:
        raise NotFoundError(f"attempt {attempt.number} of {attempt.phase} has no candidate {index}")
    return candidate.head_commit
