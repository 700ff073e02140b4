"""Recognises names of Python 2 in branches for it, which a linter for Python 3 takes for undefined."""

import ast
import re
from pathlib import Path

from app.core.python_source import parse_module
from app.runners.evaluators.static.baseline import Finding

_UNDEFINED_NAME = "F821"
_NAME = re.compile(r"`(\w+)`")
_BUILTINS = frozenset(
    {
        *(
            "apply",
            "basestring",
            "buffer",
            "cmp",
            "coerce",
            "execfile",
            "file",
            "intern",
            "long",
            "raw_input",
        ),
        *("reduce", "reload", "unichr", "unicode", "xrange"),
    }
)
_VERSION_CHECK = re.compile(
    r"\bversion_info\b|\bhexversion\b|\bis_?py(?:thon)?_?[23]\b|\bpy(?:thon)?_?[23]\b", re.I
)


def is_for_python_2(finding: Finding, tree: Path) -> bool:
    """Return True if a finding is a built-in of Python 2 in a branch that checks Python's version.

    Args:
        finding: of the linter.
        tree: where the linter found it.
    """
    name = _NAME.search(finding.message)
    if finding.rule != _UNDEFINED_NAME or name is None or name.group(1) not in _BUILTINS:
        return False
    try:
        module = parse_module((tree / finding.file).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(
        isinstance(node, ast.If | ast.IfExp)
        and node.lineno <= finding.line <= (node.end_lineno or node.lineno)
        and _VERSION_CHECK.search(ast.unparse(node.test))
        for node in ast.walk(module)
    )
