"""Runs a loop's script in the sandbox, in an empty directory or on a copy of a workspace."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from app.agents.files import FileRefusedError
from app.runners.loop.roles import ScriptTask, Trouble
from app.runners.loop.tree import copied_tree
from app.schemas.loop.results import FailureReason, ScriptOutput
from app.schemas.text import storable_text
from app.workspaces.confine.confinement import Confinement
from app.workspaces.confine.sandbox import Sandbox, SandboxUnavailableError

OUTPUT_BYTES = 64_000
"""Bytes kept of each stream, from its beginning and its end."""

_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxedScript:
    """Runs scripts in the sandbox, without a network. Each run starts from the same files.

    Attributes:
        sandbox: confines the scripts.
        workspace: the scripts run in a copy of this directory; None means an empty directory.
    """

    sandbox: Sandbox
    workspace: Path | None = None

    async def __call__(self, task: ScriptTask) -> ScriptOutput | Trouble:
        """Run a script to its end. A script that cannot start or does not end in time is trouble."""
        try:
            async with copied_tree(self.workspace, task.files) as work:
                return await self._run(task, work)
        except FileRefusedError as error:
            return Trouble(FailureReason.EXECUTION_HALTED, f"output_file: {error}")

    async def _run(self, task: ScriptTask, work: Path) -> ScriptOutput | Trouble:
        if not _is_there(task.argv[0], work):
            return Trouble(FailureReason.EXECUTION_HALTED, f"there is no program {task.argv[0]}")
        env = {"PATH": _PATH, "HOME": str(work), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
        try:
            outcome = await self.sandbox.run(
                task.argv,
                cwd=work,
                env=env,
                timeout=task.timeout,
                confinement=Confinement(writable=(work,)),
                output_limit=OUTPUT_BYTES,
                stdin=task.stdin.encode("utf-8", "replace"),
            )
        except SandboxUnavailableError as error:
            return Trouble(FailureReason.EXECUTION_HALTED, f"the script cannot be confined: {error}")
        except (OSError, ValueError) as error:
            # A word contains a NUL, or there are more words than the system allows.
            return Trouble(FailureReason.EXECUTION_HALTED, f"{task.argv[0]} cannot be started: {error}")
        if outcome.timed_out:
            text = f"{task.argv[0]} did not finish within {task.timeout:g} seconds"
            return Trouble(FailureReason.EXECUTION_TIMEOUT, text)
        return ScriptOutput(
            stdout=storable_text(outcome.stdout),
            stderr=storable_text(outcome.stderr),
            exitCode=outcome.returncode if outcome.returncode >= 0 else 128 - outcome.returncode,
        )


def _is_there(program: str, work: Path) -> bool:
    """Return True if a program can be found.

    The sandbox would report a missing program as an exit status of the script.
    """
    if "/" in program:
        return (work / program).exists()
    return shutil.which(program, path=_PATH) is not None
