"""Builds notifications from the operator's file."""

import os

from app.core.config import Settings
from app.core.credentials import Credentials
from app.notifications.operator_file import load_notifications
from app.services.chores.notifications import NotificationService, check_link_secret
from app.services.read.runs import RunQueries
from app.services.record.outbox import NotificationSubscription, notify_address
from app.services.review.decision_links import DecisionLinkService
from app.services.review.escalations import EscalationService


def build_notifications(settings: Settings, queries: RunQueries) -> NotificationService:
    """Build the service that sends notifications.

    Raises:
        InvalidInputError: the operator's file, or its secret for links, cannot be used.
    """
    file = load_notifications(settings.NOTIFICATIONS_FILE)
    credentials = _credentials()
    check_link_secret(file, credentials)
    return NotificationService(queries, file, credentials)


def build_decision_links(settings: Settings, escalations: EscalationService) -> DecisionLinkService:
    """Build the service that decides by signed links."""
    return DecisionLinkService(escalations, load_notifications(settings.NOTIFICATIONS_FILE), _credentials())


def subscriptions(settings: Settings) -> tuple[NotificationSubscription, ...]:
    """Return the receivers of notifications and the events that they get."""
    file = load_notifications(settings.NOTIFICATIONS_FILE)
    return tuple(
        NotificationSubscription(notify_address(name), each.event_types)
        for name, each in file.receivers.items()
    )


def _credentials() -> Credentials:
    return Credentials(environ=os.environ)  # noqa: TID251 - secrets that the file names
