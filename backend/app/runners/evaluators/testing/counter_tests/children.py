"""Makes assertions wrong in the code that tests give to processes of their own.

The code under test can end such a process early, or tell it what the test wants to hear. A test that does not
notice any wrong assertion there, and does notice that the process fails at once, says nothing about the code.
"""

import ast
import textwrap
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath
from random import Random

from app.core.python_source import parse_module
from app.runners.evaluators.source_edits import Edit, Source, apply_edits
from app.runners.evaluators.testing.counter_tests.child_code import UNPARSABLE, asserts, expected_literals
from app.runners.evaluators.testing.counter_tests.drawing import Unit, WrongExpectation
from app.runners.evaluators.testing.counter_tests.literals import is_plain, plain_value, wrong_texts
from app.runners.evaluators.testing.counter_tests.sites import DataPlace, Kind, Site
from app.runners.evaluators.testing.layout.inventory import file_of
from app.runners.evaluators.testing.layout.trees import RunTree

_ENDED = b"raise SystemExit(97)"


def child_changes(units: Sequence[Unit], tree: RunTree, chance: Random | None) -> list[WrongExpectation]:
    """Change the code for children in every test that has some.

    Args:
        units: the tests.
        tree: the tree that runs.
        chance: draws wrong values; None ends the code at once instead.
    """
    scripts = _scripts(tree, units)
    changed = {name: text for name, content in scripts.items() if (text := _changed(content, chance))}
    found: list[WrongExpectation] = []
    for unit in units:
        edits = tuple(_edits(unit, chance))
        texts = {name: text for name, text in changed.items() if _is_named(name, unit.function.named)}
        if edits or texts:
            place = DataPlace(file=", ".join(texts)) if texts else None
            line = unit.function.child_code[0].lineno if unit.function.child_code else 1
            site = Site(line, "the code of a process", Kind.VALUE, certain=False, data=place)
            found.append(WrongExpectation(unit, unit.tests, site, edits, texts))
    return found


def _edits(unit: Unit, chance: Random | None) -> Iterator[Edit]:
    for node in unit.function.child_code:
        text = _changed(str(node.value).encode(), chance)
        if text is not None:
            yield unit.file.source.replaced(node, repr(text.decode()).encode())


def _changed(content: bytes, chance: Random | None) -> bytes | None:
    return with_wrong_assertions(content, chance) if chance is not None else _ENDED


def with_wrong_assertions(content: bytes, chance: Random) -> bytes | None:
    """Return code in which every equality with a literal that is asserted is wrong; None if there is none."""
    try:
        text = textwrap.dedent(content.decode()).encode()
        source = Source(text)
        edits = [source.replaced(node, wrong) for node, wrong in _wrong_literals(text, source, chance)]
        changed = apply_edits(text, edits)
        parse_module(changed)
    except UNPARSABLE:
        return None
    return changed if edits else None


def _wrong_literals(text: bytes, source: Source, chance: Random) -> Iterator[tuple[ast.expr, bytes]]:
    for expected in expected_literals(parse_module(text)):
        leaf = next(
            (each for each in ast.walk(expected) if isinstance(each, ast.expr) and is_plain(each)), None
        )
        if leaf is not None and (wrong := wrong_texts(plain_value(leaf), source.text(leaf), (), chance)):
            yield leaf, wrong[0]


def _scripts(tree: RunTree, units: Sequence[Unit]) -> dict[str, bytes]:
    """Return the modules with assertions that tests name, and that are no test files themselves."""
    tests = {file_of(test) for unit in units for test in unit.tests}
    named = frozenset[str]().union(*(each.function.named for each in units))
    found: dict[str, bytes] = {}
    for name in sorted(tree.trusted - tests):
        if name.endswith(".py") and name in tree.files and _is_named(name, named):
            content = _read(tree, name)
            if asserts(content):
                found[name] = content
    return found


def _is_named(script: str, named: Collection[str]) -> bool:
    """Return True if one of some texts is a path to a script, or its name as a module."""
    module = script.removesuffix(".py").replace("/", ".")
    file = PurePosixPath(script).name
    return any(
        each == module or each.endswith(f".{module}") or each.rpartition("/")[2] == file for each in named
    )


def _read(tree: RunTree, name: str) -> bytes:
    try:
        return tree.texts[name] if name in tree.texts else (tree.files[name] / name).read_bytes()
    except OSError:
        return b""
