"""The operator's switches: how workspaces are confined, and how they are judged."""

from enum import StrEnum


class SandboxMode(StrEnum):
    """`REQUIRED`: programs run confined or not at all. `PREFERRED`: confined if possible. `OFF`: never."""

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
    """`AUTO`: each project runs with the packages it declares. `OFF`: all use the service's interpreter."""

    AUTO = "auto"
    OFF = "off"


class EnvironmentBuild(StrEnum):
    """Which packages are built from source, which runs their code in the sandbox.

    `MISSING`: what the base declares and has no wheel, after everything else is installed. `ALWAYS`: whatever
    the installer chooses. `NEVER`: none.
    """

    MISSING = "missing"
    ALWAYS = "always"
    NEVER = "never"

    @classmethod
    def _missing_(cls, value: object) -> "EnvironmentBuild | None":
        """Accept the values of the switch that this once was."""
        return {"true": cls.ALWAYS, "false": cls.NEVER}.get(str(value).lower())


class CandidateDependencies(StrEnum):
    """What happens to dependencies that only a candidate declares, or in other releases than the base.

    `ASK`: they are installed if its tests or types need them, and a person is asked if everything else holds.
    `INSTALL`: they are always installed. `REFUSE`: never.
    """

    ASK = "ask"
    INSTALL = "install"
    REFUSE = "refuse"

    @classmethod
    def _missing_(cls, value: object) -> "CandidateDependencies | None":
        """Accept the values of the switch that this once was."""
        return {"true": cls.INSTALL, "false": cls.REFUSE}.get(str(value).lower())


class CounterTestsMode(StrEnum):
    """Whether tests must notice wrong expectations.

    `GATE`: tests that do not notice them count against the candidate. `NOTE`: they are reported.
    `OFF`: there is no check.
    """

    GATE = "gate"
    NOTE = "note"
    OFF = "off"


class InProcessOnly(StrEnum):
    """The effect of a pass that only the process with the candidate's own code confirms.

    `NOTE`: the result says so. `ASK`: a person is asked if everything else holds. `FAIL`: it is not a pass.
    """

    NOTE = "note"
    ASK = "ask"
    FAIL = "fail"


class UntestedCode(StrEnum):
    """The effect of new statements that ran in no test.

    `NOTE`: the result names them. `ASK`: a person is asked if everything else holds. `FAIL`: the tests do not
    pass.
    """

    NOTE = "note"
    ASK = "ask"
    FAIL = "fail"


class ProjectFileMode(StrEnum):
    """`HONOUR`: a project file takes effect. `IGNORE`: only the operator's evaluators judge."""

    HONOUR = "honour"
    IGNORE = "ignore"
