"""Real git repositories over ssh: OpenSSH's own server, which takes one key, on a port of this machine."""

import os
import pwd
import shutil
import socketserver
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.git_http import run_git

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")

_RULES = """
HostKey {place}/host
AuthorizedKeysFile {place}/key.pub
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
AcceptEnv GIT_PROTOCOL
SetEnv PATH={place}/programs:/usr/local/bin:/usr/bin:/bin
LogLevel VERBOSE
"""


@dataclass(frozen=True)
class SshServer:
    """A running server.

    Attributes:
        place: directory with everything that belongs to it.
        port: where it listens.
        user: who git logs in as.
    """

    place: Path
    port: int
    user: str

    @property
    def beginning(self) -> str:
        """The beginning of the URLs of its repositories."""
        return f"ssh://{self.user}@127.0.0.1:{self.port}{self.place}/served"

    @property
    def key(self) -> str:
        """The private key that it takes."""
        return (self.place / "key").read_text()

    @property
    def known_hosts(self) -> Path:
        """The file that names its key to clients."""
        return self.place / "known hosts"

    @property
    def log(self) -> str:
        """What it logged."""
        return (self.place / "log").read_text()

    def answer_about_lfs(self, answer: str, status: int = 0) -> Path:
        """Let `git-lfs-authenticate` answer this; gives the file that holds what it was asked."""
        program, asked = self.place / "programs" / "git-lfs-authenticate", self.place / "asked about lfs"
        program.parent.mkdir(exist_ok=True)
        (self.place / "answer about lfs").write_text(answer)
        program.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "$@" >> "{asked}"\n'
            f'cat "{self.place}/answer about lfs"\nexit {status}\n'
        )
        program.chmod(0o755)
        return asked

    def create(self, name: str, content: Path) -> Path:
        """Publish a copy of a repository; gives its directory."""
        bare = self.place / "served" / f"{name}.git"
        bare.parent.mkdir(parents=True, exist_ok=True)
        run_git(self.place, "clone", "-q", "--bare", str(content), str(bare))
        return bare


@contextmanager
def serving_ssh(place: Path) -> Generator[SshServer]:
    """Serve what is below `place/served` until the block is left."""
    assert SSHD is not None
    place.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:  # with these rights the server insists on its directory
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    for name in ("host", "key"):
        make_key(place / name)
    rules = place / "rules"
    rules.write_text(_RULES.format(place=place))
    log = (place / "log").open("ab")
    command = [SSHD, "-i", "-e", "-f", str(rules)]

    class Connection(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            subprocess.run(command, stdin=self.request, stdout=self.request, stderr=log, check=False)

    with log, socketserver.ThreadingTCPServer(("127.0.0.1", 0), Connection) as server:
        port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        running = SshServer(place, port, pwd.getpwuid(os.geteuid()).pw_name)
        kind, public = (place / "host.pub").read_text().split()[:2]
        running.known_hosts.write_text(f"[127.0.0.1]:{port} {kind} {public}\n")
        try:
            yield running
        finally:
            server.shutdown()
            thread.join()


def make_key(file: Path, passphrase: str = "") -> None:
    """Write a new private key, and `NAME.pub` beside it."""
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", str(file)]
    subprocess.run(command, check=True, capture_output=True)
