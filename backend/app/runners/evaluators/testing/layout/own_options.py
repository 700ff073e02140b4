"""Adds to the base's settings what the candidate's configuration says about its own tests."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from app.runners.evaluators.testing.layout.config import (
    PytestSettings,
    import_path,
    kept_options,
    options_of,
    override,
)

# None of these determines which tests there are.
_NAMES = (
    *("markers", "filterwarnings", "anyio_mode", "asyncio_mode", "trio_mode"),
    *("asyncio_default_fixture_loop_scope", "asyncio_default_test_loop_scope"),
)
_IMPORT_MODE = "--import-mode"


def with_own_options(settings: PytestSettings, tree: Path, base: Path | None) -> PytestSettings:
    """Return settings for the tests that a candidate added or changed.

    A new test may use a marker, an import path or a mode that came with it. What the base and the candidate
    configure alike stays as it is, and so does everything else.

    Args:
        settings: those for the base's tests.
        tree: the candidate's tree, in which the tests run.
        base: the base; None has no configuration.
    """
    before, after = _options(base), _options(tree)
    names = [name for name in _NAMES if name in after and after[name] != before.get(name)]
    arguments = [part for name in names for part in override(name, after[name], tree)]
    if after.get("pythonpath") != before.get("pythonpath"):
        arguments += import_path(after, tree)
    mode = _import_mode(after)
    if mode != _import_mode(before):
        arguments += mode
    return replace(settings, arguments=(*settings.arguments, *arguments), own=tuple(names))


def _options(tree: Path | None) -> dict[str, Any]:
    found = None if tree is None else options_of(tree)
    return dict(found[1]) if found else {}


def _import_mode(options: dict[str, Any]) -> list[str]:
    """Return the option that says how test files are imported; empty for pytest's default."""
    words = iter(kept_options(options.get("addopts")))
    found: list[str] = []
    for word in words:
        if word == _IMPORT_MODE:
            found = [f"{word}={next(words, '')}"]
        elif word.startswith(f"{_IMPORT_MODE}="):
            found = [word]
    return found
