"""What commands share before anything is imported: exit codes, the error that carries one, and a spelling."""

from enum import IntEnum

STANDARD_STREAM = "@-"
"""What a lone hyphen is read as: the parser would take that for an option. curl spells it so, too."""


class ExitCode(IntEnum):
    """How a command ended."""

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
    """The command cannot go on.

    Attributes:
        message: one line for the user that says what is wrong and what to do.
        code: the exit code.
    """

    def __init__(self, message: str, code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
