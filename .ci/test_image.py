"""Builds the image of the Dockerfile with Podman, starts it, and looks at what a user would meet.

The base images come from a registry. Where none can be reached, debootstrap makes them of Debian's Python and
Node. Run as root: `make test-image`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / "build" / "image"
"""Holds images that nothing else uses; several gigabytes. It may be deleted."""

IMAGE = "phaserunner:test"
NAME = f"phaserunner-test-{os.getpid()}"
PORT = 18_765
MIRROR = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
PACKAGES = {
    "python": "ca-certificates,python3,python3-venv",
    "node": "ca-certificates,nodejs,npm",
}
PATIENCE_SECONDS = 180.0


def main() -> None:
    """Build, start, look, and remove what was started."""
    for program in ("podman", "debootstrap"):
        if shutil.which(program) is None:
            sys.exit(f"{program} is not installed")
    if os.geteuid() != 0:
        sys.exit("run this as root: debootstrap makes the base images")
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    for base in re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE):
        have_base(base)
    certificates = f"{AUTHORITIES}:{AUTHORITIES}:ro"
    variables = [f"--env={each}={AUTHORITIES}" for each in ("PIP_CERT", "NODE_EXTRA_CA_CERTS")]
    podman(
        "build",
        "--format=docker",
        "--network=host",
        f"--volume={certificates}",
        *variables,
        "-t",
        IMAGE,
        str(ROOT),
    )
    try:
        limits = ("--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096")
        podman("run", "--detach", "--name", NAME, *limits, "--network=host", f"--env=PORT={PORT}", IMAGE)
        look()
    finally:
        podman("logs", NAME, check=False)
        podman("rm", "--force", NAME, check=False)


def have_base(image: str) -> None:
    """Pull an image, or make one that has the same programs."""
    if podman("image", "exists", image, check=False).returncode == 0:
        return
    if podman("pull", "--quiet", image, check=False).returncode == 0:
        return
    kind = image.partition(":")[0]
    print(f"{image} cannot be pulled: making one with debootstrap", flush=True)
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place) / "root"
        subprocess.run(
            ["debootstrap", "--variant=minbase", f"--include={PACKAGES[kind]}", "trixie", tree, MIRROR],
            stdout=subprocess.DEVNULL,
            check=True,
        )
        LIKE_THE_OFFICIAL[kind](tree)
        archive = Path(place) / "root.tar"
        subprocess.run(["tar", "-C", tree, "-cf", archive, "."], check=True)
        podman("import", "--quiet", str(archive), f"docker.io/library/{image}")


def newer_npm(tree: Path) -> None:
    """The dashboard asks for a newer npm than Debian's."""
    bundle = tree / AUTHORITIES.relative_to("/")
    shutil.copy(AUTHORITIES, bundle)
    env = {**os.environ, "NODE_EXTRA_CA_CERTS": str(AUTHORITIES)}
    subprocess.run(["chroot", tree, "npm", "install", "--global", "--silent", "npm@10"], env=env, check=True)


def plain_python(tree: Path) -> None:
    """The official image has `python` in `/usr/local`, and a pip that installs beside it."""
    subprocess.run(["chroot", tree, "python3", "-m", "venv", "/usr/local"], check=True)


LIKE_THE_OFFICIAL = {"python": plain_python, "node": newer_npm}


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


def podman(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run Podman as it works for root without systemd and overlays."""
    store = (f"--root={STORE / 'root'}", f"--runroot={STORE / 'run'}")
    options = (*store, "--storage-driver=vfs", "--cgroup-manager=cgroupfs", "--runtime=runc")
    shown = arguments[0] in ("build", "logs")
    return subprocess.run(
        ["podman", *options, *arguments],
        stdout=None if shown else subprocess.PIPE,
        text=True,
        check=check,
    )


if __name__ == "__main__":
    main()
