"""Reads the state of runs on their forges."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import ForgeMerge, ForgeReport, ForgeReview
from app.schemas.forges import ForgeView, ReviewView
from app.services.record.pull_outcomes import ended_as


async def load_forge_views(session: AsyncSession, run_ids: Collection[UUID]) -> dict[UUID, ForgeView]:
    """Return the places of these runs on a forge, by run; a round shows the review that it belongs to."""
    root = func.coalesce(ForgeReport.root_run_id, ForgeReport.run_id)
    statement = (
        select(ForgeReport, ForgeReview, ForgeMerge, ended_as())
        .outerjoin(ForgeReview, ForgeReview.run_id == root)
        .outerjoin(ForgeMerge, ForgeMerge.run_id == ForgeReport.run_id)
        .where(ForgeReport.run_id.in_(run_ids))
    )
    return {
        report.run_id: _view(report, review, merge, word)
        for report, review, merge, word in await session.execute(statement)
    }


def _view(
    report: ForgeReport, review: ForgeReview | None, merge: ForgeMerge | None, word: str | None
) -> ForgeView:
    merged = merge if merge is not None and report.outcome == "merged" else None
    return ForgeView.model_validate(
        {
            "forge": report.forge,
            "repository": report.repository,
            "issue": report.issue,
            "branch": report.branch,
            "pull_number": report.pull_number,
            "pull_url": report.pull_url,
            "outcome": report.outcome,
            "outcome_by": report.outcome_by if report.outcome else None,
            "outcome_at": report.outcome_at if report.outcome else None,
            "ended_as": word,
            "edited_share": merged.edited_share if merged else None,
            "reverted_commit": merged.reverted_commit if merged else None,
            "reverted_at": merged.reverted_at if merged else None,
            "root_run_id": report.root_run_id,
            "problem": report.last_error or (merged.last_error if merged else ""),
            "review": None if review is None else _review(review),
        }
    )


def _review(row: ForgeReview) -> ReviewView:
    return ReviewView.model_validate(
        {
            "state": row.state,
            "reason": row.reason,
            "rounds": row.rounds,
            "round_run_id": row.round_run_id,
            "problem": row.last_error,
            "push": _push(row) if row.judged_commit else None,
        }
    )


def _push(row: ForgeReview) -> dict[str, Any]:
    return {
        "commit": row.judged_commit,
        "status": row.judged_status,
        "reason": row.judged_reason,
        "judged_at": row.judged_at,
    }
