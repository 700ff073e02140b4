"""The docs keep the rules of docs/writing.md that a program can check."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
GENERATED = {"attacks.md"}
"""Pages that a program writes; their words are in that program."""
PAGES = [
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.name not in GENERATED),
    *sorted((ROOT / "examples").glob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", ".env.example")),
]
BANNED = re.compile(
    r"\b(?:nobody|whoever|he|his|him|of its own|what there is|(?:is|are) told|so is|mend(?:s|ed)?|doors?|"
    r"false (?:pass|fail)(?:es|s)?)\b",
    re.IGNORECASE,
)
WIDE_TABLES = {"benchmarks.md", "real-commits.md"}
"""Pages whose tables of figures are too wide to split; their prose is wrapped."""
ABOUT_THE_WORDS = {"writing.md"}
"""The page that names the banned words."""


MODULES = [
    module
    for folder in ("app", "phaserunner")
    for module in sorted((ROOT / "backend" / folder).rglob("*.py"))
]
_DESCRIBED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_ATTRIBUTE = re.compile(r"^\s*\w+:")


def said(source: str) -> list[str]:
    """The lines of a module's docstrings and comments, without code spans and names of attributes."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, _DESCRIBED)]
    lines = [line for node in nodes for line in (ast.get_docstring(node) or "").splitlines()]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    lines += [each.string for each in tokens if each.type == tokenize.COMMENT]
    return [_ATTRIBUTE.sub("", re.sub(r"`[^`]*`", "", line)) for line in lines]


def prose(text: str) -> list[tuple[int, str]]:
    """The numbered lines outside fenced code, without code spans and the targets of links."""
    kept: list[tuple[int, str]] = []
    fenced = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            kept.append((number, re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)))
    return kept


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_are_wrapped(page: Path) -> None:
    lines = enumerate(page.read_text(encoding="utf-8").splitlines(), start=1)
    wide = page.name in WIDE_TABLES
    assert [number for number, line in lines if len(line) > 120 and not (wide and line.startswith("|"))] == []


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name not in ABOUT_THE_WORDS],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_banned_words_do_not_come_back(page: Path) -> None:
    found = [
        (number, word.group())
        for number, line in prose(page.read_text(encoding="utf-8"))
        for word in BANNED.finditer(line)
    ]
    assert found == []


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(ROOT)))
def test_banned_words_do_not_come_back_in_docstrings_and_comments(module: Path) -> None:
    assert [line for line in said(module.read_text(encoding="utf-8")) if BANNED.search(line)] == []


def test_what_a_module_says_is_its_docstrings_and_comments() -> None:
    source = '"""A door."""\nx = "nobody"  # his\ndef f():\n    """One `door`.\n\n    mended: no.\n    """\n'
    assert [bool(BANNED.search(line)) for line in said(source)] == [True, False, False, False, True]


def test_code_and_link_targets_are_not_prose() -> None:
    assert [line for _, line in prose("a `door`\n```\nhe\n```\n[b](door.md)")] == ["a ", "[b"]
