"""Decides escalations by signed links: shows what a link would do, and carries it out once."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from app.core.credentials import Credentials
from app.core.errors import ConflictError, ForbiddenError
from app.core.security import Role
from app.notifications.links import BadLinkError, DecisionLink, read_link
from app.notifications.operator_file import NotificationsFile
from app.schemas.api.escalations import EscalationResolve, EscalationView
from app.services.review.escalations import EscalationService


@dataclass(frozen=True, slots=True)
class LinkedDecision:
    """The decision of a link, and the present state of its escalation."""

    link: DecisionLink
    escalation: EscalationView


class DecisionLinkService:
    """Reads links and carries out their decisions.

    Args:
        escalations: resolves escalations.
        file: the operator's file; links of receivers that are no longer in it, or may not decide, do nothing.
        credentials: read the secret that signs links.
        now: the clock.
    """

    def __init__(
        self,
        escalations: EscalationService,
        file: NotificationsFile,
        credentials: Credentials,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._escalations = escalations
        self._file = file
        self._credentials = credentials
        self._now = now

    async def show(self, token: str) -> LinkedDecision:
        """Return what a link would do, and change nothing: e-mail scanners follow links.

        Raises:
            BadLinkError: the link is damaged, forged or expired, or its receiver may not decide.
            ConflictError: the escalation is decided, or has changed since the link was sent.
            NotFoundError: the escalation no longer exists.
        """
        link = self._read(token)
        found = await self._escalations.get(link.escalation_id)
        if found.status != "open":
            decided = (
                f"{found.decided_by} decided '{found.decision}'" if found.decision else "it was withdrawn"
            )
            raise ConflictError(f"this escalation is no longer open: {decided}")
        if found.version != link.version:
            raise ConflictError("the escalation has changed since this link was sent; open the run's page")
        return LinkedDecision(link, found)

    async def decide(self, token: str) -> LinkedDecision:
        """Carry out the decision of a link.

        Raises:
            BadLinkError, ConflictError, NotFoundError: as `show`; nothing was decided.
            ForbiddenError: the link's role may not decide.
        """
        link = self._read(token)
        if not link.role.includes(Role.REVIEWER):
            raise ForbiddenError(f"a link with the role {link.role} cannot decide")
        resolution = EscalationResolve(decision=link.decision, version=link.version)
        found = await self._escalations.resolve(link.escalation_id, resolution, f"link:{link.receiver}")
        return LinkedDecision(link, found)

    def _read(self, token: str) -> DecisionLink:
        if self._file.links is None:
            raise BadLinkError("this service has no decision links")
        secret = self._credentials.secret(self._file.links.secret.place, "links.secret")
        link = read_link(token, secret, self._now())
        receiver = self._file.receivers.get(link.receiver)
        if receiver is None or not receiver.decide:
            raise BadLinkError(f"the receiver {link.receiver!r} may no longer decide")
        return link
