"""Finds changes to what a CI service runs that reach its secrets, its permissions or other hosts. Pure."""

import re

_FILES = re.compile(
    r"\.github/(?:workflows|actions)/.+\.ya?ml|\.gitlab-ci\.ya?ml|\.circleci/.+\.ya?ml|azure-pipelines\.ya?ml"
    r"|bitbucket-pipelines\.ya?ml|\.travis\.ya?ml|\.drone\.ya?ml|Jenkinsfile"
)
_REACHES = re.compile(
    r"\bsecrets\b|\bpermissions\b|:\s*write\b|write-all|pull_request_target|workflow_run|\bcurl\b|\bwget\b|https?://"
    r"|base64\s+(?:-d|--decode)|\|\s*(?:ba)?sh\b|TOKEN|PASSWORD",
)


def is_of_ci(name: str) -> bool:
    """Return True for a file that a CI service runs."""
    return _FILES.fullmatch(name) is not None


def new_reach(before: str, after: str) -> list[str]:
    """Return the lines of such a file that are new and reach beyond its job. Comments do not count."""
    known = {each.strip() for each in before.splitlines()}
    lines = [each.strip() for each in after.splitlines()]
    return [each for each in lines if each not in known and each[:1] != "#" and _REACHES.search(each)]
