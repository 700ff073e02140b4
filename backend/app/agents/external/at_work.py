"""Carries out one task with an installed agent: its launches, its conversation, and people's messages."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import anyio
import anyio.to_thread

from app.agents.external.command import TERM_SECONDS, CannotResumeError, TakeEvent, drive_command
from app.agents.external.events import AgentEnding, AgentEvent, SessionBegan
from app.agents.external.launch import LaunchPlan, write_files
from app.agents.external.login import NoEndpoint
from app.agents.external.narration import ExternalNarrator
from app.agents.external.nudging import Nudger
from app.agents.external.outputs import parser_for
from app.agents.external.profile import AgentProfile, DriverKind
from app.agents.external.session import OpenSession
from app.agents.external.watching import AgentWatch
from app.agents.gateway_port import GatewayEndpoint
from app.agents.nudges import NUDGE
from app.agents.port import AgentTask, ReportProgress
from app.agents.programs import ProgramStarter, RunningProgram


@dataclass(slots=True)
class AgentAtWork:
    """One task of an agent: a launch, and further ones for prompts that follow its end.

    Attributes:
        name: the agent's name.
        profile: how to drive the agent.
        starter: starts its program.
        plan: plans a launch from the task and the conversation to continue.
        task: the task, with the session's workspace.
        report: receives progress.
        endpoint: its access to the model.
        session: its home directory and its conversation.
        nudger: asks it once more if it changed no file.
    """

    name: str
    profile: AgentProfile
    starter: ProgramStarter
    plan: Callable[[AgentTask, str | None], LaunchPlan]
    task: AgentTask
    report: ReportProgress
    endpoint: GatewayEndpoint
    session: OpenSession
    nudger: Nudger

    async def to_its_end(self) -> AgentEnding:
        """Let the agent work to its end. Start a new conversation if it does not continue the earlier one.

        Raises:
            OverdueError, StuckError: the agent was ended.
            UnreadableOutputError: its output cannot be read.
        """
        seconds = self.task.limits.seconds
        watch = AgentWatch(
            self.name,
            self.endpoint,
            self.task.workspace,
            time.monotonic() + seconds,
            seconds,
            self.profile.idle_seconds,
            self.task.limits.stuck,
            self.task.limits.requests if self.profile.asks_its_vendor else None,
        )
        await self.nudger.begin()
        ending = await self._first(watch)
        while (message := await self._message(ending)) is not None:
            before, task = ending, replace(self.task, prompt=message, system_prompt=None)
            asked = self.endpoint.usage().requests
            ending = await self._launch(task, watch, before.session)
            if message == NUDGE and ending.final is None and self.endpoint.usage().requests == asked:
                return before  # it did not continue, so the result before counts
            ending.tool_calls += before.tool_calls
            ending.session = ending.session or before.session
        return ending

    async def _first(self, watch: AgentWatch) -> AgentEnding:
        resume = self.session.resume
        if resume is None:
            return await self._launch(self.task, watch)
        try:
            ending = await self._launch(self.task, watch, resume)
        except CannotResumeError as error:
            reason = str(error)
        else:
            if ending.final is not None or self.endpoint.usage().requests:
                return ending
            reason = ending.error or f"it ended with status {ending.status}"
        await self.session.begin_anew(f"the earlier conversation could not go on: {reason[:500]}")
        return await self._launch(self.task, watch)

    async def _message(self, ending: AgentEnding) -> str | None:
        """Return the prompt for another launch of a command that has ended, or None."""
        if self.profile.driver is DriverKind.ACP or self.profile.resume is None or ending.session is None:
            return None
        return await self._further() if ending.final is not None and ending.error is None else None

    async def _further(self) -> str | None:
        """Return people's messages.

        Without any, return a request to try again if the agent changed nothing.
        """
        said = await self.task.inbox.take(at_end=True) if self.task.inbox is not None else None
        if said is not None or self.endpoint.failure() is not None:
            return said
        return await self.nudger.take()

    async def _launch(self, task: AgentTask, watch: AgentWatch, resume: str | None = None) -> AgentEnding:
        plan = self.plan(task, resume)
        await anyio.to_thread.run_sync(write_files, plan)
        narrator = ExternalNarrator(self.report)

        def take(event: AgentEvent) -> None:
            watch.take(event)
            if isinstance(event, SessionBegan):
                self.session.began(event.session)
            if isinstance(self.endpoint, NoEndpoint):
                self.endpoint.take(event)
            narrator.take(event)

        async with self.starter.start(
            plan.argv,
            cwd=task.workspace,
            env=plan.env,
            home=plan.home,
            readable=plan.readable,
            writable=(plan.link[1],) if plan.link is not None else (),
            gateway=self.endpoint.socket,
            network=self.profile.asks_its_vendor,
        ) as program:
            work = asyncio.create_task(self._converse(program, plan, take))
            try:
                await watch.until_done(work)
            finally:
                work.cancel()
                with anyio.CancelScope(shield=True):
                    # The driver first ends the conversation in its protocol. Then TERM is sent, and KILL at
                    # the block's end.
                    await asyncio.wait([work])
                    await program.terminate(TERM_SECONDS)
            return work.result()

    async def _converse(self, program: RunningProgram, plan: LaunchPlan, take: TakeEvent) -> AgentEnding:
        if self.profile.driver is DriverKind.ACP:
            # The protocol library defines a thousand models, which takes a second.
            from app.agents.external.acp import drive_acp  # noqa: PLC0415 - only for agents that speak it

            return await drive_acp(
                program, plan, self.profile, take, self._further, self.task.limits.start_seconds
            )
        return await drive_command(program, plan.stdin, parser_for(self.profile.output), take)
