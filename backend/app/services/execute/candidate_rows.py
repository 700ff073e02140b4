"""Stores what candidates produced, in a caller's transaction."""

from collections.abc import Sequence
from dataclasses import asdict, replace

from sqlalchemy.dialects.postgresql import insert

from app.agents.gateway_port import VENDOR_LOGIN
from app.agents.port import AgentOutcome, SessionUse
from app.db.models import Attempt, Candidate, Snapshot
from app.schemas.text import storable_text
from app.services.execute.candidates import Committed, ProducedCandidate
from app.services.record.transactions import Recording


def session_of(outcome: AgentOutcome) -> SessionUse:
    """Return whether an agent continued an earlier conversation, in the form that a row stores."""
    return replace(outcome.session, note=storable_text(outcome.session.note))


def used_vendor_login(produced: Sequence[ProducedCandidate]) -> bool:
    """Return whether a candidate used a vendor login, and so asked its vendor past the gateway."""
    return any(each.ended.provider == VENDOR_LOGIN for each in produced)


async def store_candidates(
    recording: Recording, attempt: Attempt, produced: Sequence[ProducedCandidate]
) -> None:
    """Store what each candidate produced, and the bundle of each commit.

    Candidates start from what an earlier try of the attempt left, so its changes count as theirs.
    """
    session = recording.session
    kept = list(attempt.changed_files)
    for index, each in enumerate(produced):
        committed = each.committed
        session.add(
            Candidate(
                attempt_id=attempt.id,
                index=index,
                agent=each.ended.agent,
                provider=each.ended.provider,
                model=each.ended.model,
                output=each.ended.output,
                error=each.ended.error,
                metrics={**asdict(each.outcome.usage), "seconds": each.ended.seconds},
                head_commit=committed.commit if committed else None,
                tree=committed.tree if committed else None,
                changed_files=sorted({*kept, *committed.changed_files}) if committed else [],
                continued=session_of(each.outcome).continued,
                session_note=session_of(each.outcome).note,
            )
        )
        if committed:
            await store_bundle(recording, attempt, committed)


async def store_bundle(recording: Recording, attempt: Attempt, committed: Committed) -> None:
    """Store the bundle of a commit."""
    snapshot = insert(Snapshot).values(
        run_id=attempt.run_id, commit=committed.commit, kind="attempt", bundle=committed.bundle
    )
    await recording.session.execute(snapshot.on_conflict_do_nothing())
