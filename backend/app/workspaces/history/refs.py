"""Checks names that git accepts for a branch, and names that we pass to git as a revision."""

import re

from app.core.errors import InvalidInputError

# git-check-ref-format(1)
_NOT_IN_A_BRANCH = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)")
_NOT_IN_A_REVISION = re.compile(r"[\x00-\x1f\x7f]")


def check_branch(name: str, field: str = "branch") -> str:
    """Return `name` if it can be a branch or tag, also of a remote repository.

    Raises:
        InvalidInputError: it cannot.
    """
    refused = (
        not name
        or name.startswith(("-", "+", "/", "."))
        or name.endswith(("/", "."))
        or name == "@"
        or _NOT_IN_A_BRANCH.search(name) is not None
    )
    if refused:
        raise InvalidInputError(f"{name!r} is not a branch name", field=field)
    return name


def check_revision(name: str, field: str = "source.ref") -> str:
    """Return `name` if it may be looked up. Options and names with control characters are refused.

    Raises:
        InvalidInputError: it may not.
    """
    if not name or name.startswith("-") or _NOT_IN_A_REVISION.search(name):
        raise InvalidInputError(f"{name!r} is not a commit, branch or tag", field=field)
    return name
