"""A client for the application as the composition root builds it, without a network."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from app.agents.models.providers import ProviderKeys
from app.agents.provider import AgentProvider
from app.api.app import AccessRules, create_app
from app.api.edge.access import ApiServices
from app.api.edge.dashboard import Dashboard
from app.core.credentials import Credentials
from app.db.engine import plain_url
from app.forges.operator_file import ForgesFile
from app.forges.repositories import Members
from app.notifications.operator_file import parse_notifications
from app.realtime.service import open_realtime
from app.runners.budgets import DayBudgets
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.static.ruff_lint import RuffLintEvaluator
from app.runners.phase_panel import PhasePanel
from app.services.access.agents import AgentService
from app.services.access.status import Info, StatusService
from app.services.access.tokens import TokenNeed, TokenService
from app.services.backlog.reading import BacklogBoardQueries
from app.services.chores.deliveries import DeliveryService
from app.services.chores.notifications import NotificationService
from app.services.control.idempotency import IdempotencyService
from app.services.control.messages import MessageService
from app.services.forges.backlog_issues import BacklogIssueService
from app.services.forges.inbox import ForgeInbox
from app.services.forges.issues import IssueService
from app.services.measure.calibrations import CalibrationShelf
from app.services.measure.metrics import MetricsService
from app.services.measure.observed import ObserveService
from app.services.measure.trends import TrendService
from app.services.read.usage import UsageQueries
from app.services.review.decision_links import DecisionLinkService
from app.services.review.evaluators import EvaluatorService
from app.services.review.known_failures import KnownFailureService
from app.services.review.looks import LookService
from app.services.review.marks import MarkService
from app.services.review.rechecks import RecheckService
from app.services.review.reviews import ReviewQueries
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.process import run_process
from tests.integration.services.support import Rows, UseCases, evaluations, use_cases
from tests.patience import PATIENCE

HERE = "http://127.0.0.1:8000"
LINK_SECRET = "links-are-signed-with-this-secret"
SECRETS = Credentials(environ={"LINK_SECRET": LINK_SECRET, "CHAT_URL": "http://127.0.0.1:9/secret"})
NOTIFICATIONS = parse_notifications(
    """
page = "http://127.0.0.1:8000"
[links]
secret = { env = "LINK_SECRET" }
[receivers.team]
kind = "slack"
url = { env = "CHAT_URL" }
decide = true
[receivers.watchers]
kind = "discord"
url = { env = "CHAT_URL" }
""",
    "notifications.toml",
)
WEBHOOK_URL = "https://hooks.example:8443/services/secret"


@dataclass(frozen=True)
class Api:
    """The application, a client for it, and what is behind it."""

    app: FastAPI
    client: httpx.AsyncClient
    cases: UseCases
    tokens: TokenService

    @property
    def rows(self) -> Rows:
        return self.cases.rows


@asynccontextmanager
async def open_api(
    database_url: str,
    data_dir: Path,
    *,
    hosts: tuple[str, ...] = (),
    tokens_needed: bool | None = False,
    days: DayBudgets = DayBudgets(),  # noqa: B008 - it is frozen
) -> AsyncGenerator[Api]:
    """Build the application and a client for it; tokens are needed, or not, or (None) once there is one."""
    async with (
        use_cases(database_url, data_dir, days=days) as cases,
        open_realtime(plain_url(database_url), cases.queries.states) as realtime,
    ):
        registry = EvaluatorRegistry()
        registry.register(RuffLintEvaluator(timeout=PATIENCE))
        no_forges = ForgesFile()
        no_members = Members(no_forges)
        info = Info(
            version="1.2.3",
            default_agent="pydantic-ai m",
            default_agent_ready=False,
            evaluator_model="m",
            max_attempts=3,
        )
        services = ApiServices(
            sprints=cases.sprints,
            loops=cases.loops,
            answers=cases.answers,
            pauses=cases.pauses,
            cancels=cases.cancels,
            forks=cases.forks,
            lists=cases.lists,
            queries=cases.queries,
            results=cases.results,
            looks=LookService(cases.sessions, cases.trees),
            merges=cases.merges,
            rechecks=RecheckService(cases.sessions, cases.results, cases.merges, PhasePanel(registry)),
            escalations=cases.escalations,
            known_failures=KnownFailureService(cases.sessions),
            evaluations=evaluations(registry),
            evaluators=EvaluatorService(cases.sessions, registry.describe()),
            marks=MarkService(cases.sessions),
            reviews=ReviewQueries(cases.sessions),
            metrics=MetricsService(cases.sessions),
            observed=ObserveService(cases.sessions),
            calibrations=CalibrationShelf(data_dir),
            trends=TrendService(cases.sessions),
            usage=UsageQueries(cases.sessions),
            idempotency=IdempotencyService(cases.sessions),
            deliveries=DeliveryService(cases.sessions, (WEBHOOK_URL,)),
            notifications=NotificationService(cases.queries, NOTIFICATIONS, SECRETS),
            decision_links=DecisionLinkService(cases.escalations, NOTIFICATIONS, SECRETS),
            status=StatusService(cases.sessions, info, Sandbox()),
            messages=MessageService(cases.sessions, cases.bell),
            backlog=cases.backlog,
            backlog_board=BacklogBoardQueries(cases.sessions),
            backlog_issues=BacklogIssueService(cases.sessions, cases.backlog, no_members, {}),
            issues=IssueService(cases.sprints, no_members, {}),
            forge_inbox=ForgeInbox(cases.sessions, no_forges, Credentials()),
            agents=AgentService(AgentProvider(ProviderKeys(), run_process, Path("python")), Sandbox()),
        )
        tokens = TokenService(cases.sessions)
        need = TokenNeed(tokens, needed=False) if tokens_needed is None else None
        access = AccessRules(hosts, None if tokens_needed is False else tokens.recognise, need)
        app = create_app(
            services,
            realtime.hub,
            realtime.reader,
            access,
            version="1.2.3",
            dashboard=Dashboard(data_dir / "not built"),
        )
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=HERE, timeout=PATIENCE) as client:
            yield Api(app, client, cases, tokens)


def problem_of(response: httpx.Response) -> dict[str, Any]:
    """The problem document, which every error must be."""
    assert response.headers["content-type"] == "application/problem+json", response.text
    document: dict[str, Any] = response.json()
    assert document["status"] == response.status_code
    assert document["type"].startswith("urn:phaserunner:problem:")
    assert document["title"]
    assert document["detail"]
    return document
