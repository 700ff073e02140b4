"""Starts inside the sandbox: connects a loopback port to a unix socket, then runs a program.

It runs alone, with any Python 3.8 or newer and only the standard library: `python -I -S forwarder.py PORT
SOCKET PROGRAM [ARGUMENT ...]`. A port of 0 or below means that the socket belongs to the proxy. The loopback
port is then the number without its sign, or the system's choice for 0, and the program's proxy variables name
it. The exit status is the program's, 128 + signal included.

Every confined launch with network access waits for this program to start. So it uses the C modules below
`signal` and `socket`, but not `selectors` or `threading`: those four take longer than the rest of its start.
"""

import _thread
import os
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    import socket
    from collections.abc import Callable
else:
    import _signal as signal
    import _socket as socket

_CHUNK = 65_536
_BACKLOG = 128
_PAUSE_SECONDS = 0.1
_VARIABLES = ("http_proxy", "https_proxy", "all_proxy")


def main(port: int, path: str, argv: "list[str]") -> int:
    """Run the program and forward its connections; return its exit status."""
    listener = _listen(abs(port))
    # This program has no settings: it passes its whole environment on to the program.
    env = dict(os.environ)  # noqa: TID251 - the program gets this environment
    if port <= 0:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        for name in _VARIABLES:
            env[name] = env[name.upper()] = address
        env["NO_PROXY"] = env["no_proxy"] = "localhost,127.0.0.1,::1"
    try:
        pid = _spawn(argv, env)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
        return 127 if isinstance(error, FileNotFoundError) else 126
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda received, _: os.kill(pid, received))
    _thread.start_new_thread(_accept, (listener, path))
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return status if status >= 0 else 128 - status


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(_BACKLOG)
    return listener


def _spawn(argv: "list[str]", env: "dict[str, str]") -> int:
    return os.posix_spawnp(argv[0], argv, env, setsigdef=[signal.SIGPIPE])


def _accept(listener: socket.socket, path: str) -> None:
    while True:
        try:
            near = socket.socket(fileno=_accepted(listener))
        except OSError:
            select.select([], [], [], _PAUSE_SECONDS)  # there are too many open files
            continue
        _forward(near, path)


def _forward(near: socket.socket, path: str) -> None:
    """Forward one connection. If that is impossible, close it, because the next one may find room."""
    far = None
    try:
        far = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        far.connect(path)
        _thread.start_new_thread(_pump, (near, far))
    except (OSError, RuntimeError):  # RuntimeError: there are too many processes
        near.close()
        if far is not None:
            far.close()


def _accepted(listener: socket.socket) -> int:
    # The C module has no other way to accept, and its type stub does not list this one.
    accept: Callable[[], tuple[int, object]] = getattr(listener, "_accept")  # noqa: B009 - see above
    return accept()[0]


def _pump(near: socket.socket, far: socket.socket) -> None:
    """Copy in both directions until both sides have ended."""
    sinks = {near.fileno(): (near, far), far.fileno(): (far, near)}
    ready = select.poll()
    for number in sinks:
        ready.register(number, select.POLLIN)
    open_sides = len(sinks)
    try:
        while open_sides:
            for number, _ in ready.poll():
                source, sink = sinks[number]
                data = source.recv(_CHUNK)
                if data:
                    sink.sendall(data)
                    continue
                ready.unregister(number)
                open_sides -= 1
                sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # One side is gone, which ends the connection.
    finally:
        near.close()
        far.close()


if __name__ == "__main__":
    # Nothing is left to clean up, and the interpreter's normal exit takes longer.
    os._exit(main(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))
