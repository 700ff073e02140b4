"""Podman for root, without systemd and overlays, and base images where no registry can be reached."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / "build" / "image"
"""Holds images that nothing else uses; several gigabytes. It may be deleted."""

IMAGE = "phaserunner:test"
OPTIONS = (
    f"--root={STORE / 'root'}",
    f"--runroot={STORE / 'run'}",
    "--storage-driver=vfs",
    "--cgroup-manager=cgroupfs",
    "--runtime=runc",
)
MIRROR = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
PACKAGES = {
    "python": ("ca-certificates", "python3", "python3-venv"),
    "node": ("ca-certificates", "nodejs", "npm"),
}


def require_root_with(*programs: str) -> None:
    """Exit with a message if a program is missing, or if this is not run as root."""
    for program in programs:
        if shutil.which(program) is None:
            sys.exit(f"{program} is not installed")
    if os.geteuid() != 0:
        sys.exit("run this as root: debootstrap makes the base images")


def podman(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run Podman on the store of these tests. Builds and logs are shown, other output is returned."""
    shown = arguments[0] in ("build", "logs")
    return subprocess.run(
        ["podman", *OPTIONS, *arguments],
        stdout=None if shown else subprocess.PIPE,
        text=True,
        check=check,
    )


def has_image(image: str) -> bool:
    """Return True if the image is in the store, or can be pulled into it."""
    if podman("image", "exists", image, check=False).returncode == 0:
        return True
    return podman("pull", "--quiet", image, check=False).returncode == 0


def build_image() -> None:
    """Build the image of the Dockerfile as `IMAGE`."""
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    for base in re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE):
        if not has_image(base):
            make_base(base)
    certificates = f"{AUTHORITIES}:{AUTHORITIES}:ro"
    variables = [f"--env={each}={AUTHORITIES}" for each in ("PIP_CERT", "NODE_EXTRA_CA_CERTS")]
    options = ("--format=docker", "--network=host", f"--volume={certificates}", *variables)
    podman("build", *options, "-t", IMAGE, str(ROOT))


def make_base(image: str) -> None:
    """Make an image that has the same programs as an official one."""
    kind = image.partition(":")[0]
    print(f"{image} cannot be pulled: making one with debootstrap", flush=True)
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place) / "root"
        debootstrap = ["debootstrap", "--variant=minbase", "trixie", tree, MIRROR]
        subprocess.run(debootstrap, stdout=subprocess.DEVNULL, check=True)
        _install(tree, PACKAGES[kind])
        LIKE_THE_OFFICIAL[kind](tree)
        archive = Path(place) / "root.tar"
        subprocess.run(["tar", "-C", tree, "-cf", archive, "."], check=True)
        podman("import", "--quiet", str(archive), f"docker.io/library/{image}")


def _install(tree: Path, packages: Sequence[str]) -> None:
    # debootstrap itself configures packages in an order that npm's many dependencies do not survive.
    shutil.copy("/etc/resolv.conf", tree / "etc" / "resolv.conf")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-qq", "--no-install-recommends", *packages]):
        subprocess.run(
            ["chroot", tree, "apt-get", *command, "-y"], env=env, stdout=subprocess.DEVNULL, check=True
        )


def _newer_npm(tree: Path) -> None:
    """Install npm 10, because the dashboard needs a newer one than Debian's."""
    bundle = tree / AUTHORITIES.relative_to("/")
    shutil.copy(AUTHORITIES, bundle)
    env = {**os.environ, "NODE_EXTRA_CA_CERTS": str(AUTHORITIES)}
    subprocess.run(["chroot", tree, "npm", "install", "--global", "--silent", "npm@10"], env=env, check=True)


def _plain_python(tree: Path) -> None:
    """Put `python` and a pip that installs beside it into `/usr/local`, as the official image does."""
    subprocess.run(["chroot", tree, "python3", "-m", "venv", "/usr/local"], check=True)


LIKE_THE_OFFICIAL = {"python": _plain_python, "node": _newer_npm}
