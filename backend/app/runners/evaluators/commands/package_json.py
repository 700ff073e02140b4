"""Puts the base's scripts and test tool settings into the candidate's `package.json`."""

import json
import posixpath
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from app.runners.evaluators.commands.scripts import script_bytes, script_text
from app.runners.evaluators.protection.rules import matches

_NODE_PROGRAMS = frozenset({"npm", "npx", "yarn", "pnpm", "bun"})
_NODE_TOOLS = ("scripts", "jest", "mocha", "ava", "c8", "nyc", "vitest", "tap")


def package_texts(
    base: Path, tree: Path, words: Sequence[str], directory: str, opened: Sequence[str]
) -> dict[str, bytes]:
    """Return `package.json` with the base's scripts and test tool settings, if these differ."""
    name = posixpath.normpath(posixpath.join(directory, "package.json"))
    if not _NODE_PROGRAMS.intersection(map(posixpath.basename, words)) or matches(name, opened):
        return {}
    before, after = _document(base / name), _document(tree / name)
    if before is None:
        return {}
    if after is None:
        return {name: script_bytes(base / name)}
    merged = {**after}
    for each in _NODE_TOOLS:
        if each == "scripts":
            merged[each] = _scripts(before.get(each), after.get(each))
        elif each in before:
            merged[each] = before[each]
        else:
            merged.pop(each, None)
    if merged == {**after, "scripts": after.get("scripts", {})}:
        return {}
    return {name: json.dumps(merged, indent=2).encode()}


def _scripts(before: object, after: object) -> dict[str, object]:
    """Return the base's scripts, and those of the candidate that npm does not run along with them."""
    known = cast("dict[str, object]", before) if isinstance(before, dict) else {}
    new = cast("dict[str, object]", after) if isinstance(after, dict) else {}
    beside = {f"{part}{name}" for name in known for part in ("pre", "post")}
    kept = {name: text for name, text in new.items() if name not in beside or name in known}
    return {**kept, **known}


def _document(path: Path) -> dict[str, object] | None:
    try:
        document: object = json.loads(script_text(path))
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", document) if isinstance(document, dict) else None
