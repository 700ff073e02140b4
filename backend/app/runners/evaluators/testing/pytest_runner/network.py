"""Notices that something tried to reach a network that is not there.

Without a network, a process reaches only itself and others beside it. The kernel counts what it could send
nowhere, whichever process, library or program tried. The messages of tests rarely tell.
"""

_COUNTERS = "/proc/net/snmp"
_ROUTES = "/proc/net/route"
# Where no server for names is configured, programs ask at a port of this machine that nothing listens to.
_IN_VAIN = {b"Ip:": b"OutNoRoutes", b"Udp:": b"NoPorts"}


class Unreachable:
    """Tells whether something was sent in vain. Always says no where there is a network, or no Linux."""

    def __init__(self) -> None:
        # With a route to elsewhere, the counters are those of the whole machine.
        self._counts = len(_lines(_ROUTES)) == 1
        self._before = self._count()

    def was_sought(self) -> bool:
        """Return True if something tried to reach a network since the last call."""
        before, self._before = self._before, self._count()
        return self._before > before

    def _count(self) -> int:
        if not self._counts:
            return 0
        lines = [line.split() for line in _lines(_COUNTERS)]
        total = 0
        # They come in pairs, titles and values.
        for titles, values in zip(lines[::2], lines[1::2]):  # noqa: B905 - Python 3.9 cannot compare lengths
            wanted = _IN_VAIN.get(titles[0])
            if wanted in titles:
                total += int(values[titles.index(wanted)])
        return total


def _lines(path: str) -> "list[bytes]":
    try:
        with open(path, "rb") as file:
            return file.read().splitlines()
    except OSError:
        return []
