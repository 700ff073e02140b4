"""The candidate's program: imports its modules and does what the judge asks.

It is started as `launch.py candidate SOCKET PLAN`. It never sees a test, or a test's expectation.
"""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import contextlib
import importlib
import io
import json
import logging
import operator
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from .faults import BUILTIN
from .lent import Lent
from .link import PeerLink
from .notes import PRINTS
from .peer import Peer
from .values import NAMED_TYPES, BadDataError
from .wire import Wire

SERVED = 86
_MAX_TEXT = 1_000_000


class CandidateSide:
    """The candidate's side of the conversation."""

    lends_functions = False

    def __init__(self, lent: Lent) -> None:
        self.lent = lent
        self._said: dict[str, list[Any]] = {}
        self._text = 0

    def say(self, kind: str, *what: Any) -> None:
        """Report something with the next message."""
        self._said.setdefault(kind, []).append(what)

    def write(self, kind: str, text: str) -> None:
        """Report printed text with the next message."""
        self._text += len(text)
        if self._text > _MAX_TEXT:
            self._said.setdefault("notes", []).append([PRINTS, False])
            return
        self.say("out", kind, text)

    def by_name(self, value: Any) -> list[str] | None:
        if not issubclass(type(value), type):
            return None
        name = [value.__module__, value.__qualname__]
        if NAMED_TYPES.get((name[0], name[1])) is value:
            return name
        return name if name[0] == "builtins" and BUILTIN.get(name[1]) is value else None

    def look_up(self, module: str, name: str) -> Any:
        return operator.attrgetter(name)(importlib.import_module(module))

    def check(self, op: str, args: list[Any]) -> None:
        """Allow everything that the judge asks."""

    def compare(self, link: PeerLink, proxy: Any, name: str, other: Any) -> Any:
        if name in ("isinstance", "issubclass"):
            return False
        return link.request("dunder", proxy, name, other)

    def raised(self, error: BaseException) -> None:
        """Ignore it, because exceptions of a test are the test's own business."""

    def unsendable(self) -> Any:
        """The judge sends only values that it has."""
        raise BadDataError("the judge has sent no value")

    def outgoing(self, depth: int) -> dict[str, Any]:
        self._listen()
        said, self._said, self._text = self._said, {}, 0
        return said

    def incoming(self, extra: dict[str, Any]) -> None:
        if "env" in extra:
            self.lent.add_variables(os.environ, extra["env"])  # noqa: TID251 - the tests' own variables
            os.environ.clear()  # noqa: TID251 - the tests' own variables
            os.environ.update(extra["env"])  # noqa: TID251 - tests read it
        if "cwd" in extra:
            self.lent.add(str(extra["cwd"]))
            try:
                os.chdir(extra["cwd"])
            except OSError:
                self.note("the test works in a directory that the candidate cannot enter", hard=True)
        if "path" in extra:
            sys.path[:] = extra["path"]

    def note(self, reason: str, *, hard: bool) -> None:
        if hard:
            self.say("notes", reason, hard)

    def _listen(self) -> None:
        root = logging.getLogger()
        if not any(isinstance(each, _Forward) for each in root.handlers):
            root.addHandler(_Forward(self))
            root.setLevel(1)


class _Forward(logging.Handler):
    """Lets what is logged travel with the next message."""

    def __init__(self, side: CandidateSide) -> None:
        super().__init__()
        self._side = side

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(Exception):
            self._side.say("log", record.name, record.levelno, record.getMessage())


class Printed(io.TextIOBase):
    """A standard stream whose text is sent with the next message."""

    encoding = "utf-8"  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    def __init__(self, side: CandidateSide, kind: str) -> None:
        self._side = side
        self._kind = kind

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if type(text) is not str:
            text = str.__str__(text)
        self._side.write(self._kind, text)
        return len(text)


class _ListeningWire(Wire):
    """A wire that remembers what the tests have said."""

    def __init__(self, fd: int, seconds: float, lent: Lent) -> None:
        super().__init__(fd, seconds)
        self._lent = lent

    def _heard(self, data: bytes) -> bytes:
        self._lent.hear(data)
        return data


def _listener(lent: Lent, side: CandidateSide) -> Any:
    """Return an audit hook that reports opened files of the tests which no test named."""

    def hear(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            name = lent.taken(args[0])
            if name is not None:
                side.say("find", f"the candidate's code opens {name}, a file of the tests that no test named")

    return hear


def main(arguments: list[str]) -> None:
    """Serve until the judge is gone."""
    plan: dict[str, Any] = json.loads(Path(arguments[1]).read_text())
    os.umask(0)
    lent = Lent(Path(plan["tree"]), plan["data"])
    side = CandidateSide(lent)

    def show(message: Any, category: Any, filename: Any, lineno: Any, *_: Any) -> None:
        side.say("warn", str(message), category.__name__, lineno)

    warnings.simplefilter("always")
    warnings.showwarning = show
    sys.stdout, sys.stderr = Printed(side, "out"), Printed(side, "err")
    os.chdir(plan["tree"])
    os.environ["TMPDIR"] = plan["shared"]  # noqa: TID251 - tests read it
    sys.argv = ["pytest"]
    sys.addaudithook(_listener(lent, side))
    try:
        Peer(_ListeningWire(int(arguments[0]), plan["seconds"], lent), 1, side).serve()
    finally:
        # The candidate's code can cause any other status.
        os._exit(SERVED)
