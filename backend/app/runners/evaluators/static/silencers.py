"""Finds comments and decorators with which code silences static tools, and removes the new ones."""

import io
import re
import tokenize
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher

from app.runners.evaluators.static.hiding_conditions import hiding_conditions, texts_at
from app.runners.evaluators.static.silencing_comments import BARE, NAMED, Tool, silencing_comment

_Lines = Counter[str]

PRACTICE = 2
"""With this many comments of a kind, the base has a practice of them."""

BARE_PRACTICE = 10
"""The same for comments that name no error, and for comments that name linter rules of any kind."""

_ALIKE = 0.75
"""A line that shares this much with another one may be its new version."""

_MAYBE_LINT = re.compile(r"noqa|(?:ruff|flake8|isort)\s*:", re.IGNORECASE)
_MAYBE_TYPES = re.compile(
    r"type\s*:\s*ignore|#\s*(?:mypy|pyright|basedpyright|ty|pyrefly)\s*:|no_type_check|TYPE_CHECKING|\bMYPY\b"
    r"|\bcast\b",
    re.IGNORECASE,
)
_NEVER_RETURNS = frozenset({"NoReturn", "Never"})


@dataclass(frozen=True, slots=True)
class Silencer:
    """A place that silences a tool.

    Attributes:
        line: from 1.
        start: column of the text, from 0.
        text: the text at that place.
        replacement: the new text; `""` also removes blanks before it.
        whole: the line without surrounding blanks, by which it is recognised.
        alone: True if the line holds nothing else, so that it may apply to more than one line.
        kinds: for a comment on one line: the tool if it names the type errors that it hides, `bare` if it
            hides
            all of them, the codes and `named` if it hides rules of the linter. Empty for any other silencer.
    """

    line: int
    start: int
    text: str
    replacement: str
    whole: str
    alone: bool
    kinds: tuple[str, ...] = ()


@dataclass(slots=True)
class KnownSilencers:
    """The silencers of the base.

    Attributes:
        by_file: by file.
        elsewhere: those of lines that are no longer at their old place.
        rewritten: by file, those of lines that the candidate does not have; each may stay on its line's new
            version.
        practised: kinds of comments for one line that are a practice of the base.
        familiar: kinds of which the base has at least one.
    """

    by_file: Mapping[str, _Lines] = field(default_factory=dict[str, _Lines])
    elsewhere: _Lines = field(default_factory=_Lines)
    practised: frozenset[str] = frozenset()
    familiar: frozenset[str] = frozenset()
    rewritten: Mapping[str, list[Silencer]] = field(default_factory=dict[str, list[Silencer]])

    def new_among(self, name: str, found: Iterable[Silencer]) -> list[Silencer]:
        """Return those that do not count: the base does not have them, and does not hide errors in this way.

        A known silencer is used up by a match.
        """
        own = self.by_file.get(name, _Lines())
        new: list[Silencer] = []
        for each in found:
            place = own if own[each.whole] > 0 else self.elsewhere
            if place[each.whole] > 0:
                place[each.whole] -= 1
            elif not (self._is_practised(each.kinds) or self._stays_on_its_line(name, each)):
                new.append(each)
        return new

    def _stays_on_its_line(self, name: str, silencer: Silencer) -> bool:
        left = self.rewritten.get(name, [])
        for each in left:
            if each.text == silencer.text and not silencer.alone and _is_alike(each, silencer):
                left.remove(each)
                return True
        return False

    def _is_practised(self, kinds: Collection[str]) -> bool:
        if NAMED in kinds and NAMED in self.practised:
            return True
        return bool(kinds) and self.practised.issuperset(set(kinds) - {NAMED})


def known_silencers(
    base: Mapping[str, Iterable[Silencer]], candidate: Mapping[str, Iterable[Silencer]]
) -> KnownSilencers:
    """Return the silencers that a candidate may keep: those of its base, even if their lines have moved.

    Args:
        base: silencers of the base by file.
        candidate: those of the candidate.
    """
    by_file = {name: Counter(each.whole for each in found) for name, found in base.items()}
    elsewhere = _Lines()
    rewritten: dict[str, list[Silencer]] = {}
    for name, lines in by_file.items():
        here = Counter(each.whole for each in candidate.get(name, ()))
        elsewhere += lines - here
        rewritten[name] = [each for each in base[name] if not here[each.whole]]
    kinds = Counter(kind for found in base.values() for each in found for kind in each.kinds)
    practised = frozenset(
        kind
        for kind, count in kinds.items()
        if count >= (BARE_PRACTICE if kind in (BARE, NAMED) else PRACTICE)
    )
    # A base that hides all errors of a line accepts comments that name exactly what they hide.
    if kinds[BARE] + kinds["type"] >= PRACTICE:
        practised |= {"type"}
    familiar = set(kinds)
    if kinds[BARE]:
        familiar.add("type")
    return KnownSilencers(by_file, elsewhere, practised, frozenset(familiar), rewritten)


def _is_alike(one: Silencer, other: Silencer) -> bool:
    """Return True if two lines may be versions of one. Their comments are equal and do not count."""
    texts = (each.whole.removesuffix(each.text).rstrip() for each in (one, other))
    return SequenceMatcher(None, *texts, autojunk=False).ratio() >= _ALIKE


def names_rule(silencer: Silencer, rule: str) -> bool:
    """Return True if a comment hides a rule. Some name it by a longer name, some hide all rules of a line."""
    words = re.findall(r"[A-Za-z][\w-]*", silencer.text.casefold())
    return BARE in silencer.kinds or words[:2] == ["ruff", "ignore"] or rule.casefold() in words


def silencers(source: str, tool: Tool) -> list[Silencer]:
    """Find the silencers of a tool in a source text with line feeds as line endings, as far as it is Python.

    For the type checker these are also `@no_type_check`, blocks below `if not TYPE_CHECKING:` without a
    counterpart for the checker, functions in the `else` of such a test, and casts to a type that never
    returns.
    """
    maybe = _MAYBE_LINT if tool is Tool.LINTER else _MAYBE_TYPES
    if not maybe.search(source):
        return []
    lines = source.split("\n")
    tokens = list(_tokens(source))
    found = [
        each for token in tokens if token.type == tokenize.COMMENT for each in _of_comment(lines, token, tool)
    ]
    if tool is Tool.TYPE_CHECKER:
        exempting = [*_exempting(tokens), *hiding_conditions(tokens), *_unreachable(tokens)]
        found += [_silencer(lines, token, token.string, instead) for token, instead in exempting]
    return sorted(found, key=lambda each: (each.line, each.start))


def without(source: str, taken: Iterable[Silencer]) -> str:
    """Return the source without these silencers. The number of lines stays the same."""
    lines = source.split("\n")
    for each in sorted(taken, key=lambda each: (each.line, each.start), reverse=True):
        line = lines[each.line - 1]
        before, after = line[: each.start], line[each.start + len(each.text) :]
        if not each.replacement:
            before = before.rstrip() if before.strip() else f"{before}#"
        lines[each.line - 1] = f"{before}{each.replacement}{after}"
    return "\n".join(lines)


def _tokens(source: str) -> Iterator[tokenize.TokenInfo]:
    """Tokenize as far as possible.

    After an error that stops Python the tools may go on, but they report it.
    """
    try:
        yield from tokenize.generate_tokens(io.StringIO(source).readline)
    except (tokenize.TokenError, SyntaxError, ValueError):
        return


def _silencer(
    lines: Sequence[str], token: tokenize.TokenInfo, text: str, replacement: str = "", offset: int = 0
) -> Silencer:
    number, column = token.start
    whole = lines[number - 1].strip()
    return Silencer(number, column + offset, text, replacement, whole, alone=whole == token.string)


def _of_comment(lines: Sequence[str], token: tokenize.TokenInfo, tool: Tool) -> Iterator[Silencer]:
    comment = silencing_comment(token.string, tool)
    if comment is None:
        return
    found = _silencer(lines, token, comment.text, offset=comment.start)
    # For a whole file, ruff accepts only a comment that is alone on its line.
    yield replace(found, kinds=comment.kinds) if found.alone == comment.for_file else found


def _exempting(tokens: Iterable[tokenize.TokenInfo]) -> Iterator[tuple[tokenize.TokenInfo, str]]:
    # A decorator of the same module without an effect replaces it, under any imported name.
    for token in tokens:
        if token.type == tokenize.NAME and token.string == "no_type_check":
            yield token, "type_check_only"


def _unreachable(tokens: Sequence[tokenize.TokenInfo]) -> Iterator[tuple[tokenize.TokenInfo, str]]:
    """Find the types in casts that make all later code unreachable for the checker."""
    code = [each for each in tokens if each.type not in (tokenize.NL, tokenize.COMMENT)]
    for index, token in enumerate(code):
        if token.type == tokenize.NAME and token.string == "cast" and texts_at(code, index + 1, 1) == ["("]:
            for each in _first_argument(code[index + 2 :]):
                if each.type == tokenize.NAME and each.string in _NEVER_RETURNS:
                    yield each, "object"


def _first_argument(code: Sequence[tokenize.TokenInfo]) -> Iterator[tokenize.TokenInfo]:
    depth = 0
    for token in code:
        if depth == 0 and token.string in (",", ")"):
            return
        depth += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
        yield token
