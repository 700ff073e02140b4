"""Builds a worker's chores from settings: messages to other services, reminders, and deletion."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from app.composition.database import open_database, open_sessions
from app.composition.notifications import build_notifications, subscriptions
from app.core.config import Settings
from app.db.engine import Sessions
from app.runners.budgets import DayBudgets
from app.services.chores.housekeeping import Housekeeping, Retention
from app.services.chores.reminders import ReminderService
from app.services.chores.schedule import Chore, doing_chores
from app.services.chores.webhooks import WebhookService
from app.services.read.runs import RunQueries
from app.services.record.accounts import Accounts
from app.services.record.outbox import Outbox
from app.services.record.transactions import EventBell
from app.webhooks.endpoints import read_endpoints
from app.webhooks.sending import WebhookSender
from app.webhooks.signing import read_secret
from app.workspaces.history.git import Git
from app.workspaces.store import WorkspaceStore

WEBHOOK_SECONDS = 2.0
REMINDER_SECONDS = 30.0
HOUSEKEEPING_SECONDS = 3600.0


@asynccontextmanager
async def open_upkeep(
    settings: Settings, sessions: Sessions, bell: EventBell, more: Sequence[Chore] = ()
) -> AsyncGenerator[None]:
    """Do a worker's chores, and `more` of them, while the block runs.

    Raises:
        InvalidInputError: the settings of webhooks or notifications cannot be used.
    """
    outbox = build_outbox(settings)
    async with AsyncExitStack() as stack:
        chores = [Chore("housekeeping", HOUSEKEEPING_SECONDS, build_housekeeping(settings, sessions)), *more]
        if outbox.addresses:
            sender = await _open_sender(settings, outbox, stack)
            notify = build_notifications(settings, RunQueries(sessions))
            webhooks = WebhookService(sessions, outbox.addresses, sender, notify)
            chores.append(Chore("webhooks", WEBHOOK_SECONDS, webhooks))
        if hours := settings.ESCALATION_REMINDER_HOURS:
            chores.append(
                Chore("reminders", REMINDER_SECONDS, ReminderService(sessions, bell, hours, outbox))
            )
        await stack.enter_async_context(doing_chores(chores))
        yield


async def _open_sender(settings: Settings, outbox: Outbox, stack: AsyncExitStack) -> WebhookSender | None:
    if not outbox.urls:
        return None
    sender = WebhookSender(_webhook_key(settings), allow_private=settings.WEBHOOK_ALLOW_PRIVATE)
    return await stack.enter_async_context(sender)


def build_housekeeping(settings: Settings, sessions: Sessions) -> Housekeeping:
    """Build the deletion of expired data of finished runs."""
    retention = Retention(
        progress_days=settings.RETENTION_PROGRESS_DAYS,
        snapshot_days=settings.RETENTION_SNAPSHOT_DAYS,
        snapshot_bytes=settings.RETENTION_SNAPSHOT_BYTES,
        directory_days=settings.RETENTION_DIRECTORY_DAYS,
    )
    return Housekeeping(sessions, WorkspaceStore(settings.DATA_DIR, Git.find()), retention)


@asynccontextmanager
async def housekeeping(settings: Settings) -> AsyncGenerator[Housekeeping]:
    """Yield the deletion of expired data, on the service's database."""
    async with open_database(settings) as url, open_sessions(settings, url) as sessions:
        yield build_housekeeping(settings, sessions)


def build_outbox(settings: Settings) -> Outbox:
    """Build the outbox of messages to other services.

    Raises:
        InvalidInputError: an address or the secret cannot be used.
    """
    urls = read_endpoints(settings.WEBHOOK_URLS, allow_private=settings.WEBHOOK_ALLOW_PRIVATE)
    if urls:
        _webhook_key(settings)
    return Outbox(urls, forges=settings.FORGES_FILE is not None, people=subscriptions(settings))


def build_accounts(settings: Settings) -> Accounts:
    """Build the accounts that add up model requests and warn of budgets that are nearly spent."""
    return Accounts(day_budgets(settings), build_outbox(settings))


def day_budgets(settings: Settings) -> DayBudgets:
    """Return the operator's daily budgets."""
    return DayBudgets(installation=settings.BUDGET_DAY_USD, project=settings.BUDGET_PROJECT_DAY_USD)


def _webhook_key(settings: Settings) -> bytes:
    secret = settings.WEBHOOK_SECRET
    return read_secret(secret.get_secret_value() if secret else "")
