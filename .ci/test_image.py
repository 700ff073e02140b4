"""Builds the image of the Dockerfile with Podman, starts it, and looks at what a user would meet.

The base images come from a registry. Where none can be reached, debootstrap makes them of Debian's Python and
Node. Run as root: `make test-image`.
"""

import json
import os
import time
import urllib.request

from podman_store import IMAGE, build_image, podman, require_root_with

NAME = f"phaserunner-test-{os.getpid()}"
PORT = 18_765
PATIENCE_SECONDS = 180.0


def main() -> None:
    """Build, start, look, and remove what was started."""
    require_root_with("podman", "debootstrap")
    build_image()
    try:
        limits = ("--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096")
        podman("run", "--detach", "--name", NAME, *limits, "--network=host", f"--env=PORT={PORT}", IMAGE)
        look()
    finally:
        podman("logs", NAME, check=False)
        podman("rm", "--force", NAME, check=False)


def look() -> None:
    """Check what the running container answers and what is in it."""
    ready = answer("/readyz")
    print(f"readyz: {ready}")
    assert json.loads(ready)["ready"], ready
    assert "<title>" in answer("/"), "the dashboard is missing"
    assert inside("id", "-u") == "10001", "it runs as another user"
    assert inside("sh", "-c", "command -v gcc cc make || true") == "", "a compiler is in the image"
    assert inside("phaserunner", "--version"), "the command line is missing"
    podman("healthcheck", "run", NAME)
    size = podman("image", "inspect", IMAGE, "--format", "{{.Size}}").stdout
    print(f"all is well; the image has {int(size) / 1e6:.0f} MB")


def answer(path: str) -> str:
    """Return what the service answers, as soon as it does."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{PORT}{path}", timeout=5) as found:
                return found.read().decode()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(1)


def inside(*command: str) -> str:
    """Run a program in the container; return what it printed."""
    return podman("exec", NAME, *command).stdout.strip()


if __name__ == "__main__":
    main()
