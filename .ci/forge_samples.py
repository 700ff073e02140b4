"""Fetches what describes the interfaces of forges, and samples of deliveries, for their tests.

GitHub's description and samples are its own. For GitLab it is a client, as no registry has a description.

They lie in `.venv/forge-samples` and are no part of the project. Without npm's registry, those tests
are skipped and say so.
"""

import base64
import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PLACE = Path(__file__).resolve().parents[1] / ".venv" / "forge-samples"
PACKAGES = {
    "octokit-openapi-23.0.2.tgz": (
        "@octokit/openapi@23.0.2",
        "pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg==",
    ),
    "octokit-webhooks-examples-7.6.1.tgz": (
        "@octokit/webhooks-examples@7.6.1",
        "De6U3XB6O3DtCa7bKgCMzTHdeopqqZ6SNivMYJnK65ierKL1AnNIA0tkRYCRS7lwGT792d+Ps1WbfHlso6MynQ==",
    ),
    "gitbeaker-core-43.8.0.tgz": (
        "@gitbeaker/core@43.8.0",
        "H+LfKuf4dExBinb79c+CXViRBvTVQNf5BYLNSizm2SiqdED5JruhKX88payefleY0szp7G/mySlFSXPyGRH1dQ==",
    ),
}
_SECONDS = 180


def main() -> None:
    """Fetch what is not there yet."""
    PLACE.mkdir(parents=True, exist_ok=True)
    for name, (package, digest) in PACKAGES.items():
        if not (PLACE / name).exists():
            fetch(name, package, digest)


def fetch(name: str, package: str, digest: str) -> None:
    """Fetch one archive; end the program if it is another than expected."""
    npm = shutil.which("npm")
    if npm is None:
        print(f"npm is not installed, so {package} is not fetched and its tests are skipped")
        return
    with tempfile.TemporaryDirectory(dir=PLACE) as draft:
        command = [npm, "pack", "--silent", "--pack-destination", draft, package]
        try:
            done = subprocess.run(command, cwd=draft, capture_output=True, check=False, timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            done = None
        archive = Path(draft) / name
        if done is None or done.returncode != 0 or not archive.exists():
            print(f"{package} cannot be fetched, so its tests are skipped")
            return
        found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if found != digest:
            sys.exit(f"{package} is not what it was: its SHA-512 is {found}")
        archive.rename(PLACE / name)


if __name__ == "__main__":
    main()
