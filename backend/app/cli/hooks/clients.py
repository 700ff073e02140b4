"""The programs that call hooks, separate from the evaluation code, which help does not need."""

from enum import StrEnum


class HookClient(StrEnum):
    """Programs that call hooks."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    OPENCODE = "opencode"
    GIT_PRE_PUSH = "git-pre-push"
