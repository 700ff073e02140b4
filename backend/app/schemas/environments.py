"""Whether workspaces are judged with the dependencies that they declare."""

from enum import StrEnum


class EnvironmentMode(StrEnum):
    """`AUTO`: each with its own, where it declares any. `OFF`: all with the service's own interpreter."""

    AUTO = "auto"
    OFF = "off"
