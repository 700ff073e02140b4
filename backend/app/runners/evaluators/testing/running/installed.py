"""Asks a project's interpreter which modules are installed, out of reach of the evaluated code."""

import os
from pathlib import Path

from app.runners.evaluators.testing.running.run import Harness, run_directory
from app.workspaces.confine.confinement import Confinement
from app.workspaces.confine.python_places import interpreter_paths

_ASK = "import importlib.util, sys; sys.exit(2 if importlib.util.find_spec(sys.argv[1]) is None else 3)"
_ABSENT = 2


async def has_module(harness: Harness, module: str) -> bool:
    """Return True if an interpreter has a top-level module, including the standard library's.

    If it cannot answer, it counts as having the module, so that no failure is attributed to a missing one.

    Raises:
        SandboxUnavailableError: it cannot be confined here.
    """
    # Not resolved, because an environment is identified by the link to its interpreter.
    python = Path(os.path.abspath(harness.python))  # noqa: ASYNC240 - asks nothing of the file system
    async with run_directory() as place:
        outcome = await harness.sandbox.run(
            [str(python), "-I", "-B", "-c", _ASK, module],
            cwd=place,
            env={"PATH": f"{python.parent}:/usr/bin:/bin", "HOME": str(place), "LANG": "C.UTF-8"},
            timeout=harness.seconds,
            confinement=Confinement(writable=(place,), readable=interpreter_paths(python)),
        )
    return outcome.returncode != _ABSENT
