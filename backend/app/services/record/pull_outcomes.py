"""The outcomes of runs' pull requests, in SQL, shared by views and metrics."""

from datetime import timedelta
from typing import Any

from sqlalchemy import CTE, ColumnElement, Select, and_, case, func, select

from app.db.models import Attempt, Candidate, Evaluation, ForgeMerge, ForgeReport, Run
from app.services.record.cases import ScopedRuns

SETTLED_AFTER = timedelta(days=30)
"""After this time an outcome is final; until then a merge may be reverted or a pull request reopened."""

BAD = ("closed", "reverted")
"""Outcomes of work that a careful person refused."""


def ended_as() -> ColumnElement[str | None]:
    """Return in one word what became of a pull request; needs `forge_reports` and an outer `forge_merges`."""
    return case(
        (ForgeReport.outcome == "closed", "closed"),
        (ForgeReport.outcome.is_(None), None),
        (ForgeMerge.reverted_at.is_not(None), "reverted"),
        (ForgeMerge.edited_share == 0, "merged_unchanged"),
        (ForgeMerge.edited_share > 0, "merged_edited"),
        else_=None,
    )


def outcome_cases(scoped: ScopedRuns) -> CTE:
    """Return one row for each run whose result was delivered and whose pull request ended.

    Columns: run_id, ended_as (null until a merge is compared), is_bad, edited_share, is_settled.
    """
    word = ended_as()
    statement = (
        select(
            ForgeReport.run_id,
            word.label("ended_as"),
            word.in_(BAD).label("is_bad"),
            ForgeMerge.edited_share,
            and_(word.is_not(None), ForgeReport.outcome_at <= func.now() - SETTLED_AFTER).label("is_settled"),
        )
        .outerjoin(ForgeMerge, ForgeMerge.run_id == ForgeReport.run_id)
        .where(ForgeReport.outcome.is_not(None), func.cardinality(ForgeReport.pushed) > 0)
    )
    return scoped.holding(statement, ForgeReport.run_id.expression).cte("outcome_cases")


def delivered_verdicts() -> Select[Any]:
    """Select the passes and fails of delivered results, that is of the files with which runs ended."""
    return (
        select(Evaluation.id)
        .join(Candidate, Candidate.id == Evaluation.candidate_id)
        .join(Attempt, Attempt.id == Candidate.attempt_id)
        .join(Run, Run.id == Attempt.run_id)
        .where(
            Attempt.head_commit == Run.head_commit,
            Candidate.index == Attempt.chosen_candidate,
            Evaluation.status.in_(("passed", "failed")),
        )
    )
