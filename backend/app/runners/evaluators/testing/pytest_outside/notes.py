"""Collects reasons for and against relying on each test of the judge's run."""

from __future__ import annotations

from collections import defaultdict

_KEPT = 5
WARNS = "the candidate warns"
PRINTS = "the candidate prints too much"


class JudgeNotes:
    """Remarks by test, by file and for the whole run.

    A *hard* remark says that a pass is no evidence; a *soft* one only that a failure is none. A *finding* is
    something that no honest code does.

    Attributes:
        place: what is running: the id of a test or of a file, or `""`.
    """

    def __init__(self) -> None:
        self.place = ""
        self._hard: dict[str, list[str]] = defaultdict(list)
        self._soft: dict[str, list[str]] = defaultdict(list)
        self._findings: dict[str, list[str]] = defaultdict(list)

    def note(self, reason: str, *, hard: bool) -> None:
        """Add a remark about what is running."""
        _add((self._hard if hard else self._soft)[self.place], reason)

    def find(self, finding: str) -> None:
        """Report a finding about what is running."""
        _add(self._findings[self.place], finding)

    def about(self, test: str) -> dict[str, list[str]]:
        """Return the remarks that concern a test, including those about its file or the whole run."""
        places = ("", test.split("::", 1)[0], test)
        return {
            kind: [reason for place in places for reason in remarks.get(place, ())]
            for kind, remarks in (("hard", self._hard), ("soft", self._soft), ("findings", self._findings))
        }


def _add(remarks: list[str], reason: str) -> None:
    if len(remarks) < _KEPT and reason not in remarks:
        remarks.append(reason[:300])
