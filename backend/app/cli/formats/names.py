"""The names of the formats; the help imports them without what writes them."""

from enum import StrEnum


class ReportFormat(StrEnum):
    """Formats of `phaserunner evaluate`."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    GITLAB = "gitlab"
    SARIF = "sarif"
    JUNIT = "junit"
    MARKDOWN = "markdown"
