"""Configures pytest for a Django project that does not set itself up for it."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from app.workspaces.environments.django import settings_of
from app.workspaces.environments.pytest_commands import pytest_invocations

_NO_FUNCTIONS = ("-o", "python_functions=", "-o", "python_classes=")
"""Django's own runner knows only the classes of unittest."""


class DjangoOptions(NamedTuple):
    """What such a project adds to pytest's configuration; nothing for any other.

    Attributes:
        arguments: options.
        import_places: directories, relative to the tree, from which its tests import besides its root.
        test_files: further glob patterns of test files.
    """

    arguments: tuple[str, ...] = ()
    import_places: tuple[str, ...] = ()
    test_files: tuple[str, ...] = ()


def django_options(base: Path | None, places: Sequence[str]) -> DjangoOptions:
    """Return what a base without a configuration for pytest adds.

    Args:
        base: the base's tree; None adds nothing.
        places: directories in which a `conftest.py` may set Django up.
    """
    if base is None or any((base / place / "conftest.py").exists() for place in places):
        return DjangoOptions()
    found = settings_of(base)
    if found is None:
        return DjangoOptions()
    others = () if pytest_invocations(base) else _NO_FUNCTIONS
    import_places = (found.place,) if found.place else ()
    return DjangoOptions((f"--ds={found.module}", *others), import_places, ("tests.py",))
