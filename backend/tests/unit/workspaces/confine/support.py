"""Runs Python programs in a sandbox."""

import json
import sys
from pathlib import Path

from app.workspaces.confine.confinement import Confinement, Network
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.process import ProcessOutcome

PYTHON = Path(sys.executable)
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


async def run_python(sandbox: Sandbox, place: Path, code: str, **options: object) -> ProcessOutcome:
    readable = (*interpreter_paths(PYTHON), *options.pop("readable", ()))  # type: ignore[misc]
    network = options.pop("network", Network.NONE)
    assert isinstance(network, Network)
    confinement = Confinement(writable=(place,), readable=readable, network=network)
    return await sandbox.run(
        [str(PYTHON), "-I", "-c", code],
        cwd=place,
        env=ENV,
        timeout=float(str(options.pop("timeout", 30))),
        confinement=confinement,
        **options,  # type: ignore[arg-type]
    )


async def said(sandbox: Sandbox, place: Path, code: str, **options: object) -> object:
    """Run a program and return what it prints as JSON."""
    outcome = await run_python(sandbox, place, code, **options)
    assert outcome.returncode == 0, outcome.stderr
    return json.loads(outcome.stdout)
