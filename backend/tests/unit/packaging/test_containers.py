"""The image, Compose and Kubernetes: static checks; `make test-image` and `make test-compose` start them."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import kubernetes_validate  # pyright: ignore[reportMissingTypeStubs]
import pytest
import yaml

from app.cli.main import build_app
from app.core.config import Settings

ROOT = Path(__file__).parents[4]
STAGES = re.split(r"^FROM ", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)[1:]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
MANIFESTS: list[dict[str, Any]] = [
    *yaml.safe_load_all((ROOT / "docs" / "kubernetes" / "phaserunner.yaml").read_text())
]
DEPLOYMENTS = {each["metadata"]["name"]: each for each in MANIFESTS if each["kind"] == "Deployment"}
OURS = ("api", "worker")


def check_command(words: list[str]) -> None:
    """The command line knows the command and its options."""
    assert words[0] == "phaserunner"
    build_app().parse_args(words[1:], exit_on_error=False, print_error=False)


def pod(name: str) -> dict[str, Any]:
    return DEPLOYMENTS[f"phaserunner-{name}"]["spec"]["template"]["spec"]


def test_the_image_runs_as_a_plain_user_and_says_whether_it_is_well() -> None:
    last = STAGES[-1]
    assert re.findall(r"^USER (\S+)", last, re.MULTILINE) == ["phaserunner"]
    assert "HEALTHCHECK" in last
    assert "--require-hashes -r requirements.lock" in last
    assert not re.search(r"gcc|build-essential|\bmake\b", last)
    check_command(json.loads(re.findall(r"^CMD (.*)", last, re.MULTILINE)[-1]))


def test_what_the_image_copies_is_there() -> None:
    for stage in STAGES:
        for line in re.findall(r"^COPY (?!--from)(.*)", stage, re.MULTILINE):
            *sources, _ = shlex.split(line)
            assert [each for each in sources if not (ROOT / each).exists()] == []


@pytest.mark.parametrize("name", OURS)
def test_compose_starts_known_commands_with_known_settings(name: str) -> None:
    service = COMPOSE["services"][name]
    check_command(service["command"])
    assert set(service["environment"]) - set(Settings.model_fields) == set()
    assert service["image"] == COMPOSE["x-phaserunner"]["image"]


def test_compose_opens_no_port_to_others_and_loosens_the_worker_alone() -> None:
    services = COMPOSE["services"]
    ports = [port for each in services.values() for port in each.get("ports", [])]
    assert ports == ["127.0.0.1:${PORT:-8000}:8000"]
    assert [name for name, each in services.items() if "security_opt" in each] == ["worker"]
    assert not any(each.get("privileged") for each in services.values())


def test_compose_watches_the_file_that_the_worker_renews() -> None:
    worker = COMPOSE["services"]["worker"]
    assert worker["environment"]["WORKER_ALIVE_FILE"] in worker["healthcheck"]["test"][1]


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda each: f"{each['kind']}-{each['metadata']['name']}")
def test_manifests_keep_to_the_schema_of_kubernetes(manifest: dict[str, Any]) -> None:
    kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize("name", OURS)
def test_pods_run_known_commands_as_a_plain_user_and_are_probed(name: str) -> None:
    (container,) = pod(name)["containers"]
    check_command(container["args"])
    assert pod(name)["securityContext"]["runAsNonRoot"]
    assert pod(name)["automountServiceAccountToken"] is False
    assert not container["securityContext"]["allowPrivilegeEscalation"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["livenessProbe"]
    assert container["resources"]["limits"]["memory"]


def test_the_pod_watches_the_file_that_the_worker_renews() -> None:
    (container,) = pod("worker")["containers"]
    (variable,) = container["env"]
    assert variable["name"] == "WORKER_ALIVE_FILE"
    for probe in ("startupProbe", "livenessProbe"):
        assert variable["value"] in " ".join(container[probe]["exec"]["command"])


def test_manifests_name_settings_and_each_other() -> None:
    by_kind = {(each["kind"], each["metadata"]["name"]): each for each in MANIFESTS}
    settings = by_kind["ConfigMap", "phaserunner"]["data"]
    assert set(settings) - set(Settings.model_fields) == set()
    labels = [each["spec"]["template"]["metadata"]["labels"] for each in DEPLOYMENTS.values()]
    selectors = [
        each["spec"]["selector"].get("matchLabels", each["spec"]["selector"])
        for each in MANIFESTS
        if each["kind"] in ("Service", "PodDisruptionBudget")
    ]
    assert selectors
    for selector in selectors:
        assert any(selector.items() <= each.items() for each in labels), selector
