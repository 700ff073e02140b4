"""Prints the plan for a pot: `python -m teatime gyokuro 3`."""

import sys

from teatime.catalogue import SHELF, find
from teatime.steeping import plan


def main(arguments: list[str]) -> int:
    """Print the plan for the tea and the number of infusions that are asked for."""
    if not arguments:
        print("on the shelf:", ", ".join(tea.name for tea in SHELF))
        return 2
    name, count = arguments[0], int(arguments[1]) if len(arguments) > 1 else 1
    print(plan(find(name), count))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
