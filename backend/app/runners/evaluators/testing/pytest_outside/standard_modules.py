"""The modules of Python's standard library."""

from __future__ import annotations

import pkgutil
import sys
import sysconfig


def _names() -> frozenset[str]:
    known = getattr(sys, "stdlib_module_names", None)  # new in Python 3.10
    if known is not None:
        return frozenset(known)
    place = sysconfig.get_path("platstdlib")
    found = pkgutil.iter_modules([sysconfig.get_path("stdlib"), f"{place}/lib-dynload"])
    return frozenset({*sys.builtin_module_names, *(each.name for each in found)})


STANDARD_MODULES = _names()
"""By their first name. Python 3.9 does not know it, so there it is what lies in the library's directories."""
