"""Starts inside the sandbox: connects a loopback port to a unix socket, then runs a program.

Runs alone, with any Python 3.8 or newer and nothing but its standard library:
`python -I -S forwarder.py PORT SOCKET PROGRAM [ARGUMENT ...]`. With port 0 the socket is that of the proxy:
the system chooses a port, and the program's variables for proxies name it. Exits as the program does,
128 + signal included.
"""

import os
import selectors
import signal
import socket
import sys
import threading

_CHUNK = 65_536
_VARIABLES = ("http_proxy", "https_proxy", "all_proxy")


def main(port: int, path: str, argv: "list[str]") -> int:
    """Run the program and forward its connections; return its exit status."""
    listener = socket.create_server(("127.0.0.1", port), backlog=128)
    # This program has no settings: what it was started with goes on to the program that it starts.
    env = dict(os.environ)  # noqa: TID251 - the program gets this environment
    if port == 0:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        for name in _VARIABLES:
            env[name] = env[name.upper()] = address
        env["NO_PROXY"] = env["no_proxy"] = "localhost,127.0.0.1,::1"
    try:
        pid = _spawn(argv, env)
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        return 127 if isinstance(error, FileNotFoundError) else 126
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda received, _: os.kill(pid, received))
    threading.Thread(target=_accept, args=(listener, path), daemon=True).start()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return status if status >= 0 else 128 - status


def _spawn(argv: "list[str]", env: "dict[str, str]") -> int:
    return os.posix_spawnp(argv[0], argv, env, setsigdef=[signal.SIGPIPE])


def _accept(listener: socket.socket, path: str) -> None:
    while True:
        near, _ = listener.accept()
        far = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            far.connect(path)
        except OSError:
            near.close()
            far.close()
            continue
        threading.Thread(target=_pump, args=(near, far), daemon=True).start()


def _pump(near: socket.socket, far: socket.socket) -> None:
    """Copy both ways until both sides have ended."""
    sinks = {near.fileno(): (near, far), far.fileno(): (far, near)}
    with near, far, selectors.DefaultSelector() as ready:
        for number in sinks:
            ready.register(number, selectors.EVENT_READ)
        try:
            while ready.get_map():
                for key, _ in ready.select():
                    source, sink = sinks[key.fd]
                    data = source.recv(_CHUNK)
                    if data:
                        sink.sendall(data)
                        continue
                    ready.unregister(key.fd)
                    sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # one side is gone; so is the connection


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))
