"""Real git repositories over HTTP: `git http-backend` behind a server that asks for a user and a password."""

import base64
import os
import subprocess
import threading
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from tests.git_lfs import AUTHORIZATION, BATCH, STORAGE, LfsStore

TOKEN = "test-token-of-the-forge"


def fixed_token(token: str) -> Callable[[], Awaitable[str]]:
    """Make what an adapter reads its token with."""

    async def read() -> str:
        return token

    return read


@dataclass
class GitServer:
    """A running server. `asked` holds the paths that were asked for, with the status of the response."""

    root: Path
    port: int
    redirects: dict[str, str] = field(default_factory=dict[str, str])
    asked: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    logins: list[str] = field(default_factory=list[str])
    lfs: LfsStore = field(default_factory=LfsStore)

    @property
    def url(self) -> str:
        """The beginning of every repository's URL."""
        return f"http://127.0.0.1:{self.port}"

    def create(self, name: str, content: Path) -> Path:
        """Publish a copy of a repository that may be pushed to; gives its directory."""
        bare = self.root / f"{name}.git"
        bare.parent.mkdir(parents=True, exist_ok=True)
        run_git(self.root, "clone", "-q", "--bare", str(content), str(bare))
        run_git(bare, "config", "http.receivepack", "true")
        return bare


def run_git(where: Path, *arguments: str, stdin: bytes | None = None) -> str:
    """Run git without the configuration of a user."""
    names = {f"GIT_{a}_{b}": "ada@localhost" for a in ("AUTHOR", "COMMITTER") for b in ("NAME", "EMAIL")}
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", **names}
    done = subprocess.run(
        ["git", *arguments], cwd=where, env=env, input=stdin, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


@contextmanager
def serving_git(root: Path, token: str = TOKEN) -> Generator[GitServer]:
    """Serve the repositories below a directory until the block is left."""
    root.mkdir(parents=True, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    state = GitServer(root, server.server_port)

    class Handler(_GitHandler):
        git, expected = state, token

    server.RequestHandlerClass = Handler
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _GitHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    git: GitServer
    expected: str

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        for old, new in self.git.redirects.items():
            if self.path.startswith(old):
                self._send(302, {"Location": new + self.path.removeprefix(old)})
                return
        if parts.path.startswith(STORAGE):
            is_asked = self.headers.get("Authorization") == AUTHORIZATION
            content = self.git.lfs.objects[parts.path.removeprefix(STORAGE)]
            self._send(200 if is_asked else 403, {}, content if is_asked else b"")
            return
        if not self._is_let_in():
            self._send(401, {"WWW-Authenticate": 'Basic realm="git"'})
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if parts.path.endswith(BATCH):
            coding = {"Content-Encoding": "gzip"} if self.git.lfs.is_compressed else {}
            self._send(200, coding, self.git.lfs.batch(body, self.git.url))
            return
        done = subprocess.run(
            ["git", "http-backend"], env=self._environment(parts.path, parts.query), input=body,
            capture_output=True, check=True,
        )  # fmt: skip
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        status = int(headers.pop("Status", "200").split()[0])
        self._send(status, headers, content)

    def _is_let_in(self) -> bool:
        given = self.headers.get("Authorization", "")
        if not given.startswith("Basic "):
            return False
        login = base64.b64decode(given.removeprefix("Basic ")).decode()
        self.git.logins.append(login)
        return login.partition(":")[2] == self.expected

    def _environment(self, path: str, query: str) -> dict[str, str]:
        coding = self.headers.get("Content-Encoding")
        return {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.git.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "REMOTE_USER": "tester",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            **({"HTTP_CONTENT_ENCODING": coding} if coding else {}),
        }

    def _send(self, status: int, headers: Mapping[str, str], content: bytes = b"") -> None:
        self.git.asked.append((self.path, status))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
