"""Builds the object graph from settings; the one place that knows which part needs which."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from app.agents.port import AgentLimits
from app.agents.stuck import StuckLimits
from app.api.edge.access import ApiServices
from app.composition.chores import build_outbox, day_budgets
from app.composition.database import open_database, open_sessions
from app.composition.forges import Parts, build_forges, origin_of
from app.composition.judging import ABOUT_THE_AGENT, build_evaluations
from app.composition.judging_tools import JudgingTools
from app.composition.kinds import build_steps
from app.composition.notifications import build_decision_links, build_notifications
from app.composition.tools import Tools, build_tools
from app.core.config import Settings
from app.db.engine import Sessions
from app.forges.repositories import Members
from app.gateway.ledger import Ledger, NoLedger
from app.jobs.silence import SilenceRules
from app.jobs.worker import JobWorker, WorkerTimings
from app.runners.answer.rules import read_rule_sets
from app.runners.phase_panel import PhasePanel
from app.runners.safe_fixes import SafeFixes
from app.services.access.agents import AgentService
from app.services.access.status import Info, StatusService
from app.services.access.tokens import TokenService
from app.services.backlog.items import BacklogService
from app.services.backlog.reading import BacklogBoardQueries
from app.services.backlog.starting import BacklogStarter
from app.services.chores.deliveries import DeliveryService
from app.services.chores.reconcile import Reconcile
from app.services.chores.schedule import Chore
from app.services.chores.takeover import Takeover
from app.services.control.answers import answer_service
from app.services.control.cancelling import CancelService
from app.services.control.forking import ForkService
from app.services.control.holding_out import ShareDefault
from app.services.control.idempotency import IdempotencyService
from app.services.control.intake import Intake
from app.services.control.loops import loop_service
from app.services.control.messages import MessageService
from app.services.control.pausing import PauseService
from app.services.control.sprints import sprint_service
from app.services.execute.advance import Advance, KindSteps
from app.services.execute.baselines import BaselineKeeper
from app.services.execute.candidates import CandidateRuns
from app.services.execute.held_out import HeldOutPanels, TryHeldOutFirst
from app.services.execute.judging import Judging
from app.services.execute.looks import LookKeeper
from app.services.execute.producing import Producing
from app.services.execute.trees import RunTrees
from app.services.local.calibration import CalibrationService
from app.services.measure.calibrations import CalibrationShelf
from app.services.measure.metrics import MetricsService
from app.services.measure.observed import ObserveService
from app.services.measure.trends import TrendService
from app.services.read.run_lists import RunLists
from app.services.read.runs import RunQueries
from app.services.read.usage import UsageQueries
from app.services.record.accounts import Accounts
from app.services.record.budgets import BudgetKeeper
from app.services.record.transactions import EventBell, Recorder
from app.services.review.escalations import EscalationService
from app.services.review.evaluators import EvaluatorService
from app.services.review.known_failures import KnownFailureService
from app.services.review.looks import LookService
from app.services.review.marks import MarkService
from app.services.review.merging import MergeService
from app.services.review.rechecks import RecheckService
from app.services.review.results import ResultService
from app.services.review.reviews import ReviewQueries
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.store import WorkspaceStore

logger = logging.getLogger(__name__)

BACKLOG_SECONDS = 2.0
"""How often a worker looks for items of the backlog that may start."""


@dataclass(frozen=True, slots=True)
class Container:
    """The services of one process."""

    api: ApiServices
    tokens: TokenService
    advance: Advance
    takeover: Takeover
    sandbox: Sandbox
    chores: tuple[Chore, ...]

    async def warn_if_unconfined(self) -> None:
        """Log a warning if the worker judges without a sandbox, or cannot judge tests."""
        state = await self.sandbox.state()
        if not state.confined:
            logger.warning(state.detail)


def build_container(
    settings: Settings,
    sessions: Sessions,
    bell: EventBell,
    scratch: Path | None = None,
    ledger: Ledger | None = None,
) -> Container:
    """Build the services of a process that has a database.

    Args:
        settings: the operator's settings.
        sessions: opens sessions on the database.
        bell: signalled after each recorded event.
        scratch: the directory from `open_scratch`.
        ledger: records model requests; None records none.
    """
    ledger = ledger or NoLedger()
    days = day_budgets(settings)
    budgets = BudgetKeeper(sessions, ledger, days)
    tools = build_tools(settings, ledger, budgets)
    store = WorkspaceStore(settings.DATA_DIR, tools.git, tools.limits, scratch)
    trees = RunTrees(store, sessions)
    outbox = build_outbox(settings)
    share = ShareDefault(settings.SPRINT_HELD_OUT_SHARE, tools.rules.honour)
    intake = Intake(sessions, store, tools.git, tools.sources, bell, budgets, settings.AGENT_BACKEND, share)
    panel = PhasePanel(tools.registry, tools.rules)
    recorder = Recorder(sessions, bell, outbox, Accounts(days, outbox), ledger)
    limits = AgentLimits(
        seconds=settings.AGENT_TIMEOUT,
        requests=settings.AGENT_MAX_REQUESTS,
        total_tokens=settings.AGENT_MAX_TOKENS,
        stuck=StuckLimits(settings.AGENT_STUCK_CALLS, settings.AGENT_STUCK_SECONDS),
        start_seconds=settings.AGENT_START_SECONDS,
    )
    fixer = SafeFixes(settings.EVALUATOR_LINT_TIMEOUT)
    candidates = CandidateRuns(tools.agents, trees, tools.interpreters, fixer)
    producing = Producing(sessions, recorder, candidates, limits, LookKeeper(sessions, trees))
    held_out = HeldOutPanels(sessions, tools.held_out)
    judging = Judging(sessions, recorder, panel, trees, tools.judge, held_out)
    baselines = BaselineKeeper(sessions, recorder, trees, panel)
    sprints = baselines.around(KindSteps(TryHeldOutFirst(held_out, recorder, trees, producing), judging))
    steps = build_steps(settings, tools, sessions, recorder, trees, sprints)
    results = ResultService(sessions, trees)
    sprint_starts = sprint_service(intake, tools.policy, origin_of(Members(tools.forges)))
    queries, cancels = RunQueries(sessions), CancelService(sessions, bell, outbox)
    escalations = EscalationService(sessions, bell)
    merges = MergeService(sessions, results, trees, tools.git, tools.sources)
    own_panel = PhasePanel(tools.registry.without(ABOUT_THE_AGENT), tools.rules)
    rechecks = RecheckService(sessions, results, merges, own_panel)
    backlog = BacklogService(sessions, intake)
    forges = build_forges(
        tools,
        Parts(
            sessions=sessions,
            sprints=sprint_starts,
            backlog=backlog,
            queries=queries,
            results=results,
            merges=merges,
            rechecks=rechecks,
            trees=trees,
            escalations=escalations,
            cancels=cancels,
        ),
    )
    api = ApiServices(
        sprints=sprint_starts,
        loops=loop_service(intake, tools.policy, tools.registry),
        answers=answer_service(intake, tools.policy, read_rule_sets(settings.ANSWER_RULES_FILE)),
        pauses=PauseService(sessions, bell),
        messages=MessageService(sessions, bell),
        cancels=cancels,
        forks=ForkService(sessions, tools.policy, bell, budgets),
        lists=RunLists(sessions),
        queries=queries,
        results=results,
        looks=LookService(sessions),
        merges=merges,
        rechecks=rechecks,
        escalations=escalations,
        known_failures=KnownFailureService(sessions),
        evaluations=build_evaluations(tools, at_once=settings.EVALUATION_CONCURRENCY),
        evaluators=EvaluatorService(sessions, tools.registry.describe()),
        marks=MarkService(sessions),
        reviews=ReviewQueries(sessions),
        metrics=MetricsService(sessions),
        observed=ObserveService(sessions),
        calibrations=CalibrationShelf(settings.DATA_DIR),
        trends=TrendService(sessions),
        usage=UsageQueries(sessions, days),
        idempotency=IdempotencyService(sessions),
        deliveries=DeliveryService(sessions, outbox.addresses),
        notifications=build_notifications(settings, queries),
        decision_links=build_decision_links(settings, escalations),
        status=StatusService(sessions, _info(settings, tools), tools.sandbox),
        agents=AgentService(tools.agents, tools.sandbox),
        backlog=backlog,
        backlog_board=BacklogBoardQueries(sessions),
        backlog_issues=forges.backlog_issues,
        issues=forges.issues,
        forge_inbox=forges.inbox,
    )
    return Container(
        api,
        TokenService(sessions),
        Advance(sessions, recorder, steps, days),
        Takeover(sessions, Reconcile(sessions), _silence(settings), settings.ENGINE_STALLED_AFTER_SECONDS),
        tools.sandbox,
        (*forges.chores, Chore("backlog", BACKLOG_SECONDS, BacklogStarter(sessions, sprint_starts))),
    )


def build_worker(settings: Settings, database_url: str, container: Container) -> JobWorker:
    """Build the worker of a process."""
    timings = WorkerTimings(
        heartbeat=settings.ENGINE_HEARTBEAT_SECONDS,
        stalled_after=settings.ENGINE_STALLED_AFTER_SECONDS,
        sweep=settings.ENGINE_RECONCILE_SECONDS,
        grace=settings.SHUTDOWN_GRACE_SECONDS,
    )
    return JobWorker(
        database_url,
        container.advance,
        container.takeover,
        concurrency=settings.WORKER_CONCURRENCY,
        timings=timings,
    )


def _silence(settings: Settings) -> SilenceRules:
    return SilenceRules.of(
        heartbeat=settings.ENGINE_HEARTBEAT_SECONDS,
        stalled_after=settings.ENGINE_STALLED_AFTER_SECONDS,
        sweep=settings.ENGINE_RECONCILE_SECONDS,
    )


def build_calibration(tools: JudgingTools) -> CalibrationService:
    """Build the service that measures the evaluators."""
    return CalibrationService(
        tools.registry, tools.policy, tools.git, tools.limits, tools.rules, ABOUT_THE_AGENT
    )


@asynccontextmanager
async def token_service(settings: Settings) -> AsyncGenerator[TokenService]:
    """Yield the service that manages tokens, on the service's database."""
    async with open_database(settings) as url, open_sessions(settings, url) as sessions:
        yield TokenService(sessions)


def _info(settings: Settings, tools: Tools) -> Info:
    label, ready = tools.agents.default_agent()
    return Info(
        version=version("phaserunner"),
        default_agent=label,
        default_agent_ready=ready,
        evaluator_model=settings.EVALUATOR_MODEL,
        max_attempts=tools.policy.attempts_per_phase,
    )
