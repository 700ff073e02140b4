"""Finds conditions that hide code from type checkers, such as `if not TYPE_CHECKING:`."""

import tokenize
from collections.abc import Iterable, Iterator, Sequence

_NEVER_FOR_CHECKERS = frozenset({"TYPE_CHECKING", "MYPY"})
_LINE_STARTS = frozenset({tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT})
_NOT_CODE = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE})


def hiding_conditions(tokens: Iterable[tokenize.TokenInfo]) -> Iterator[tuple[tokenize.TokenInfo, str]]:
    """Yield the names in conditions that hide code from checkers without an alternative for them.

    Each comes with the text that shows them the code.
    """
    code = [each for each in tokens if each.type not in (tokenize.NL, tokenize.COMMENT)]
    for index, token in enumerate(code):
        if token.type == tokenize.NAME and token.string in _NEVER_FOR_CHECKERS:
            start = index - 2 if texts_at(code, index - 1, 1) == ["."] else index
            if texts_at(code, index + 1, 1) != [":"] or texts_at(code, start - 1, 1) == ["not"]:
                if _skips(code, start, index):
                    yield token, "__name__"
            elif _hides(code, start, index):
                yield token, "__name__"
            elif _defines_apart(code, start, index):
                # The checker gets the other branch, which is the one that runs.
                yield code[start], f"not {code[start].string}"


def _hides(code: list[tokenize.TokenInfo], start: int, end: int) -> bool:
    body = code[end + 2 :]
    # `if TYPE_CHECKING: pass` with the real code in the `else`.
    if texts_at(code, start - 1, 1) == ["if"]:
        inside = [each.string for each in _block(body) if each.type not in _NOT_CODE]
        return inside in (["pass"], ["..."]) and _after_block(body) == "else"
    return False


def _skips(code: list[tokenize.TokenInfo], start: int, end: int) -> bool:
    """Return True if a condition has `not` before a name, in any number of brackets, and no alternative."""
    negations, before = 0, start - 1
    while before > 0 and code[before].string in ("not", "("):
        negations += code[before].string == "not"
        before -= 1
    first = start
    while first > 0 and code[first - 1].type not in _LINE_STARTS:
        first -= 1
    if negations % 2 == 0 or code[first].string not in ("if", "elif"):
        return False
    rest = code[end + 1 :]
    colon = next((place for place, each in enumerate(rest) if each.string == ":"), len(rest))
    return _after_block(rest[colon + 1 :]) not in ("else", "elif")


def _defines_apart(code: list[tokenize.TokenInfo], start: int, end: int) -> bool:
    """Return True if the code that runs in place of the checker's branch defines non-trivial functions."""
    body = code[end + 2 :]
    if texts_at(code, start - 1, 1) != ["if"] or _after_block(body) != "else":
        return False
    shown = [each.string for each in _block(body)]
    length = len(list(_block(body)))
    other = [each for each in _block(body[length + 2 :]) if each.type not in _NOT_CODE]
    names = [each.string for each in other]
    return "def" in shown and "def" in names and "return" in names


def _block(body: list[tokenize.TokenInfo]) -> Iterator[tokenize.TokenInfo]:
    """Return the tokens of the block that begins after a colon."""
    depth = 0
    indented = len(body) > 1 and body[1].type == tokenize.INDENT
    for token in body:
        yield token
        depth += (token.type == tokenize.INDENT) - (token.type == tokenize.DEDENT)
        if depth == 0 and token.type == (tokenize.DEDENT if indented else tokenize.NEWLINE):
            return


def _after_block(body: list[tokenize.TokenInfo]) -> str:
    length = sum(1 for _ in _block(body))
    return body[length].string if length < len(body) else ""


def texts_at(code: Sequence[tokenize.TokenInfo], start: int, count: int) -> list[str]:
    """Return the texts of tokens from a place; none for a place before the first."""
    return [each.string for each in code[max(0, start) : start + count]] if start >= 0 else []
