"""Chooses the form of an answer from the header `Accept`."""

from collections.abc import Sequence


def preferred(accept: str, offered: Sequence[str]) -> str:
    """Return the offered media type that a client prefers.

    A higher q-value wins, then the earlier place in the header, then the earlier place in `offered`. If no
    type is acceptable, the first offered one is returned.

    Args:
        accept: the header's value, such as `application/json, text/plain;q=0.5, */*;q=0.1`.
        offered: media types, the usual one first.
    """
    ranges = [_read(each) for each in accept.split(",")]
    ranked = [(_rank(kind, ranges), kind) for kind in offered]
    return max(ranked, key=lambda each: each[0])[1]


def _read(text: str) -> tuple[str, float]:
    """Return a media range and its q-value. A q-value that is not a number counts as 0."""
    name, *parameters = (part.strip().lower() for part in text.split(";"))
    quality = next((each[2:] for each in parameters if each.startswith("q=")), "1")
    try:
        return name, float(quality)
    except ValueError:
        return name, 0.0


def _rank(kind: str, ranges: Sequence[tuple[str, float]]) -> tuple[float, int]:
    """Return the q-value and the place of the most specific range that fits; 0 if none does."""
    for wanted in (kind, f"{kind.partition('/')[0]}/*", "*/*"):
        for place, (name, quality) in enumerate(ranges):
            if name == wanted:
                return quality, -place
    return 0.0, -len(ranges)
