"""Recognises garbage that pytest blames on the test that runs just then, whichever it is. Pure."""

import re

SEVERAL = "several"
"""Stands for more than one piece of garbage; pytest then names none."""

_BLAMED = re.compile(
    r"^\S*/_pytest/unraisableexception\.py:\d+: (?:"
    r"pytest\.PytestUnraisableExceptionWarning: Exception ignored in: "
    r"(?P<what><[\w.]+).*\b(?P<kind>\w+Warning): "
    r"|ExceptionGroup: multiple unraisable exception warnings)",
    re.DOTALL,
)


def garbage_in(message: str) -> str:
    """Return what kind of garbage a failure's message is about, such as `<_io.FileIO ResourceWarning`.

    It is `SEVERAL` for more than one piece, and empty for another failure. An exception in an object's own
    `__del__` is a failure of the code, and no garbage.
    """
    found = _BLAMED.match(message)
    if found is None:
        return ""
    return SEVERAL if found["what"] is None else f"{found['what']} {found['kind']}"
