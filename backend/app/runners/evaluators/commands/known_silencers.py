"""Decides which new comments that silence a checker are as the base has them. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from app.runners.evaluators.commands.line_findings import SILENCED
from app.runners.evaluators.static.baseline import Finding
from app.runners.evaluators.static.silencers import BARE_PRACTICE, PRACTICE

# The rules that a comment names, for one line or for more. What does not match names none.
_COMMENT = re.compile(
    r"eslint-disable(?P<line>-next-line|-line)?(?P<eslint>(?:(?!--|\*/).)*)"
    r"|#(?P<inner>!)?\[\s*(?:cfg_attr\([^)]*,\s*)?(?:allow|expect)\s*\((?P<rust>[^)]*)"
    r"|//\s*nolint:(?P<go>[\w,-]+)|//(?P<build>go:build ignore)"
)
_REASON = re.compile(r"\breason\s*=.*", re.DOTALL)
_RULE = re.compile(r"[@\w][\w/:@-]*")
_BARE = "bare"
_WIDE = "wide"

Kinds = frozenset[tuple[str, str]]


def known_comments(
    found: Collection[Finding], at_base: Sequence[Finding], here: Sequence[Finding]
) -> set[Finding]:
    """Return which of a candidate's new comments the base has in other places, or has a practice of.

    A comment may move to another file. One that names its rules is as the base has them if at least two
    comments at the base name each rule, for as many lines; ten if it names none.

    Args:
        found: the new ones.
        at_base: all comments of the base.
        here: all comments of the candidate.
    """
    left = Counter(each.message for each in at_base)
    left.subtract(each.message for each in here if each not in found)
    practised = Counter(kind for each in at_base for kind in kinds_of(each.message))
    known: set[Finding] = set()
    for each in sorted(found):
        if each.rule != SILENCED:
            continue
        kinds = kinds_of(each.message)
        if left[each.message] > 0:
            left[each.message] -= 1
            known.add(each)
        elif all(practised[kind] >= (BARE_PRACTICE if _BARE in kind else PRACTICE) for kind in kinds):
            known.add(each)
    return known


def kinds_of(comment: str) -> Kinds:
    """Return the rules that a comment names, each with the scope in which it silences them."""
    kinds: set[tuple[str, str]] = set()
    for match in _COMMENT.finditer(comment):
        named = match["eslint"] or _REASON.sub("", match["rust"] or "")
        named = named or match["go"] or match["build"] or ""
        is_wide = match["inner"] is not None or (match["eslint"] is not None and match["line"] is None)
        scope = _WIDE if is_wide else ""
        kinds.update((scope, rule) for rule in _RULE.findall(named) or [_BARE])
    return frozenset(kinds or {("", _BARE)})


def suppressed_as_at_base(found: Iterable[Finding], at_base: Collection[Finding]) -> set[Finding]:
    """Return which findings that comments suppress are of rules that comments suppress at the base, too.

    They do so twice, or once in the same file.

    Args:
        found: of the candidate.
        at_base: of the base.
    """
    rules = Counter(each.rule for each in at_base)
    places = {(each.file, each.rule) for each in at_base}
    return {each for each in found if rules[each.rule] >= PRACTICE or (each.file, each.rule) in places}
