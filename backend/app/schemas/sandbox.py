"""Whether programs that must not be trusted are confined."""

from enum import StrEnum


class SandboxMode(StrEnum):
    """`REQUIRED`: confined or not at all. `PREFERRED`: confined where possible. `OFF`: never confined."""

    REQUIRED = "required"
    PREFERRED = "preferred"
    OFF = "off"
