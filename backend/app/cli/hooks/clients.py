"""The programs that call hooks; the help imports them without what evaluates."""

from enum import StrEnum


class HookClient(StrEnum):
    """Programs that call hooks."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    OPENCODE = "opencode"
    GIT_PRE_PUSH = "git-pre-push"
