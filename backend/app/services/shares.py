"""Makes shares with their intervals of counts. Pure."""

from app.core.intervals import wilson
from app.schemas.shares import Share


def share(count: int, of: int) -> Share:
    """Give `count` of `of` with its 95 % interval; all is null when there are no cases."""
    if of == 0:
        return Share(count=0, of=0, value=None, low=None, high=None)
    low, high = wilson(count, of)
    return Share(count=count, of=of, value=count / of, low=low, high=high)
