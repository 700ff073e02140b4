"""Finds modules that would replace Python's own in the processes that tests start.

In the tests' own process, the imports of tests are pinned. A process that they start has the tree first on
its import path, so a `json.py` at its root, or a package `unittest`, would replace the library's.
"""

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

_TOOLS = frozenset({"pytest", "_pytest", "pluggy", "iniconfig"})
_STARTS = re.compile(
    rb"\b(?:subprocess|Popen|create_subprocess_\w+|multiprocessing|ProcessPoolExecutor|pexpect|runpytest\w*"
    rb"|script_runner|os\.(?:system|popen|exec\w+|spawn\w+|posix_spawn\w*)|sys\.executable)\b"
)
_CODE = (".py", ".pyc", ".so", ".pyd")


def starts_processes(root: Path, tests: Iterable[str]) -> bool:
    """Return True if the text of tests mentions processes that they start.

    Args:
        root: the base.
        tests: its test files and their helpers, as POSIX paths.
    """
    return any(_STARTS.search(_content(root / name)) for name in tests if name.endswith(".py"))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def stand_ins(names: Sequence[str], known: Collection[str], places: Iterable[str]) -> frozenset[str]:
    """Return the added files that replace modules of Python or pytest wherever a process imports these.

    A module in a package does not, whatever its name, nor does one that the base has, too.

    Args:
        names: the candidate's files as POSIX paths.
        known: the base's files.
        places: directories on the import path, relative to the tree; `""` is its root.
    """
    roots = {"" if place in ("", ".") else f"{place.strip('/')}/" for place in places}
    tops = {(root, module): place for root in roots for place, module in _modules(names, root)}
    theirs = {(root, module) for root in roots for _, module in _modules(known, root)}
    found = {place for top, place in tops.items() if top not in theirs}
    return frozenset(
        name for name in names if any(name == place or name.startswith(f"{place}/") for place in found)
    )


def _modules(names: Iterable[str], root: str) -> Iterator[tuple[str, str]]:
    """Yield path and name of the modules below a root that have the name of one of Python's."""
    for name in names:
        if not name.startswith(root):
            continue
        first, _, rest = name[len(root) :].partition("/")
        module = first.partition(".")[0]
        # A package needs its `__init__`; a link without a suffix may lead to one.
        is_module = rest.partition(".")[0] == "__init__" if rest else first == module or _is_code(first)
        if is_module and (module in sys.stdlib_module_names or module in _TOOLS):
            yield f"{root}{first}", module


def _is_code(filename: str) -> bool:
    return filename.endswith(_CODE)
