"""Exit codes, the error that carries one, and the spelling of standard streams. Imports nothing heavy."""

from enum import IntEnum

STANDARD_STREAM = "@-"
"""Replaces a lone hyphen, which the parser would take for an option. curl uses the same form."""


class ExitCode(IntEnum):
    """The exit code of a command."""

    PASSED = 0
    FAILED = 1
    USAGE = 2
    WAITING = 3
    AUTH = 4
    TRANSPORT = 5
    INFRASTRUCTURE = 6
    TIMEOUT = 124
    INTERRUPTED = 130


class CliError(Exception):
    """The command cannot continue.

    Attributes:
        message: one line for the user that says what is wrong and what to do.
        code: the exit code.
    """

    def __init__(self, message: str, code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
