"""Makes a test file that exits when it is imported one that cannot be collected."""

from functools import wraps
from typing import Any

import pytest


def collect_past_exits() -> None:
    """Let pytest collect the other files if the import of one raises `SystemExit`.

    pytest would end the run. Where some files exit for want of a device or a server, the project's own
    commands name the others.
    """
    module: Any = pytest.Module
    import_module = module._getobj

    @wraps(import_module)
    def imported(self: Any) -> Any:
        try:
            return import_module(self)
        except SystemExit as error:
            raise self.CollectError(f"SystemExit: {error}") from error

    module._getobj = imported
