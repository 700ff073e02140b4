"""Finds new code that sets what tests share with it: the state of a library, or their own tools."""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

from app.core.python_source import parse_module

_TOOLS = frozenset(
    {
        *("hypothesis", "pytest", "_pytest", "pluggy", "mock", "freezegun", "responses", "respx", "vcr"),
        *("requests_mock", "pyfakefs", "time_machine"),
    }
)
_MOCKS = "unittest.mock"


@dataclass(frozen=True, slots=True)
class _State:
    """A state of the process: its name, how code sets it, and how tests show that they depend on it."""

    name: str
    sets: re.Pattern[str]
    uses: re.Pattern[str]


_STATES = (
    _State(
        "the seed of random numbers",
        re.compile(r"\brandom\.(?:seed|setstate)\("),
        re.compile(r"\brandom\.(?:random|rand\w+|choices?|shuffle|sample|uniform)\("),
    ),
    _State(
        "the precision of decimals",
        re.compile(r"\bgetcontext\(\)\.\w+\s*=|\bsetcontext\("),
        re.compile(r"\bDecimal\("),
    ),
    _State(
        "the time zone",
        re.compile(r"\btzset\(|environ\[[\"']TZ[\"']\]\s*="),
        re.compile(r"\b(?:localtime|tzset|fromtimestamp|astimezone)\("),
    ),
    _State(
        "docstrings",
        re.compile(r"\.__doc__\s*=(?!=)|setattr(?:__)?\([^)]{0,300}__doc__"),
        re.compile(r"\bdoctest\b"),
    ),
    _State(
        "the locale",
        re.compile(r"\bsetlocale\("),
        re.compile(r"\blocale\.\w+\("),
    ),
)


def states_set(text: str, tests: str) -> list[str]:
    """Return the states that a source sets and that tests depend on."""
    return [each.name for each in _STATES if each.sets.search(text) and each.uses.search(tests)]


def tools_imported(text: str) -> frozenset[str]:
    """Return the tools of tests that a source imports."""
    if not any(each in text for each in (*_TOOLS, _MOCKS)):
        return frozenset()
    try:
        module = parse_module(text.encode())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    names = set(_imported(module))
    return _TOOLS.intersection(name.partition(".")[0] for name in names) | names.intersection({_MOCKS})


def _imported(module: ast.Module) -> Iterable[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""
            yield from (f"{node.module}.{each.name}" for each in node.names)
