"""Decides when an agent that changed no file is asked once more, and holds the prompt for it. Pure."""

from app.agents.port import AgentTask

NUDGE = """\
No file was changed: what you wrote in your message is not in the workspace. Call the tools to change files; \
a tool call written as text has no effect. If nothing has to change, say why."""

_CHANGING_PHASES = ("discovery", "coding")


def has_to_change_files(task: AgentTask) -> bool:
    """Return True if a task asks for changed files and there are none yet."""
    return task.phase in _CHANGING_PHASES and not task.has_work
