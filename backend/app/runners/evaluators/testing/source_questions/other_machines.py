"""Finds changes to what runs or is installed on other machines: of a CI service, or of developers. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_OF_CI = (
    r"\.github/(?:workflows|actions)/.+\.ya?ml|\.gitlab-ci\.ya?ml|\.circleci/.+\.ya?ml|azure-pipelines\.ya?ml"
    r"|bitbucket-pipelines\.ya?ml|\.travis\.ya?ml|\.drone\.ya?ml|Jenkinsfile"
)
_RUNS_TESTS = r"tox\.ini|setup\.cfg|pyproject\.toml|(?:GNU)?[Mm]akefile|justfile|noxfile\.py"


@dataclass(frozen=True, slots=True)
class Reach:
    """What a new line of a file can do beyond the code.

    Attributes:
        says: what a question says of the file, before it quotes the line.
        why: why a person is asked.
    """

    says: str
    why: str


_REACHES: tuple[tuple[re.Pattern[str], re.Pattern[str], Reach], ...] = (
    (
        re.compile(_OF_CI),
        re.compile(
            r"\bsecrets\b|\bpermissions\b|:\s*write\b|write-all|pull_request_target|workflow_run"
            r"|\bcurl\b|\bwget\b|https?://|base64\s+(?:-d|--decode)|\|\s*(?:ba)?sh\b|TOKEN|PASSWORD"
        ),
        Reach(
            "which the CI service runs, has new lines such as",
            "They reach secrets, permissions or other hosts. No test runs this file.",
        ),
    ),
    (
        re.compile(f"{_OF_CI}|{_RUNS_TESTS}"),
        re.compile(
            r"\bcontinue-on-error:\s*true|\ballow_failure:\s*true|\bignore_outcome\s*=\s*true"
            r"|\b(?:pytest|tox|nox|mypy|pyright|ruff|flake8|pylint|tests?)\b.*\|\|\s*(?:true|:)(?:\s|$)",
            re.IGNORECASE,
        ),
        Reach("which runs tests or other checks, newly ignores failures:", "A check that fails then passes."),
    ),
    (
        re.compile(r"(?:.+/)?\.gitattributes"),
        re.compile(r"\s(?:-diff|linguist-generated|linguist-vendored|filter=)", re.IGNORECASE),
        Reach("by which git and forges show files, has the new line", "Reviewers may no longer see changes."),
    ),
    (
        re.compile(r"(?:\.github/|\.gitlab/|docs/)?CODEOWNERS"),
        re.compile(r"\S"),
        Reach("which says who must agree, has the new line", "Other people then decide what is merged."),
    ),
)


def new_reach(name: str, before: str, after: str) -> Iterator[tuple[Reach, list[str]]]:
    """Yield what the new lines of a file can do beyond the code. Comments do not count."""
    known = {each.strip() for each in before.splitlines()}
    new = [line for each in after.splitlines() if (line := each.strip()) not in known and line[:1] != "#"]
    for files, lines, reach in _REACHES:
        if files.fullmatch(name) and (found := [each for each in new if lines.search(f" {each}")]):
            yield reach, found


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
