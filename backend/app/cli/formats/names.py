"""The names of the formats, separate from their code, which help does not need."""

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
