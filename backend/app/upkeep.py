"""What a worker does beside its runs, made of settings: messages to other services, and reminders."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from app.core.config import Settings
from app.db.engine import Sessions
from app.services.outbox import Outbox
from app.services.recording import Bell
from app.services.reminders import ReminderService
from app.services.upkeep import Chore, doing_chores
from app.services.webhooks import WebhookService
from app.webhooks.endpoints import read_endpoints
from app.webhooks.sending import WebhookSender
from app.webhooks.signing import read_secret

WEBHOOK_SECONDS = 2.0
REMINDER_SECONDS = 30.0


@asynccontextmanager
async def open_upkeep(settings: Settings, sessions: Sessions, bell: Bell) -> AsyncGenerator[None]:
    """Do a worker's chores while the block runs.

    Raises:
        InvalidInputError: the settings of webhooks cannot be used.
    """
    outbox = build_outbox(settings)
    async with AsyncExitStack() as stack:
        chores: list[Chore] = []
        if outbox.urls:
            sender = await stack.enter_async_context(
                WebhookSender(_webhook_key(settings), allow_private=settings.WEBHOOK_ALLOW_PRIVATE)
            )
            chores.append(Chore("webhooks", WEBHOOK_SECONDS, WebhookService(sessions, outbox.urls, sender)))
        if hours := settings.ESCALATION_REMINDER_HOURS:
            chores.append(
                Chore("reminders", REMINDER_SECONDS, ReminderService(sessions, bell, hours, outbox))
            )
        await stack.enter_async_context(doing_chores(chores))
        yield


def build_outbox(settings: Settings) -> Outbox:
    """Make what puts messages to other services where they wait.

    Raises:
        InvalidInputError: an address or the secret cannot be used.
    """
    urls = read_endpoints(settings.WEBHOOK_URLS, allow_private=settings.WEBHOOK_ALLOW_PRIVATE)
    if urls:
        _webhook_key(settings)
    return Outbox(urls)


def _webhook_key(settings: Settings) -> bytes:
    secret = settings.WEBHOOK_SECRET
    return read_secret(secret.get_secret_value() if secret else "")
