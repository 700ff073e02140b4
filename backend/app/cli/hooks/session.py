"""Handles an agent's hook events: starts, judges and ends a session."""

import time
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from app.cli.exits import CliError
from app.cli.hooks.answer import DEFAULT_TIMES, HookAnswer, HookReply, answer_to, no_verdict
from app.cli.hooks.protocol import HookEvent
from app.cli.hooks.state import SessionState, SessionStates
from app.cli.judging import judge_directory
from app.cli.root import Root
from app.core.errors import PhaseRunnerError
from app.schemas.project_file import PROJECT_FILE
from app.services.local.changes import commit_of, is_changed
from app.workspaces.history.git import Git
from app.workspaces.sources.copying import top_of_repository
from app.workspaces.sources.local import no_such_commit


@dataclass(frozen=True, slots=True)
class AgentHook:
    """The options with which a hook was installed.

    Attributes:
        root: the process's settings and streams.
        states: the stored state of sessions.
        base: Git reference to compare with; None is the commit at which the session started.
        times: how often a session may have findings back.
        deterministic_only: use tools only, no models.
    """

    root: Root
    states: SessionStates
    base: str | None = None
    times: int = DEFAULT_TIMES
    deterministic_only: bool = True

    async def handle(self, event: HookEvent) -> HookAnswer:
        """Answer an event. After any expected error, the agent may stop, with a warning."""
        began = time.time()
        try:
            project = await find_project(Path(event.cwd))
            return await anyio.to_thread.run_sync(self._locked, event, project, began)
        except (CliError, PhaseRunnerError, OSError) as error:
            told = error.message if isinstance(error, CliError) else str(error)
            return no_verdict(told)

    def _locked(self, event: HookEvent, project: Path, began: float) -> HookAnswer:
        # The lock is taken in a thread, because waiting for another hook must not block the event loop.
        with self.states.locked(event.session_id, project) as file:
            if event.hook_event_name == "SessionEnd":
                file.remove()
                return HookAnswer(HookReply.STOP)
            state = file.read()
            if event.hook_event_name == "SessionStart":
                state = anyio.from_thread.run(self._begun, state, project)
                file.write(state)
                return HookAnswer(HookReply.STOP)
            if event.hook_event_name != "Stop":
                return HookAnswer(HookReply.STOP)
            if state.answered_at >= began:
                # Another hook has just judged the same stop. A second count would halve the agent's tries.
                return state.last
            answer = anyio.from_thread.run(self._judged, state, project)
            file.write(state.with_answer(answer))
            return answer

    async def _begun(self, state: SessionState, project: Path) -> SessionState:
        if state.base is not None:  # a resumed session: its earlier work still counts
            return state
        return state.model_copy(update={"base": await commit_of(project, "HEAD", Git.find())})

    async def _judged(self, state: SessionState, project: Path) -> HookAnswer:
        git = Git.find()
        wanted = self.base or state.base or "HEAD"
        base = await commit_of(project, wanted, git)
        if base is None:
            told = await no_such_commit(wanted, project, git)
            raise CliError(f"base: {told}; or install the hook with --base REF")
        if not await is_changed(project, base, git):
            return HookAnswer(HookReply.STOP, returned=state.returned)
        fields = {"base": base, "deterministic_only": self.deterministic_only}
        judged = await judge_directory(self.root, project, fields)
        return answer_to(
            judged.report.verdict,
            judged.report.reason,
            judged.findings,
            returned=state.returned,
            times=self.times,
        )


async def find_project(directory: Path) -> Path:
    """Return the project of a directory: the nearest one with a phaserunner.toml, or the repository.

    Raises:
        CliError: the directory does not exist or is not in a git repository.
    """
    if not await anyio.Path(directory).is_dir():
        raise CliError(f"cwd: {directory} is not a directory")
    resolved = Path(await anyio.Path(directory).resolve())
    top = await top_of_repository(resolved, Git.find())
    if top is None:
        raise CliError(f"cwd: {directory} is not in a git repository, so there is no base; run: git init")
    for each in (resolved, *resolved.parents):
        if each == top or await anyio.Path(each, PROJECT_FILE).is_file():
            return each
    return top
