"""The agent without a model: plays a script of edits, for demonstrations and end-to-end tests."""

import asyncio
from datetime import UTC, datetime
from typing import assert_never

import anyio.to_thread

from app.agents.files import FileRefusedError, WorkspaceFiles
from app.agents.port import (
    AgentFailure,
    AgentOutcome,
    AgentProgress,
    AgentResult,
    AgentTask,
    AgentUsage,
    FailureKind,
    ProgressKind,
    ReportProgress,
)
from app.schemas.agent_script import AgentScript, DeleteEdit, ReplaceEdit, ScriptEdit, ScriptStep, WriteEdit

_TOOLS = {"write": "write_file", "replace": "edit_file", "delete": "delete_file"}


class ScriptedAgent:
    """Plays step n of a phase in attempt n. The last step repeats.

    It works under the same rules as an agent with a model: it only learns from the prompt what failed. So a
    step fails if the prompt does not contain its `expects`.
    """

    def __init__(self, script: AgentScript) -> None:
        self._script = script

    @property
    def name(self) -> str:
        """The name, which says that no model is at work."""
        return "scripted (no model)"

    @property
    def provider(self) -> str:
        """`scripted`."""
        return "scripted"

    @property
    def model(self) -> str | None:
        """None."""
        return None

    async def run(self, task: AgentTask, report: ReportProgress) -> AgentOutcome:
        """Play the step of the task's phase and attempt."""
        step = self._script.step(task.phase, task.attempt, task.prompt)
        if step is None:
            return _failure(
                FailureKind.CONFIGURATION,
                f"the script {self._script.title!r} has no steps for the phase {task.phase}",
            )
        missing = [text for text in step.expects if text not in task.prompt]
        if missing:
            told = ", ".join(map(repr, missing))
            return _failure(
                FailureKind.CONFIGURATION,
                f"the script expects attempt {task.attempt} of {task.phase} to be told {told}; "
                "the prompt does not contain it",
            )
        try:
            async with asyncio.timeout(task.limits.seconds):
                return await _play(step, WorkspaceFiles(task.workspace), report)
        except TimeoutError:
            return _failure(
                FailureKind.LIMIT, f"the script took longer than the limit of {task.limits.seconds:g} s"
            )


async def _play(step: ScriptStep, files: WorkspaceFiles, report: ReportProgress) -> AgentOutcome:
    for line in step.progress:
        _tell(report, ProgressKind.TEXT, line)
    for done, edit in enumerate(step.edits):
        # Yield even without a pause: a script must not keep other tasks from running.
        await asyncio.sleep(edit.pause_seconds)
        tool = _TOOLS[edit.kind]
        _tell(report, ProgressKind.TOOL_CALL, edit.path, tool)
        try:
            result = await anyio.to_thread.run_sync(_apply, edit, files)
        except FileRefusedError as error:
            _tell(report, ProgressKind.TOOL_RESULT, str(error), tool)
            # The same script fails on the same tree in the same way, so only a person can fix it.
            message = f"edit {done + 1} of the script cannot be created: {error}"
            return _failure(FailureKind.CONFIGURATION, message, done)
        _tell(report, ProgressKind.TOOL_RESULT, result, tool)
    _tell(report, ProgressKind.TEXT, step.say)
    return AgentResult(step.say, _usage(len(step.edits)))


def _apply(edit: ScriptEdit, files: WorkspaceFiles) -> str:
    match edit:
        case WriteEdit():
            is_new = files.write(edit.path, edit.content)
            return f"{'created' if is_new else 'wrote'} {edit.path}"
        case ReplaceEdit():
            files.replace(edit.path, edit.old, edit.new)
            return f"edited {edit.path}"
        case DeleteEdit():
            files.delete(edit.path)
            return f"deleted {edit.path}"
        case _:
            assert_never(edit)


def _tell(report: ReportProgress, kind: ProgressKind, text: str, tool: str | None = None) -> None:
    report(AgentProgress(kind, text, datetime.now(UTC), tool))


def _usage(tool_calls: int) -> AgentUsage:
    return AgentUsage(tool_calls=tool_calls, cost_usd=0.0)


def _failure(kind: FailureKind, message: str, tool_calls: int = 0) -> AgentFailure:
    return AgentFailure(kind, message, _usage(tool_calls))
