"""Imports modules quickly: without the garbage collector, which finds nothing to collect in them."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def quick_imports() -> Generator[None]:
    """Disable garbage collection during imports, and exclude the imported objects from later collections.

    Otherwise a tenth of the import time is spent on scanning modules that stay anyway.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()
