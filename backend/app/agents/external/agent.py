"""The agent that is a program on this machine: confined, with the model gateway as its way to a model."""

import asyncio
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import anyio.to_thread

from app.agents.external.command import TERM_SECONDS, TakeEvent, UnreadableError, drive_command
from app.agents.external.events import AgentEvent, Ending
from app.agents.external.home import own_home
from app.agents.external.installed import Installed, PythonPlaces
from app.agents.external.launch import LaunchPlan, plan_launch, write_files
from app.agents.external.narration import Narrator
from app.agents.external.outcomes import Account, outcome_of
from app.agents.external.outputs import parser_for
from app.agents.external.profile import AgentProfile, DriverKind, NetworkPolicy
from app.agents.gateway_port import (
    BASE_PATHS,
    Gateway,
    GatewayEndpoint,
    GatewayGrant,
    current_labels,
)
from app.agents.port import (
    AgentFailure,
    AgentOutcome,
    AgentTask,
    FailureKind,
    ReportProgress,
)
from app.agents.programs import ProgramStarter, RunningProgram
from app.core.errors import PhaseRunnerError

_WATCH_SECONDS = 1.0
_REFUSED_SECONDS = 30.0
"""How long an agent may go on after a refusal that no further request can change."""


class _OverdueError(Exception):
    """The agent has to be ended; the message says why."""

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(slots=True)
class _Pulse:
    last: float = field(default_factory=time.monotonic)

    def beat(self) -> None:
        self.last = time.monotonic()


@dataclass(frozen=True, slots=True)
class ExternalAgent:
    """Works on tasks with an installed agent.

    Attributes:
        name: the profile's name.
        profile: how it is driven.
        installed: its program.
        model: the model to use, without the provider's name.
        gateway: opens its way to the model.
        starter: starts programs in the sandbox.
        python_places: what the interpreter of the workspace's tests needs.
    """

    name: str
    profile: AgentProfile
    installed: Installed
    model: str
    gateway: Gateway
    starter: ProgramStarter
    python_places: PythonPlaces

    @property
    def provider(self) -> str:
        """The dialect in which it asks its model."""
        return self.profile.dialect.value

    async def run(self, task: AgentTask, report: ReportProgress) -> AgentOutcome:
        """Work on the task until the agent ends, or until it must be ended."""
        try:
            confined = await self.starter.confines()
            async with self.gateway.open(self._grant(task, confined=confined)) as endpoint:
                return await self._work(task, report, endpoint)
        except PhaseRunnerError as error:
            return AgentFailure(FailureKind.CONFIGURATION, error.detail, model=self.model)
        except OSError as error:
            told = f"{self.name} cannot be started: {error}"
            return AgentFailure(FailureKind.CONFIGURATION, told, model=self.model)

    def _grant(self, task: AgentTask, *, confined: bool) -> GatewayGrant:
        return GatewayGrant(
            self.profile.dialect,
            (self.model, *self.profile.models),
            task.limits,
            current_labels(),
            confined=confined,
        )

    async def _work(self, task: AgentTask, report: ReportProgress, endpoint: GatewayEndpoint) -> AgentOutcome:
        pulse = _Pulse()
        narrator = Narrator(report)

        def take(event: AgentEvent) -> None:
            pulse.beat()
            narrator.take(event)

        async with own_home(task.workspace, self.profile.leavings) as home:
            plan = self._plan(task, endpoint, home)
            await anyio.to_thread.run_sync(write_files, plan)
            try:
                ending = await self._drive(plan, task, endpoint, take, pulse)
            except _OverdueError as overdue:
                return _overdue(overdue, endpoint, self.model)
            except UnreadableError as error:
                return AgentFailure(
                    FailureKind.PROTOCOL, f"{self.name}: {error}", endpoint.usage(), self.model
                )
        return outcome_of(ending, self._account(endpoint, ending))

    def _plan(self, task: AgentTask, endpoint: GatewayEndpoint, home: Path) -> LaunchPlan:
        address = endpoint.url or f"http://127.0.0.1:{self.starter.gateway_port}"
        return plan_launch(
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
        )

    async def _drive(
        self,
        plan: LaunchPlan,
        task: AgentTask,
        endpoint: GatewayEndpoint,
        take: TakeEvent,
        pulse: _Pulse,
    ) -> Ending:
        async with self.starter.start(
            plan.argv,
            cwd=task.workspace,
            env=plan.env,
            home=plan.home,
            readable=plan.readable,
            gateway=endpoint.socket,
            network=self.profile.network is NetworkPolicy.MACHINE,
        ) as program:
            work = asyncio.create_task(self._converse(program, plan, take))
            try:
                await self._watch(work, task.limits.seconds, endpoint, pulse)
            finally:
                work.cancel()
                with anyio.CancelScope(shield=True):
                    # The driver says farewell in its protocol; then comes TERM, and KILL with the block.
                    await asyncio.wait([work])
                    await program.terminate(TERM_SECONDS)
            return work.result()

    async def _converse(self, program: RunningProgram, plan: LaunchPlan, take: TakeEvent) -> Ending:
        if self.profile.driver is DriverKind.ACP:
            # The protocol has a thousand models, which take a second to make.
            from app.agents.external.acp import drive_acp  # noqa: PLC0415 - only for agents that speak it

            return await drive_acp(program, plan, self.profile, take)
        return await drive_command(program, plan.stdin, parser_for(self.profile.output), take)

    async def _watch(
        self, work: asyncio.Task[Ending], seconds: float, endpoint: GatewayEndpoint, pulse: _Pulse
    ) -> None:
        """Wait for the end of the work.

        Raises:
            _OverdueError: time is up, or nothing has happened for too long.
        """
        deadline = time.monotonic() + seconds
        idle = self.profile.idle_seconds
        refused_since: float | None = None
        while not work.done():
            now = time.monotonic()
            refused_since = _refused(endpoint, refused_since, now)
            if refused_since is not None and now - refused_since >= _REFUSED_SECONDS:
                raise _OverdueError(FailureKind.PROTOCOL, f"{self.name} goes on although it is refused")
            if now >= deadline:
                told = f"{self.name} worked longer than the limit of {seconds:g} s"
                raise _OverdueError(FailureKind.LIMIT, told)
            quiet_until = max(pulse.last, endpoint.last_activity) + idle
            if now >= quiet_until:
                told = f"{self.name} neither said anything nor asked a model for {idle:g} s"
                raise _OverdueError(FailureKind.PROTOCOL, told)
            await asyncio.wait([work], timeout=min(_WATCH_SECONDS, deadline - now, quiet_until - now))

    def _account(self, endpoint: GatewayEndpoint, ending: Ending) -> Account:
        has_final_event = (
            self.profile.driver is DriverKind.ACP or parser_for(self.profile.output).has_final_event
        )
        return Account(
            agent=self.name,
            model=self.model,
            usage=replace(endpoint.usage(), tool_calls=ending.tool_calls),
            failure=endpoint.failure(),
            has_final_event=has_final_event,
            is_metered=self.profile.network is NetworkPolicy.GATEWAY,
        )


def _refused(endpoint: GatewayEndpoint, since: float | None, now: float) -> float | None:
    """Return since when the gateway refuses what cannot change: a spent limit, a rejected key."""
    failure = endpoint.failure()
    final = (FailureKind.LIMIT, FailureKind.BUDGET, FailureKind.CONFIGURATION)
    if failure is None or failure.kind not in final:
        return None
    return now if since is None else since


def _overdue(overdue: _OverdueError, endpoint: GatewayEndpoint, model: str) -> AgentFailure:
    """Return why an agent was ended; a failing model explains more than the silence that followed."""
    failure = endpoint.failure()
    if failure is None or overdue.kind is FailureKind.LIMIT:
        return AgentFailure(overdue.kind, str(overdue), endpoint.usage(), model)
    told = f"{failure.message} ({overdue})"
    return AgentFailure(failure.kind, told, endpoint.usage(), model, failure.retry_at)
