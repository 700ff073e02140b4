"""Runs that ended with a result, for tests of what follows on a forge."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import update

from app.db.models import Attempt, Run, Snapshot
from app.schemas.api.sprints import SprintCreate
from tests.integration.services.support import UseCases


async def finished_run(parts: UseCases, url: str, files: Mapping[str, str | None], *opened: str) -> UUID:
    """Make a completed run whose result changes these files of a remote branch `main`.

    Args:
        parts: the services.
        url: of the repository; the credential `acme` is for it.
        files: contents by name; None deletes a file.
        opened: patterns of protected files that the run may change.
    """
    source = {"kind": "git", "url": url, "ref": "main", "credential": "acme"}
    request = {"goal": "do it", "source": source, "phases": ["coding"]}
    request |= {"policy": {"open_paths": list(opened)}}
    sprint = await parts.sprints.start(SprintCreate.model_validate(request), "ada")
    run = await parts.rows.get(sprint.id)
    async with parts.trees.open(run.id, run.base_commit, 1) as (tree,):
        for name, text in files.items():
            if text is None:
                (tree / name).unlink()
            else:
                (tree / name).write_text(text)
        made = await parts.trees.commit(run.id, tree, run.base_commit, run.base_commit, "do")
    await parts.rows.attempt(run.id, head_commit=made.commit)
    async with parts.sessions.begin() as session:
        session.add(Snapshot(run_id=run.id, commit=made.commit, kind="attempt", bundle=made.bundle))
        values = {"status": "completed", "head_commit": made.commit, "phase": None}
        await session.execute(update(Run).where(Run.id == run.id).values(values))
        await session.execute(update(Attempt).where(Attempt.run_id == run.id).values(status="passed"))
    return run.id
