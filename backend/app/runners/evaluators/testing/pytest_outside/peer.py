"""One side of the conversation: sends requests to the other process, and serves its requests meanwhile."""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import threading
from typing import Any

from . import faults
from .codec import Codec
from .link import connect, refuse
from .operations import perform
from .side import Side
from .values import BadDataError
from .wire import UnsendableError, Wire, WireError

_MAX_DEPTH = 60


def _is_ours(error: RecursionError) -> bool:
    """Return True if writing the answer nested too deep, rather than the called code."""
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_name
        if name == "perform":
            return False
        trace = trace.tb_next
    return True


class Peer:
    """The conversation with the other side about the objects that both know.

    Args:
        wire: the connection.
        first: 0 on one side, 1 on the other.
        side: the behaviour of this side.
    """

    def __init__(self, wire: Wire, first: int, side: Side) -> None:
        self._wire = wire
        self._side = side
        self._codec = Codec(first, side, self)
        self._thread = threading.get_ident()
        self._depth = 0
        self.broken: str | None = None
        connect(self)

    def note(self, reason: str, *, hard: bool) -> None:
        """See `Side.note`."""
        self._side.note(reason, hard=hard)

    def compare(self, proxy: Any, name: str, other: Any) -> Any:
        """See `Side.compare`."""
        return self._side.compare(self, proxy, name, other)

    def request(self, op: str, *args: Any, **kwargs: Any) -> Any:
        """Perform an operation in the other process. Its exceptions are raised here.

        Raises:
            UncarriedError: this cannot be carried, or the other process is gone.
        """
        if threading.get_ident() != self._thread:
            raise refuse("the candidate is used from several threads")
        if self.broken is not None:
            raise refuse(self.broken)
        if self._depth >= _MAX_DEPTH:
            raise refuse("calls back and forth are nested too deep")
        self._depth += 1
        try:
            message: dict[str, Any] = {"op": op, "a": [self._codec.encode(each) for each in args]}
            message["k"] = [[name, self._codec.encode(each)] for name, each in kwargs.items()]
            self._send(message)
            value, error = self._result(self._await_reply())
        except (WireError, BadDataError, RecursionError) as error:
            self.broken = self.broken or str(error)
            raise refuse(self.broken) from error
        finally:
            self._depth -= 1
        if error is not None:
            self._side.raised(error)
            raise error
        return value

    def is_theirs(self, value: object) -> bool:
        """Return True if an object here represents one of the other process."""
        return self._codec.is_theirs(value)

    def serve(self) -> None:
        """Answer requests until the other side is gone."""
        while True:
            try:
                message = self._wire.receive()
                self._answer(message)
            except WireError:
                return

    def _await_reply(self) -> dict[str, Any]:
        while True:
            message = self._wire.receive()
            if "op" not in message:
                self._side.incoming(message.get("x") or {})
                return message
            self._answer(message)

    def _result(self, message: dict[str, Any]) -> tuple[Any, BaseException | None]:
        """Return the result of a request: a value, or the exception that was raised."""
        try:
            if "u" in message:
                return self._side.unsendable(), None
            if "e" in message:
                error = self._codec.decode(message["e"])
                if isinstance(error, BaseException):
                    return None, error
                raise BadDataError("the raised object is not an exception")
            value = self._codec.decode(message.get("r"))
        finally:
            self._codec.take_changes(message)
        return value, None

    def _answer(self, message: dict[str, Any]) -> None:
        self._depth += 1
        try:
            try:
                self._send(self._reply(message))
            except UnsendableError:
                # The conversation continues. The other side decides what the value is worth.
                self._send({"u": True})
        finally:
            self._depth -= 1

    def _reply(self, message: dict[str, Any]) -> dict[str, Any]:
        """Perform a request. No object of the request is held after this returns."""
        try:
            self._side.incoming(message.get("x") or {})
            args = [self._codec.decode(each) for each in message.get("a", [])]
            kwargs = {str(name): self._codec.decode(each) for name, each in message.get("k", [])}
            self._codec.take_changes(message)
            self._side.check(str(message["op"]), args)
            return {"r": self._codec.encode(perform(str(message["op"]), args, kwargs))}
        except WireError:
            raise
        except RecursionError as error:
            if error.__traceback__ is not None and _is_ours(error):
                return {"u": True}
            data = self._codec.encode(error)
            faults.let_go(error)
            return {"e": data}
        except BaseException as error:  # noqa: BLE001 - whatever is raised is raised over there
            data = self._codec.encode(error)
            faults.let_go(error)
            return {"e": data}

    def _send(self, message: dict[str, Any]) -> None:
        self._codec.add_changes(message, prune=self._depth == 1)
        message["x"] = self._side.outgoing(self._depth)
        self._wire.send(message)
