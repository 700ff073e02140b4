"""Works for one hook, in a process that was forked for it and acts in the caller's place."""

import io
import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.cli.main import prepare, run
from app.cli.root import Root, read_root
from app.cli.standby.wire import receive, send

_REQUEST_SECONDS = 20.0
_GRACE_SECONDS = 30.0
_MODELS = "pydantic_ai"


def work(connection: socket.socket, described: str, server: int) -> None:
    """Run a hook's command line and send its output. Send nothing if this process may not do the work.

    Args:
        connection: to the hook.
        described: the surroundings of this process, which must equal the hook's.
        server: the id of the standby process.
    """
    connection.settimeout(_REQUEST_SECONDS)
    request = receive(connection)
    if request is None or request["surroundings"] != described:
        return
    connection.settimeout(None)
    _take_over(request)
    send(connection, {"accepted": True})
    threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
    said = io.BytesIO(), io.BytesIO()
    out, err = (_text_over(each) for each in said)
    given = io.BytesIO(request["stdin"].encode("latin-1"))
    sys.stdin = io.TextIOWrapper(given, sys.stdin.encoding, sys.stdin.errors)
    sys.stdout, sys.stderr = out, err
    code = run(request["arguments"], lambda judged: _root(server, judged), err)
    written = [each.getvalue().decode("latin-1") for each in said]
    send(connection, {"code": int(code), "out": written[0], "err": written[1]})


def _take_over(request: dict[str, Any]) -> None:
    os.environ.clear()  # noqa: TID251 - the caller's own settings count, as if it ran this itself
    os.environ.update(request["environment"])  # noqa: TID251 - the same
    prepare()
    os.chdir(request["cwd"])
    os.umask(request["umask"])
    time.tzset()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _root(server: int, judged: Path | None) -> Root:
    had_models = _MODELS in sys.modules

    def stand_by(seconds: float) -> None:
        if os.getppid() != server:
            return
        if not seconds:
            os.kill(server, signal.SIGTERM)
        elif _MODELS in sys.modules and not had_models:
            os.kill(server, signal.SIGUSR1)

    return replace(read_root(judged), stand_by=stand_by)


def _end_with(connection: socket.socket) -> None:
    """Wait until the hook is gone, then end this process as an interrupt would."""
    with suppress(OSError):
        connection.recv(1)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(_GRACE_SECONDS)
    os._exit(1)


def _text_over(stream: io.BytesIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(stream, sys.stdout.encoding, "backslashreplace", write_through=True)
