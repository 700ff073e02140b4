"""Asks a project's interpreter what is installed, out of reach of the evaluated code."""

import os
from pathlib import Path

from app.runners.evaluators.testing.run import Harness, run_directory
from app.workspaces.confine.confinement import Confinement
from app.workspaces.confine.python_places import interpreter_paths

_ASK = "import importlib.util, sys; sys.exit(2 if importlib.util.find_spec(sys.argv[1]) is None else 3)"
_ABSENT = 2


async def has_module(harness: Harness, module: str) -> bool:
    """Tell whether an interpreter has a top-level module, standard library included.

    Whatever keeps it from answering counts as if it had the module: then nothing is put down to its lack.

    Raises:
        SandboxUnavailableError: it cannot be confined here.
    """
    # Not resolved: an environment is known by the link to its interpreter.
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
