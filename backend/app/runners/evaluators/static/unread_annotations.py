"""Finds faults in annotations that Python does not evaluate: in quotes, in stubs, or postponed.

They are undefined names, and texts that are no annotations, such as the format in `Date["%d %b"]`.
"""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from app.core.python_source import parse_module
from app.runners.evaluators.static.baseline import UNDEFINED_NAME, Finding
from app.runners.evaluators.static.doubt import Why

_NAME = re.compile(r"`(\w+)`")
_NO_ANNOTATION = "F722"
_RULES = frozenset({UNDEFINED_NAME, _NO_ANNOTATION})


def unread_annotations(findings: Iterable[Finding], tree: Path) -> frozenset[Finding]:
    """Return the faults that only a checker of types or a reader sees.

    Args:
        findings: of the linter.
        tree: where the linter found them.
    """
    open_ones = [each for each in findings if each.rule in _RULES]
    places = {name: _names_by_line(tree / name) for name in {each.file for each in open_ones}}
    return frozenset(each for each in open_ones if _is_among(each, places[each.file]))


def unread_on_purpose(here: Collection[Finding], at_base: Collection[Finding], comment_naming: Why) -> Why:
    """Return what doubts that these are faults: a comment, or the base breaks the same rule in annotations.

    Args:
        here: those that the candidate adds.
        at_base: those of the base.
        comment_naming: gives the comment that names a finding's rule.
    """
    counts = Counter(each.rule for each in at_base)

    def why(finding: Finding) -> str:
        if finding not in here:
            return ""
        if comment := comment_naming(finding):
            return f"Python does not evaluate this annotation, and {comment} says that it is meant"
        count = counts[finding.rule]
        return f"the base breaks {finding.rule} in annotations itself, {count} in all" if count else ""

    return why


def _is_among(finding: Finding, lines: dict[int, set[str]]) -> bool:
    if finding.rule == _NO_ANNOTATION:
        return finding.line in lines
    name = _NAME.search(finding.message)
    return name is not None and name.group(1) in lines.get(finding.line, ())


def _names_by_line(file: Path) -> dict[int, set[str]]:
    """Return the lines with annotations that are not evaluated, each with the names on it."""
    try:
        module = parse_module(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    is_never_read = file.suffix == ".pyi" or any(map(_postpones, module.body))
    found: dict[int, set[str]] = {}
    for annotation in _annotations(module):
        for node in ast.walk(annotation):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                words = re.findall(r"\w+", node.value)
            elif isinstance(node, ast.Name) and is_never_read:
                words = [node.id]
            else:
                continue
            # The linter names the line of the text, or the line within a longer one.
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found.setdefault(line, set()).update(words)
    return found


def _postpones(statement: ast.stmt) -> bool:
    match statement:
        case ast.ImportFrom(module="__future__", names=names):
            return any(each.name == "annotations" for each in names)
        case _:
            return False


def _annotations(module: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(module):
        match node:
            case ast.AnnAssign(annotation=annotation) | ast.arg(annotation=ast.expr() as annotation):
                yield annotation
            case ast.FunctionDef(returns=ast.expr() as annotation):
                yield annotation
            case ast.AsyncFunctionDef(returns=ast.expr() as annotation):
                yield annotation
            case _:
                continue
