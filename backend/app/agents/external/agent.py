"""The agent that is a program on this machine: confined, with the model gateway as its way to a model."""

from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from app.agents.external.at_work import AgentAtWork
from app.agents.external.command import CannotResumeError, UnreadableOutputError
from app.agents.external.events import AgentEnding
from app.agents.external.installed import Installed, PythonPlaces
from app.agents.external.launch import LaunchPlan, plan_launch
from app.agents.external.login import LoginBusyError, NoEndpoint, lent
from app.agents.external.nudging import Nudger
from app.agents.external.outcomes import ObservedWork, outcome_of
from app.agents.external.outputs import parser_for
from app.agents.external.profile import AgentProfile, DriverKind, fill
from app.agents.external.session import OpenSession, open_session
from app.agents.external.watching import OverdueError
from app.agents.gateway_port import (
    BASE_PATHS,
    VENDOR_LOGIN,
    Gateway,
    GatewayEndpoint,
    GatewayGrant,
    current_labels,
)
from app.agents.nudges import has_to_change_files
from app.agents.port import (
    AgentFailure,
    AgentOutcome,
    AgentResult,
    AgentTask,
    FailureKind,
    ReportProgress,
)
from app.agents.programs import ProgramStarter
from app.agents.stuck import StuckError
from app.core.errors import PhaseRunnerError

_INTERRUPTED = "Your work was interrupted. What was changed so far is in the workspace. Continue from there."

_MAY_BE_THE_VERSION = (FailureKind.PROTOCOL, FailureKind.CRASH)


@dataclass(frozen=True, slots=True)
class ExternalAgent:
    """Works on tasks with an installed agent.

    Attributes:
        name: the profile's name.
        profile: how to drive the agent.
        installed: its program.
        model: the model to use, without the provider's name.
        gateway: opens its endpoint.
        starter: starts programs in the sandbox.
        python_places: the directories that the tests' interpreter needs.
        login: directory with its vendor login, which the operator lends it.
        nudges: how often it is asked once more, if it changed no file and can continue its conversation.
    """

    name: str
    profile: AgentProfile
    installed: Installed
    model: str
    gateway: Gateway
    starter: ProgramStarter
    python_places: PythonPlaces
    login: Path | None = None
    nudges: int = 0

    @property
    def provider(self) -> str:
        """The dialect in which it asks its model, or `vendor-login` if it asks its vendor directly."""
        return VENDOR_LOGIN if self.profile.asks_its_vendor else self.profile.dialect.value

    async def run(self, task: AgentTask, report: ReportProgress) -> AgentOutcome:
        """Work on the task until the agent ends or must be ended."""
        outcome = await self._run(task, report)
        if isinstance(outcome, AgentFailure) and outcome.kind in _MAY_BE_THE_VERSION:
            return replace(outcome, message=outcome.message + self._version_words())
        return outcome

    def _version_words(self) -> str:
        """Say that the profile was tried with another version.

        The text is empty if it was not, or if that is unknown.
        """
        version, tried = self.installed.version, self.profile.tried
        if version is None or tried is None or version == tried:
            return ""
        known = f"version {version} is installed, and its profile was tried with {tried}"
        return f" ({known}: phaserunner agents check {self.name})"

    async def _run(self, task: AgentTask, report: ReportProgress) -> AgentOutcome:
        try:
            confined = await self.starter.confines()
            if self.profile.asks_its_vendor:
                return await self._with_login(task, report, confined=confined)
            async with self.gateway.open(self._grant(task, confined=confined)) as endpoint:
                return await self._work(task, report, endpoint)
        except PhaseRunnerError as error:
            return AgentFailure(FailureKind.CONFIGURATION, error.detail, model=self.model)
        except OSError as error:
            told = f"{self.name} cannot be started: {error}"
            return AgentFailure(FailureKind.CONFIGURATION, told, model=self.model)

    async def _with_login(self, task: AgentTask, report: ReportProgress, *, confined: bool) -> AgentOutcome:
        if not confined:
            told = f"{self.name} has a network, so it only works in the sandbox"
            return AgentFailure(FailureKind.CONFIGURATION, told, model=self.model)
        async with AsyncExitStack() as stack:
            if self.login is not None:
                try:
                    await stack.enter_async_context(lent(self.login, task.limits.seconds))
                except LoginBusyError as error:
                    return AgentFailure(FailureKind.UNAVAILABLE, f"{self.name}: {error}", model=self.model)
            return await self._work(task, report, NoEndpoint())

    def _grant(self, task: AgentTask, *, confined: bool) -> GatewayGrant:
        return GatewayGrant(
            self.profile.dialect,
            (self.model, *self.profile.models),
            task.limits,
            current_labels(),
            confined=confined,
        )

    async def _work(self, task: AgentTask, report: ReportProgress, endpoint: GatewayEndpoint) -> AgentOutcome:
        kept = task.session if self._can_continue else None
        is_lacking = kept is not task.session and task.session is not None and task.session.is_wanted
        note = f"{self.name} cannot go on with a conversation" if is_lacking else ""
        async with open_session(replace(task, session=kept), self.name, self.profile.leavings) as session:
            session.note = session.note or note
            work = AgentAtWork(
                self.name,
                self.profile,
                self.starter,
                lambda asked, resume: self._plan(asked, endpoint, session.home, resume),
                replace(task, workspace=session.workspace, prompt=_prompt(task, session)),
                report,
                endpoint,
                session,
                self._nudger(task, session),
            )
            outcome = await self._outcome(work, endpoint)
            if isinstance(outcome, AgentFailure):
                await session.failed(outcome.message)
            return replace(outcome, session=session.use)

    async def _outcome(self, work: AgentAtWork, endpoint: GatewayEndpoint) -> AgentOutcome:
        try:
            ending = await work.to_its_end()
        except OverdueError as overdue:
            return _overdue(overdue, endpoint, self.model)
        except StuckError as error:
            return AgentFailure(FailureKind.LIMIT, str(error), endpoint.usage(), self.model)
        except (UnreadableOutputError, CannotResumeError) as error:
            told = f"{self.name}: {error}"
            return AgentFailure(FailureKind.PROTOCOL, told, endpoint.usage(), self.model)
        outcome = outcome_of(ending, self._account(endpoint, ending))
        if isinstance(outcome, AgentResult) and ending.session is not None:
            await work.session.keep(ending.session)
        return outcome

    def _nudger(self, task: AgentTask, session: OpenSession) -> Nudger:
        is_asked = has_to_change_files(task) and not session.interrupted
        return Nudger(session.workspace, self.profile.leavings, self.nudges if is_asked else 0)

    @property
    def _can_continue(self) -> bool:
        return self.profile.driver is DriverKind.ACP or self.profile.resume is not None

    def _plan(self, task: AgentTask, endpoint: GatewayEndpoint, home: Path, resume: str | None) -> LaunchPlan:
        address = endpoint.url or f"http://127.0.0.1:{self.starter.gateway_port}"
        plan = plan_launch(
            self.profile,
            self.installed,
            task,
            home=home,
            values={
                "base_url": address + BASE_PATHS[self.profile.dialect],
                "token": endpoint.token,
                "model": self.model,
            },
            python_places=self.python_places,
            resume=resume,
        )
        if self.login is None or self.profile.login is None:
            return plan
        return replace(plan, link=(Path(fill(self.profile.login, {"home": str(home)})), self.login))

    def _account(self, endpoint: GatewayEndpoint, ending: AgentEnding) -> ObservedWork:
        has_final_event = (
            self.profile.driver is DriverKind.ACP or parser_for(self.profile.output).has_final_event
        )
        return ObservedWork(
            agent=self.name,
            model=self.model,
            usage=replace(endpoint.usage(), tool_calls=ending.tool_calls),
            failure=endpoint.failure(),
            has_final_event=has_final_event,
            is_metered=not self.profile.asks_its_vendor,
        )


def _prompt(task: AgentTask, session: OpenSession) -> str:
    return f"{_INTERRUPTED}\n\n{task.prompt}" if session.interrupted else task.prompt


def _overdue(overdue: OverdueError, endpoint: GatewayEndpoint, model: str) -> AgentFailure:
    """Return why an agent was ended. A model failure explains more than the silence after it."""
    failure = endpoint.failure()
    if failure is None or overdue.kind is FailureKind.LIMIT:
        return AgentFailure(overdue.kind, str(overdue), endpoint.usage(), model)
    told = f"{failure.message} ({overdue})"
    return AgentFailure(failure.kind, told, endpoint.usage(), model, failure.retry_at)
