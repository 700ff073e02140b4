"""Tells what can be reached from where it runs: through the proxy of its environment, and past it."""

import json
import os
import socket
import sys
import urllib.error
import urllib.parse
import urllib.request

SECONDS = 60


def proxied(url: str) -> str:
    """Ask for a page as programs do."""
    try:
        with urllib.request.urlopen(url, timeout=SECONDS) as answer:
            return str(answer.status)
    except urllib.error.HTTPError as error:
        return str(error.code)
    except OSError:
        return "refused"


def direct(host: str, port: str) -> str:
    """Connect to a port, or to a socket if the host is a path."""
    is_path = host.startswith("/")
    try:
        if is_path:
            with socket.socket(socket.AF_UNIX) as opened:
                opened.connect(f"{host}/.s.PGSQL.{port}")
            return "connected"
        with socket.create_connection((host, int(port)), timeout=SECONDS) as opened:
            return "refused" if is_of_this_place(opened) else "connected"
    except OSError:
        return "refused"


def is_of_this_place(connection: socket.socket) -> bool:
    """Whether the other end is this connection itself, or the way to the proxy.

    The system gives numbers out of the same range to ports outside and here. So a port that is taken outside
    can be the near end of this connection, which TCP then connects with itself, or the port that the proxy
    has here.
    """
    proxy = urllib.parse.urlsplit(os.environ.get("http_proxy", ""))
    other = connection.getpeername()
    return other == connection.getsockname() or other[:2] == (proxy.hostname, proxy.port)


def main(places: list[str]) -> None:
    """Print what each place, as HOST PORT, answers."""
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = ""
    found: dict[str, str] = {}
    for host, _, port in (each.rpartition(" ") for each in places):
        if not host.startswith("/"):
            name = f"[{host}]" if ":" in host else host
            found[f"proxied {host} {port}"] = proxied(f"http://{name}:{port}/api/v1/runs")
        found[f"direct {host} {port}"] = direct(host, port)
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
