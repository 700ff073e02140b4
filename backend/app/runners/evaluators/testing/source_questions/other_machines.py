"""Finds changes to what runs or is installed on other machines: of a CI service, or of developers. Pure."""

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


_OF_DEVELOPERS = re.compile(
    r"(?:.+/)?(?:\.(?:claude|cursor|codex|gemini)/(?:.+/)?[^/]+\.(?:json|toml|sh|py)|\.mcp\.json|\.envrc"
    r"|\.vscode/tasks\.json|\.devcontainer/.+|\.devcontainer\.json|\.(?:husky|githooks)/.+)"
)
_LOCKS = re.compile(
    r"(?:.+/)?(?:uv\.lock|poetry\.lock|pdm\.lock|pylock\..*toml|Pipfile\.lock|package-lock\.json|yarn\.lock"
    r"|pnpm-lock\.yaml|[\w.-]*requirements[\w.-]*\.txt|requirements/.+\.txt)"
)
_HOOKS = re.compile(r"^[ \t]*-?[ \t]*repo:[ \t]*['\"]?(https?://[^\s'\"]+)", re.MULTILINE)
_HOST = re.compile(r"\bhttps?://(?:[^/@\s\"']*@)?([\w.-]+)", re.IGNORECASE)


def runs_for_developers(name: str) -> bool:
    """Return True for settings by which an editor, a shell, git or a coding agent runs programs."""
    return _OF_DEVELOPERS.fullmatch(name) is not None


def new_origins(name: str, before: str, after: str) -> list[str]:
    """Return the hosts that a lock file newly names, or the repositories of new hooks of pre-commit.

    A first file names those of its tool.
    """
    origin = _HOOKS if name == ".pre-commit-config.yaml" else _HOST if _LOCKS.fullmatch(name) else None
    if not before or origin is None:
        return []
    known, found = (dict.fromkeys(each.lower() for each in origin.findall(text)) for text in (before, after))
    return [each for each in found if each not in known]
