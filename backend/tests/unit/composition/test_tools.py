"""Logins that the operator lends, as the settings name them."""

from pathlib import Path

import pytest

from app.composition.tools import installed_agents
from app.core.config import Settings
from app.core.errors import InvalidInputError
from app.workspaces.confine.sandbox import Sandbox
from tests.unit.agents.external.support import FakeGateway

PROFILES = """
[agents.vendor]
driver = "command"
argv = ["vendor"]
output = "text"
dialect = "anthropic"
model = "subscription"
network = "machine"
login = "{home}/.vendor"
"""


def agents_with(place: Path, logins: str):
    profiles = place / "agents.toml"
    profiles.write_text(PROFILES)
    settings = Settings.model_validate(
        {"AGENTS_FILE": profiles, "AGENT_LOGINS": logins, "DATA_DIR": place / "data"}
    )
    return installed_agents(settings, Sandbox(), FakeGateway(), ())


def test_a_login_is_read_from_the_settings(tmp_path: Path) -> None:
    found = agents_with(tmp_path, f"vendor={tmp_path / 'login'}")
    assert found.logins == {"vendor": tmp_path / "login"}


@pytest.mark.parametrize(
    ("logins", "told"),
    [
        pytest.param("nobody=/srv/login", "no profile 'nobody' with a login", id="no such profile"),
        pytest.param("codex=/srv/login", "no profile 'codex' with a login", id="a profile without a login"),
        pytest.param("vendor={data}/login", "lies in DATA_DIR", id="among the service's data"),
        pytest.param("vendor={data}", "lies in DATA_DIR", id="the service's data"),
        pytest.param("vendor={data}/../data/login", "lies in DATA_DIR", id="by a detour"),
    ],
)
def test_a_login_that_cannot_be_lent_names_the_setting(tmp_path: Path, logins: str, told: str) -> None:
    with pytest.raises(InvalidInputError, match=told) as refused:
        agents_with(tmp_path, logins.format(data=tmp_path / "data"))
    assert refused.value.field == "AGENT_LOGINS"
