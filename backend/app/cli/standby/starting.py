"""Starts the standby process for later hooks."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from app.cli.standby.surroundings import interpreter_variables


def start_standby(seconds: float) -> None:
    """Start the standby process, which waits up to `seconds` for each next hook.

    If it cannot start, hooks work without it. It gets no variable of the caller that another hook should not
    see, such as keys. If this process imported the model library, the standby process does, too.
    """
    if not seconds or not sys.platform.startswith("linux"):
        return
    models = ["models"] if "pydantic_ai" in sys.modules else []
    command = [sys.executable, "-P", "-m", f"{__package__}.serving", f"{seconds:g}", *models]
    nothing = subprocess.DEVNULL
    with suppress(OSError, RuntimeError):  # no memory, or a user without a home
        env = {"HOME": str(Path.home()), "PATH": os.defpath, **interpreter_variables()}
        subprocess.Popen(
            command, cwd="/", env=env, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
        )
