"""Gives routes their services, and checks the role of the caller."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from app.api.edge.large_bodies import LargeBodies
from app.core.errors import ForbiddenError
from app.core.security import Principal, Role
from app.services.access.agents import AgentService
from app.services.access.status import StatusService
from app.services.backlog.items import BacklogService
from app.services.backlog.reading import BacklogBoardQueries
from app.services.chores.deliveries import DeliveryService
from app.services.chores.notifications import NotificationService
from app.services.control.answers import AnswerService
from app.services.control.cancelling import CancelService
from app.services.control.forking import ForkService
from app.services.control.idempotency import IdempotencyService
from app.services.control.loops import LoopService
from app.services.control.messages import MessageService
from app.services.control.pausing import PauseService
from app.services.control.sprints import SprintService
from app.services.forges.backlog_issues import BacklogIssueService
from app.services.forges.inbox import ForgeInbox
from app.services.forges.issues import IssueService
from app.services.local.evaluations import EvaluationService
from app.services.measure.calibrations import CalibrationShelf
from app.services.measure.metrics import MetricsService
from app.services.measure.observed import ObserveService
from app.services.measure.trends import TrendService
from app.services.read.run_lists import RunLists
from app.services.read.runs import RunQueries
from app.services.read.usage import UsageQueries
from app.services.review.decision_links import DecisionLinkService
from app.services.review.escalations import EscalationService
from app.services.review.evaluators import EvaluatorService
from app.services.review.known_failures import KnownFailureService
from app.services.review.looks import LookService
from app.services.review.marks import MarkService
from app.services.review.merging import MergeService
from app.services.review.rechecks import RecheckService
from app.services.review.results import ResultService
from app.services.review.reviews import ReviewQueries


@dataclass(frozen=True, slots=True)
class ApiServices:
    """The services that routes call."""

    sprints: SprintService
    loops: LoopService
    answers: AnswerService
    pauses: PauseService
    messages: MessageService
    cancels: CancelService
    forks: ForkService
    lists: RunLists
    queries: RunQueries
    results: ResultService
    looks: LookService
    merges: MergeService
    rechecks: RecheckService
    escalations: EscalationService
    known_failures: KnownFailureService
    evaluations: EvaluationService
    evaluators: EvaluatorService
    marks: MarkService
    reviews: ReviewQueries
    metrics: MetricsService
    observed: ObserveService
    calibrations: CalibrationShelf
    trends: TrendService
    usage: UsageQueries
    idempotency: IdempotencyService
    deliveries: DeliveryService
    notifications: NotificationService
    decision_links: DecisionLinkService
    status: StatusService
    agents: AgentService
    backlog: BacklogService
    backlog_board: BacklogBoardQueries
    backlog_issues: BacklogIssueService
    issues: IssueService
    forge_inbox: ForgeInbox
    forge_bodies: LargeBodies = field(default_factory=LargeBodies)


def get_services(request: Request) -> ApiServices:
    """Return the process's services: `app.state.services`."""
    services: ApiServices = request.app.state.services
    return services


def needs(role: Role) -> Callable[[Request], Principal]:
    """Return a dependency that yields the caller's principal if it has the role."""

    def check(request: Request) -> Principal:
        principal: Principal = request.scope["principal"]
        if not principal.role.includes(role):
            raise ForbiddenError(
                f"this needs the role {role}; {principal.name} has the role {principal.role}"
            )
        return principal

    return check


Services = Annotated[ApiServices, Depends(get_services)]
Viewer = Annotated[Principal, Depends(needs(Role.VIEWER))]
Operator = Annotated[Principal, Depends(needs(Role.OPERATOR))]
Reviewer = Annotated[Principal, Depends(needs(Role.REVIEWER))]
