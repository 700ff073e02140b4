"""The interval of a share: known values, and what holds for all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.intervals import wilson


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        pytest.param(0, 0, 0.0, 1.0, id="nothing is known"),
        pytest.param(0, 10, 0.0, 0.2775, id="none of ten"),
        pytest.param(10, 10, 0.7225, 1.0, id="all of ten"),
        pytest.param(1, 29, 0.0061, 0.1718, id="one of 29: Newcombe 1998, table I"),
        pytest.param(81, 263, 0.2553, 0.3662, id="81 of 263: Newcombe 1998, table I"),
    ],
)
def test_known_values(count: int, of: int, low: float, high: float) -> None:
    assert wilson(count, of) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 10_000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_it_holds_the_share_and_shrinks_with_more_cases(counted: tuple[int, int]) -> None:
    count, of = counted
    low, high = wilson(count, of)
    assert 0.0 <= low <= count / of <= high <= 1.0
    assert low < high
    narrow_low, narrow_high = wilson(count * 4, of * 4)
    assert narrow_high - narrow_low < high - low
    mirrored = wilson(of - count, of)
    assert mirrored == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(("count", "of"), [(-1, 2), (3, 2), (0, -1)])
def test_what_is_no_share_is_refused(count: int, of: int) -> None:
    with pytest.raises(ValueError, match=f"{count} of {of}"):
        wilson(count, of)
