"""Switches of the operator: how workspaces are confined, and with what they are judged."""

from enum import StrEnum


class SandboxMode(StrEnum):
    """`REQUIRED`: confined or not at all. `PREFERRED`: confined where possible. `OFF`: never confined."""

    REQUIRED = "required"
    PREFERRED = "preferred"
    OFF = "off"


class ConfinementKind(StrEnum):
    """What confines programs: bubblewrap, containers of Docker or Podman, macOS's sandbox, or nothing."""

    BUBBLEWRAP = "bubblewrap"
    CONTAINER = "container"
    SEATBELT = "seatbelt"
    OFF = "off"


class EnvironmentMode(StrEnum):
    """`AUTO`: each project with the packages it declares. `OFF`: all with the service's own interpreter."""

    AUTO = "auto"
    OFF = "off"


class CounterTestsMode(StrEnum):
    """Whether tests must notice wrong expectations.

    `GATE`: tests that do not count against the candidate. `NOTE`: they are reported. `OFF`: nothing is tried.
    """

    GATE = "gate"
    NOTE = "note"
    OFF = "off"


class InProcessOnly(StrEnum):
    """What becomes of a pass for which only the process of the candidate's own code speaks.

    `NOTE`: the result says so. `ASK`: a person is asked when everything else holds. `FAIL`: it is no pass.
    """

    NOTE = "note"
    ASK = "ask"
    FAIL = "fail"


class ProjectFileMode(StrEnum):
    """`HONOUR`: a project's file counts. `IGNORE`: the operator's evaluators alone judge."""

    HONOUR = "honour"
    IGNORE = "ignore"
