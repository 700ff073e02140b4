"""`completion`: prints a script with which a shell completes commands and options."""

from typing import Literal

from app.cli.exits import ExitCode
from app.cli.root import RootArgument

_PROGRAM = "phaserunner"
_FILES = {
    "bash": f"~/.local/share/bash-completion/completions/{_PROGRAM}",
    "zsh": f"_{_PROGRAM} in a directory of $fpath",
    "fish": f"~/.config/fish/completions/{_PROGRAM}.fish",
}
"""Where shells look for scripts."""


def completion(shell: Literal["bash", "zsh", "fish"], /, *, root: RootArgument) -> int:
    """Print a script that completes commands and options in a shell.

    Args:
        shell: The shell that reads it.
    """
    from app.cli.main import build_app  # noqa: PLC0415 - the entry point imports every command by name

    script = build_app().generate_completion(prog_name=_PROGRAM, shell=shell)
    root.out.file.write(script)
    if root.out.is_terminal:
        root.err.print(f"Write it to {_FILES[shell]}", soft_wrap=True)
    return ExitCode.PASSED
