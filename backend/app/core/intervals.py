"""Computes the confidence interval of a share."""

from math import sqrt

from app.schemas.shares import Share

Z_95 = 1.959963984540054
"""The two-sided 95 % quantile of the normal distribution."""


def wilson(count: int, of: int, z: float = Z_95) -> tuple[float, float]:
    """Return the Wilson score interval of a share: the shares that fit `count` of `of`, in [0, 1].

    Unlike the normal interval of textbooks, it is informative at 0 of n and n of n, and its coverage is close
    to the nominal one even for small n. Sources: E. B. Wilson, *Probable inference, the law of succession,
    and statistical inference*, JASA 22 (1927), 209-212; recommended by Brown, Cai and DasGupta, *Interval
    estimation for a binomial proportion*, Statistical Science 16 (2001), 101-133.

    Args:
        count: the cases that count.
        of: all cases; if there are none, every share fits.
        z: quantile of the normal distribution.

    Raises:
        ValueError: `count` is not between 0 and `of`.
    """
    if not 0 <= count <= of:
        raise ValueError(f"{count} of {of}")
    if of == 0:
        return 0.0, 1.0
    share = count / of
    middle = share + z * z / (2 * of)
    reach = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    scale = 1 + z * z / of
    # At the ends, rounding would give 1e-17 instead of 0, and as much less than 1.
    low = 0.0 if count == 0 else (middle - reach) / scale
    high = 1.0 if count == of else (middle + reach) / scale
    return low, high


def share(count: int, of: int) -> Share:
    """Return `count` of `of` with its 95 % interval; all values are null if there are no cases."""
    if of == 0:
        return Share(count=0, of=0, value=None, low=None, high=None)
    low, high = wilson(count, of)
    return Share(count=count, of=of, value=count / of, low=low, high=high)
