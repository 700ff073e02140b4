"""The teas on the shelf, and what they like."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tea:
    """A tea: water in degrees Celsius, the first infusion, and how much longer each further one takes."""

    name: str
    celsius: int
    first: str
    further: str


SHELF = (
    Tea("Gyokuro", 60, "2m", "30s"),
    Tea("Sencha", 75, "1m", "15s"),
    Tea("Oolong", 90, "45s", "20s"),
    Tea("Assam", 98, "3m 30s", "1m30s"),
    Tea("Cold brew", 8, "12h", "4h"),
)


def find(name: str) -> Tea:
    """Give the tea of that name, however it is capitalised.

    Raises:
        KeyError: the shelf has none.
    """
    wanted = name.strip().casefold()
    for tea in SHELF:
        if tea.name.casefold() == wanted:
            return tea
    raise KeyError(name)
