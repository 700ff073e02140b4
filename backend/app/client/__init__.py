"""For programs that use a running service; imports only the service's vocabulary.

`follow` yields a run's events, each once and in order, across reconnects and restarts; see docs/events.md.
"""

from app.client.events import Cursor, Reconnect, Reset, WireEvent, follow

__all__ = ["Cursor", "Reconnect", "Reset", "WireEvent", "follow"]
