"""Plans the infusions of one pot."""

from teatime.catalogue import Tea
from teatime.duration import format_duration, parse_duration


def infusions(tea: Tea, count: int) -> list[int]:
    """Give the seconds that each of `count` infusions has to steep."""
    first, further = parse_duration(tea.first), parse_duration(tea.further)
    return [first + number * further for number in range(count)]


def plan(tea: Tea, count: int) -> str:
    """Give the plan for a pot, one line for each infusion."""
    lines = [f"{tea.name}, {tea.celsius} °C"]
    for number, seconds in enumerate(infusions(tea, count), start=1):
        lines.append(f"{ordinal(number)} infusion  {format_duration(seconds)}")
    return "\n".join(lines)


def ordinal(number: int) -> str:
    """Give `1st`, `2nd`, `3rd`, `4th` and so on."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
