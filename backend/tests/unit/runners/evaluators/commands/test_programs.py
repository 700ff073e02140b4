"""Where commands find their programs."""

import sys
from pathlib import Path

from app.runners.evaluators.commands.programs import find_programs


def test_a_directory_that_cannot_be_looked_at_is_left_out() -> None:
    # Root may look everywhere: a name that is too long fails for every account.
    closed = Path("/", "x" * 300)
    assert closed not in find_programs(Path(sys.executable), [closed]).path
