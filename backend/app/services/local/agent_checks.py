"""Tests an installed agent in the real sandbox with a scripted model, and reports what it does."""

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import anyio.to_thread

from app.agents.external.roster import InstalledAgents
from app.agents.port import (
    Agent,
    AgentFailure,
    AgentLimits,
    AgentOutcome,
    AgentProgress,
    AgentResult,
    AgentTask,
    FailureKind,
    MessageInbox,
    SessionPlace,
)
from app.core.errors import NotFoundError
from app.gateway.asking import RetryRules
from app.gateway.gateway import ModelGateway
from app.gateway.ledger import NoLedger
from app.gateway.prices import ListPrices
from app.gateway.scripted.conversation import Speaker, turns_of
from app.gateway.scripted.requests import ScriptedRequest
from app.gateway.scripted.script import Say, Turn, write_file
from app.gateway.scripted.server import SCRIPTED_MODEL, Mode, ScriptedModelServer
from app.schemas.agents import AgentSpec
from app.workspaces.confine.sandbox import Sandbox

_MARK = "PHASERUNNER_CHECK"
_FILE, _CONTENT = "hello.txt", "Hello from a scripted model.\n"
_PROMPT = f"Write the file {_FILE} with one line of text. Then say that you are done."
_WRITES = 2
_GONE_SECONDS = 5.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class CheckStep:
    """One check of an agent.

    Attributes:
        name: the check's name, in a few words.
        ok: whether the check succeeded.
        detail: what was observed.
        seconds: wall-clock time.
    """

    name: str
    ok: bool
    detail: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class AgentChecks:
    """Checks installed agents; this needs no key and asks no model.

    Attributes:
        installed: the agents of this machine.
        sandbox: where they run.
        limits: of each task.
    """

    installed: InstalledAgents
    sandbox: Sandbox
    limits: AgentLimits

    async def check(self, name: str) -> AsyncGenerator[CheckStep]:
        """Check an agent step by step, and stop after a failure that makes further steps pointless.

        Raises:
            NotFoundError: there is no such profile.
        """
        found = await anyio.to_thread.run_sync(self.installed.describe, name)
        if found is None:
            known = ", ".join(sorted(self.installed.profiles))
            raise NotFoundError(f"there is no agent {name!r}: choose one of {known}", field="NAME")
        installed = replace(self.installed, missing_keys={})
        lacking = (await anyio.to_thread.run_sync(installed.describe, name) or found).missing
        tried = f" (profile tried with {found.tried})" if found.tried else ""
        yield CheckStep("installed", not lacking, lacking or f"version {found.version or 'unknown'}{tried}")
        state = await self.sandbox.state()
        yield CheckStep("confined", state.confined, state.detail)
        if lacking or not state.allowed:
            return
        if installed.profiles[name].asks_its_vendor:
            told = "it asks its vendor with a login, where no scripted model can answer"
            yield CheckStep("checkable", False, told)
            return
        mark = uuid4().hex
        with _temporary_place() as place:
            async for step in self._try(installed, name, {_MARK: mark, "TMPDIR": str(place)}):
                yield step
            yield await _nothing_left(mark, place)

    async def _try(
        self, installed: InstalledAgents, name: str, env: Mapping[str, str]
    ) -> AsyncGenerator[CheckStep]:
        async with ScriptedModelServer(_play) as server:
            upstreams = server.upstreams("scripted-key")
            async with ModelGateway(
                upstreams, ListPrices(), NoLedger(), retry=RetryRules(tries=1)
            ) as gateway:
                trial = _Trial(
                    server, self._agent(replace(installed, gateway=gateway), name, env), self.limits
                )
                for step in (trial.work, trial.go_on, trial.be_refused, trial.be_cancelled):
                    async for seen in step():
                        yield seen

    def _agent(self, installed: InstalledAgents, name: str, env: Mapping[str, str]) -> Agent:
        profile = installed.profiles[name]
        env = {**profile.env, **env}
        model = profile.model or SCRIPTED_MODEL
        marked = profile.model_copy(update={"env": env, "model": model})
        agent = replace(installed, profiles={name: marked}).make(name, AgentSpec())
        assert not isinstance(agent, AgentFailure)  # noqa: S101 - what the agent lacks was checked before
        return agent


class _Trial:
    """An agent at work for the check."""

    def __init__(self, server: ScriptedModelServer, agent: Agent, limits: AgentLimits) -> None:
        self._server = server
        self._agent = agent
        self._limits = limits
        self._heard: list[AgentProgress] = []

    async def work(self) -> AsyncGenerator[CheckStep]:
        """Let the agent write a file."""
        with tempfile.TemporaryDirectory(prefix="phaserunner-check-") as directory:
            workspace = Path(directory)
            begun = time.monotonic()
            outcome = await self._run(workspace)
            took = time.monotonic() - begun
            names = await anyio.to_thread.run_sync(os.listdir, workspace)
            written = await anyio.to_thread.run_sync(_read, workspace / _FILE)
        ended = isinstance(outcome, AgentResult)
        yield CheckStep("ended by itself", ended, outcome.output if ended else outcome.message, took)
        others = sorted(set(names) - {_FILE})
        told = f"left beside it: {', '.join(others)}" if others else repr(written)
        is_written = written is not None and written.strip() == _CONTENT.strip()
        yield CheckStep("file written", is_written and not others, told)
        tools = [each.tool for each in self._heard if each.tool]
        yield CheckStep(
            "progress seen", bool(self._heard), f"{len(self._heard)} lines, tools: {tools or 'none'}"
        )
        yield self._metered(outcome)

    def _metered(self, outcome: AgentOutcome) -> CheckStep:
        answered = outcome.usage.requests
        expected = answered * self._server.usage.input, answered * self._server.usage.output
        metered = outcome.usage.input_tokens, outcome.usage.output_tokens
        detail = f"{answered} requests, {metered[0]} tokens in, {metered[1]} out"
        return CheckStep("usage metered", answered > 0 and metered == expected, detail)

    async def go_on(self) -> AsyncGenerator[CheckStep]:
        """Check that the agent continues its conversation: with a message at its end and in the next attempt.

        Each start has a new process, a new gateway endpoint and a new tree, as after a worker's restart.
        """
        begun = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="phaserunner-check-") as directory:
            place = SessionPlace(Path(directory) / "sessions", "check")
            first, second = Path(directory) / "first", Path(directory) / "second"
            inbox = _OneMessage()
            outcomes: list[AgentOutcome] = []
            for tree in (first, second):
                await anyio.to_thread.run_sync(tree.mkdir)
                outcomes.append(await self._run(tree, place, inbox))
        told = "told at its end" if not inbox.text else "not told at its end"
        last = outcomes[-1]
        if isinstance(last, AgentFailure):
            yield CheckStep("conversation", False, last.message, time.monotonic() - begun)
            return
        can = last.session.continued or bool(last.session.note)
        detail = f"continued in the next attempt, {told}" if last.session.continued else last.session.note
        yield CheckStep("conversation", can, detail, time.monotonic() - begun)

    async def be_refused(self) -> AsyncGenerator[CheckStep]:
        """Check the agent's failure when the provider rejects the key."""
        self._server.behave(Mode.UNAUTHORIZED)
        begun = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="phaserunner-check-") as directory:
            outcome = await self._run(Path(directory))
        right = isinstance(outcome, AgentFailure) and outcome.kind is FailureKind.CONFIGURATION
        said = outcome.message if isinstance(outcome, AgentFailure) else f"success: {outcome.output}"
        yield CheckStep("rejected key told", right, said, time.monotonic() - begun)

    async def be_cancelled(self) -> AsyncGenerator[CheckStep]:
        """Cancel the agent while it waits for the model."""
        self._server.behave(Mode.HANG)
        seen = len(self._server.requests)
        with tempfile.TemporaryDirectory(prefix="phaserunner-check-") as directory:
            work = asyncio.create_task(self._run(Path(directory)))
            while len(self._server.requests) == seen and not work.done():
                await asyncio.wait([work], timeout=_POLL_SECONDS)
            begun = time.monotonic()
            work.cancel()
            await asyncio.wait([work])
        took = time.monotonic() - begun
        self._server.behave(Mode.OK)
        yield CheckStep("cancelled", work.cancelled(), f"ended {took:.1f} s after it was cancelled", took)

    async def _run(
        self, workspace: Path, session: SessionPlace | None = None, inbox: MessageInbox | None = None
    ) -> AgentOutcome:
        task = AgentTask("coding", 1, _PROMPT, workspace, self._limits, session=session, inbox=inbox)
        return await self._agent.run(task, self._heard.append)


@dataclass(slots=True)
class _OneMessage:
    """An inbox with one message for the end of an agent's work."""

    text: str = "Say once more that you are done."

    def of(self) -> "_OneMessage":
        return self

    async def take(self, *, at_end: bool) -> str | None:
        if not at_end or not self.text:
            return None
        message, self.text = self.text, ""
        return message


def _play(request: ScriptedRequest) -> Turn:
    """Return the next turn after the last prompt: agents put examples or earlier work before it.

    The file is written twice, because some agents put an invented reply of the model first.
    """
    lines = request.lines
    prompts = [at for at, line in enumerate(lines) if line.speaker is Speaker.USER and _PROMPT in line.text]
    done = turns_of(lines[prompts[-1] if prompts else 0 :])
    return write_file(_FILE, _CONTENT) if done < _WRITES else Say()


@contextmanager
def _temporary_place() -> Generator[Path]:
    """Make this process create its temporary files in a new directory, so that leftovers show."""
    usual = tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix="phaserunner-check-", ignore_cleanup_errors=True) as place:
        tempfile.tempdir = place
        try:
            yield Path(place)
        finally:
            tempfile.tempdir = usual


async def _nothing_left(mark: str, place: Path) -> CheckStep:
    def left() -> list[str]:
        processes = [f"process {each}" for each in _marked_processes(mark)]
        return [*processes, *sorted(os.listdir(place))]

    remains = await _until_empty(left)
    detail = ", ".join(remains) or "no process, no file, no socket"
    return CheckStep("nothing left behind", not remains, detail)


async def _until_empty(look: Callable[[], list[str]]) -> list[str]:
    """Call `look` until it finds nothing or time is up: the kernel ends processes a moment after the kill."""
    deadline = time.monotonic() + _GONE_SECONDS
    # The kernel does not report when a killed process is gone.
    while (found := await anyio.to_thread.run_sync(look)) and time.monotonic() < deadline:  # noqa: ASYNC110 - see above
        await asyncio.sleep(_POLL_SECONDS)
    return found


def _marked_processes(mark: str) -> list[int]:
    wanted = f"{_MARK}={mark}".encode()
    found: list[int] = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (each / "environ").read_bytes().split(b"\0"):
                found.append(int(each.name))
        except OSError:
            continue
    return found


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
