"""Drives an agent over the Agent Client Protocol: one session, one prompt, its updates as events.

The library's calls wait without a limit. So every call has a limit here, and the agent's watch limits the
prompt. The client offers no files and no terminals: an agent would use them through this process, outside the
sandbox.
"""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar, cast

import anyio
from acp import PROTOCOL_VERSION, RequestError, connect_to_agent, text_block
from acp.client.connection import ClientSideConnection
from acp.interfaces import Client
from acp.schema import AgentCapabilities, ClientCapabilities, Implementation

from app.agents.external.acp_talk import Talk
from app.agents.external.command import (
    TERM_SECONDS,
    CannotResumeError,
    TakeEvent,
    TakeMessages,
    end_tasks,
)
from app.agents.external.events import AgentEnding, Failed, SessionBegan
from app.agents.external.launch import LaunchPlan
from app.agents.external.profile import AgentProfile
from app.agents.port import FailureKind
from app.agents.programs import RunningProgram

SETTLE_SECONDS = 10.0
_FAREWELL_SECONDS = 1.0
_TURN_SECONDS = 2.0
"""Seconds that an agent may take to end a cancelled turn."""

_AUTH_REQUIRED = -32_000

_T = TypeVar("_T")


async def drive_acp(
    program: RunningProgram,
    plan: LaunchPlan,
    profile: AgentProfile,
    take: TakeEvent,
    inbox: TakeMessages,
    start_seconds: float,
) -> AgentEnding:
    """Follow a prompt to its end. Send messages that people write meanwhile as further prompts.

    Args:
        program: the running agent.
        plan: the prompt, and where the agent works.
        profile: the method of authentication and the mode to ask for.
        take: gets each event when it happens.
        inbox: returns the messages that people wrote meanwhile.
        start_seconds: how long each answer may take before the first prompt.

    Raises:
        CannotResumeError: the agent does not continue the earlier conversation.
        OSError: the agent did not start.
    """
    ending = AgentEnding()
    talk = Talk(ending, take)
    start = _Start(start_seconds)
    # The class implements only what is offered. The library answers other calls as unknown methods.
    connection = connect_to_agent(cast("Client", talk), program.stdin, program.stdout)
    work = asyncio.create_task(_converse(connection, talk, start, plan, profile, inbox))
    # The connection ends with the agent, even if something that it left behind holds the pipe.
    waiting = asyncio.create_task(program.wait())
    try:
        await asyncio.shield(work)
    except asyncio.CancelledError:
        await _say_farewell(connection, talk, work)
        raise
    except RequestError as error:
        talk.tell(_failure(error))
    except TimeoutError:
        talk.tell(Failed(f"it did not answer within {start_seconds:g} s (AGENT_START_SECONDS)"))
    except ConnectionError:
        pass  # it is gone; its exit status and standard error explain more
    finally:
        with anyio.CancelScope(shield=True):
            await _close(connection, program)
            await end_tasks(waiting)
    await _see_it_end(program, ending)
    ending.stderr = program.stderr()
    return ending


async def _converse(
    connection: ClientSideConnection,
    talk: Talk,
    start: "_Start",
    plan: LaunchPlan,
    profile: AgentProfile,
    inbox: TakeMessages,
) -> None:
    us = Implementation(name="phaserunner", version="1")
    agreed = await start.within(connection.initialize(PROTOCOL_VERSION, ClientCapabilities(), us))
    if profile.auth is not None:
        await start.within(connection.authenticate(profile.auth))
    session = await _session(connection, talk, start, plan, agreed.agent_capabilities)
    talk.session = session
    talk.tell(SessionBegan(session))
    if profile.mode is not None:
        await start.within(connection.set_session_mode(session, profile.mode))
    prompt: str | None = plan.prompt
    while prompt is not None:
        talk.begin()
        answer = await connection.prompt(session, [text_block(prompt)])
        talk.end(answer.stop_reason)
        prompt = await inbox() if answer.stop_reason == "end_turn" else None


async def _session(
    connection: ClientSideConnection,
    talk: Talk,
    start: "_Start",
    plan: LaunchPlan,
    capabilities: AgentCapabilities | None,
) -> str:
    if plan.resume is not None:
        if capabilities is None or not capabilities.load_session:
            raise CannotResumeError("it cannot load a conversation")
        talk.is_replayed = True
        try:
            await start.within(connection.load_session(str(plan.workspace), plan.resume, mcp_servers=[]))
        except RequestError as error:
            raise CannotResumeError(f"it did not load the conversation: {error}") from error
        talk.is_replayed = False
        return plan.resume
    session = await start.within(connection.new_session(str(plan.workspace), mcp_servers=[]))
    return session.session_id


@dataclass(frozen=True, slots=True)
class _Start:
    """Bounds each answer of an agent before its first prompt, in seconds."""

    seconds: float

    async def within(self, call: Awaitable[_T]) -> _T:
        async with asyncio.timeout(self.seconds):
            return await call


async def _say_farewell(connection: ClientSideConnection, talk: Talk, work: asyncio.Task[None]) -> None:
    """Cancel the agent's turn, and give it a moment to end the turn."""
    talk.is_cancelled = True
    with anyio.CancelScope(shield=True):
        if talk.session is not None and not work.done():
            # It may be gone or not answer; uvloop raises RuntimeError for a closed pipe.
            with suppress(OSError, RuntimeError):
                async with asyncio.timeout(_FAREWELL_SECONDS):
                    await connection.cancel(talk.session)
            await asyncio.wait([work], timeout=_TURN_SECONDS)
        work.cancel()
        await asyncio.wait([work])


async def _close(connection: ClientSideConnection, program: RunningProgram) -> None:
    # The library re-raises the errors of its tasks, and a malformed message may cause any error there.
    with suppress(Exception):
        async with asyncio.timeout(_FAREWELL_SECONDS):
            await connection.close()
    with suppress(OSError):
        program.stdin.close()


async def _see_it_end(program: RunningProgram, ending: AgentEnding) -> None:
    try:
        async with asyncio.timeout(SETTLE_SECONDS if not ending.is_over else _FAREWELL_SECONDS):
            ending.status = await program.wait()
    except TimeoutError:
        await program.terminate(TERM_SECONDS)


def _failure(error: RequestError) -> Failed:
    data: object = error.data
    details = cast("dict[str, object]", data).get("details") if isinstance(data, dict) else None
    told = f"{error}: {details}" if isinstance(details, str) else str(error)
    if error.code == _AUTH_REQUIRED:
        return Failed(f"it needs a login: {told}", FailureKind.CONFIGURATION)
    return Failed(told)
