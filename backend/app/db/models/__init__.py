"""The tables, one module per topic. Docstrings explain the rows; alembic creates the tables.

Import each new module here: alembic compares only the tables that this package has imported.
"""

from app.db.models.attempts import Attempt, Candidate
from app.db.models.backlog import BacklogDependency, BacklogItem, BacklogProject
from app.db.models.base import Base, StorableText
from app.db.models.baselines import RunBaseline
from app.db.models.escalations import Escalation
from app.db.models.evaluations import Evaluation, VerdictMark
from app.db.models.events import EventRow
from app.db.models.forges import ForgeDelivery, ForgeMerge, ForgePoll, ForgeReport, ForgeReview
from app.db.models.held_out import HeldOut
from app.db.models.idempotency import IdempotencyKey
from app.db.models.known_failures import KnownFailure
from app.db.models.ledger import DailySpending, ModelRequestRow
from app.db.models.looks import WorkspaceLook
from app.db.models.messages import AgentMessage
from app.db.models.result_checks import ResultCheck
from app.db.models.runs import Run
from app.db.models.snapshots import Snapshot
from app.db.models.tokens import ApiToken
from app.db.models.webhooks import WebhookDelivery

__all__ = [
    "AgentMessage",
    "ApiToken",
    "Attempt",
    "BacklogDependency",
    "BacklogItem",
    "BacklogProject",
    "Base",
    "Candidate",
    "DailySpending",
    "Escalation",
    "Evaluation",
    "EventRow",
    "ForgeDelivery",
    "ForgeMerge",
    "ForgePoll",
    "ForgeReport",
    "ForgeReview",
    "HeldOut",
    "IdempotencyKey",
    "KnownFailure",
    "ModelRequestRow",
    "ResultCheck",
    "Run",
    "RunBaseline",
    "Snapshot",
    "StorableText",
    "VerdictMark",
    "WebhookDelivery",
    "WorkspaceLook",
]
