"""Says on what and when figures were taken."""

import os
import platform
from datetime import UTC, datetime


def machine() -> str:
    """Date, cores, system and Python, in a line."""
    system = f"{os.cpu_count()} cores {platform.machine()}, {platform.system()}"
    return f"{datetime.now(UTC):%Y-%m-%d}, {system}, Python {platform.python_version()}"
