"""Finds type errors that new casts, annotations as Any or overloads hide from the checker."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.runners.evaluators.static.analysed_copy import write_stamped
from app.runners.evaluators.static.annotated import is_of_tests
from app.runners.evaluators.static.any_probes import probes_of, with_probes, with_types
from app.runners.evaluators.static.baseline import Comparison, Finding
from app.runners.evaluators.static.overload_variants import OverloadVariant, overload_variants
from app.runners.evaluators.static.trees import StaticTrees
from app.runners.evaluators.static.type_escapes import without_escapes
from app.runners.evaluators.static.type_tool import TypeChecker
from app.schemas.questions import ProtectedPolicy

WHY = "a new cast, `Any` or overload hides it, although no value is of both types"

_PLAIN = frozenset({"int", "str", "bytes", "float", "bool", "list", "dict", "set", "frozenset", "tuple"})
_TYPES = (
    re.compile(r'got "([^"]+)", expected "([^"]+)"'),
    re.compile(r'incompatible type "([^"]+)"; expected "([^"]+)"'),
    re.compile(r'expression has type "([^"]+)", variable has type "([^"]+)"'),
    re.compile(r'Type "([^"]+)" is not assignable to (?:return|declared) type "([^"]+)"'),
    re.compile(r'Argument of type "([^"]+)" cannot be assigned to parameter "[^"]+" of type "([^"]+)"'),
)
_ALSO = frozenset({("float", "int"), ("int", "bool"), ("list", "tuple")})
"""Pairs of types for which honest code knows better than the checker."""


async def hidden_types(
    checker: TypeChecker, trees: StaticTrees, wanted: Sequence[str], found: Sequence[Finding]
) -> list[Finding]:
    """Return the errors that appear without what hides types in the candidate's new code.

    These are casts, annotations as Any, names that are looked up as texts, and promises of overloads.

    Only an error about two plain types that have no value in common counts. What a checker cannot know, such
    as the content of a JSON text, is a reason for a cast.

    Args:
        checker: the checker.
        trees: the candidate's copy and the base.
        wanted: the files that are checked.
        found: the findings with the casts.
    """
    if trees.base is None:
        return []
    base = trees.base.path
    changed = [each for each in wanted if each in trees.changed and not is_of_tests(each)]
    source = await asyncio.to_thread(_read_all, trees.copy.path, changed)
    before = await asyncio.to_thread(_read_all, base, changed)
    check = _Check(checker, trees, wanted)
    bare = {name: without_escapes(text, before[name]) or text for name, text in source.items()}
    bare = await _with_known_types(check, bare, before)
    again = await check.errors({name: text for name, text in bare.items() if text != source[name]})
    for variants in _overloads(bare, before):
        errors = await check.errors({name: each.text for name, each in variants.items()})
        again += (each for each in errors if each.line in variants[each.file].lines)
    known = {(each.file, each.rule, each.message) for each in found}
    new = {
        (each.file, each.line, each.message): replace(each, message=f"{each.message} ({WHY})")
        for each in again
        if (each.file, each.rule, each.message) not in known and contradicts(each.message)
    }
    return list(new.values())


@dataclass(frozen=True, slots=True)
class _Check:
    """Checks the candidate's copy with other texts in some of its files."""

    checker: TypeChecker
    trees: StaticTrees
    wanted: Sequence[str]

    async def errors(self, texts: Mapping[str, bytes]) -> list[Finding]:
        """Return the errors in these files; none if there are no files."""
        if not texts:
            return []
        place = self.trees.copy.path
        before = await asyncio.to_thread(_swapped, place, texts)
        try:
            report = await self.checker.check(place, self.wanted, self.trees.changed)
        finally:
            await asyncio.to_thread(_swapped, place, before)
        return [each for each in report.found if each.file in texts]


async def _with_known_types(
    check: _Check, texts: Mapping[str, bytes], base: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Return sources in which parameters and results of type Any have the one type that meets them."""
    probes = {name: found for name, text in texts.items() if (found := probes_of(text, base[name]))}
    errors = await check.errors({name: with_probes(texts[name], found) for name, found in probes.items()})
    typed = {
        name: with_types(texts[name], found, [each.message for each in errors], _PLAIN)
        for name, found in probes.items()
    }
    return {**texts, **typed}


def _overloads(
    texts: Mapping[str, bytes], base: Mapping[str, bytes]
) -> Iterator[Mapping[str, OverloadVariant]]:
    """Yield versions of the sources with new overloaded functions, which have one signature each."""
    overloaded = {name: overload_variants(text, base[name]) for name, text in texts.items()}
    for number in range(max(map(len, overloaded.values()), default=0)):
        yield {name: found[number] for name, found in overloaded.items() if number < len(found)}


def with_hidden(comparison: Comparison, hidden: Sequence[Finding], policy: ProtectedPolicy) -> Comparison:
    """Return a comparison with further findings, about which a person is asked; with *fail* they count."""
    if policy is ProtectedPolicy.FAIL:
        return replace(comparison, new=(*comparison.new, *hidden))
    return replace(comparison, doubts={**comparison.doubts, **dict.fromkeys(hidden, WHY)})


def contradicts(message: str) -> bool:
    """Return True if a checker's message is about two plain types that have no value in common."""
    for pattern in _TYPES:
        if named := pattern.search(message):
            got, expected = (each.partition("[")[0].rpartition(".")[2] for each in named.groups())
            is_plain = got in _PLAIN and expected in _PLAIN and "|" not in named[1] + named[2]
            return is_plain and got != expected and (got, expected) not in _ALSO
    return False


def _swapped(copy: Path, texts: Mapping[str, bytes]) -> dict[str, bytes]:
    """Write files; return what was in them."""
    before = {name: _read(copy / name) for name in texts}
    for name, text in texts.items():
        write_stamped(copy / name, text)
    return before


def _read_all(root: Path, names: Sequence[str]) -> dict[str, bytes]:
    return {name: _read(root / name) for name in names}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
