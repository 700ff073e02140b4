"""The operator's file of notifications: what it says, and what each mistake in it is called."""

import json
from pathlib import Path

import pytest

from app.core.errors import InvalidInputError
from app.core.websocket_events import SprintEventType
from app.notifications.operator_file import json_schema, load_notifications, parse_notifications

GOOD = """
page = "https://phaserunner.example"
[links]
secret = { env = "LINKS" }
[smtp]
host = "mail.example"
sender = "bot@example.org"
[receivers.team]
kind = "slack"
url = { env = "SLACK" }
decide = true
[receivers.lead]
kind = "email"
to = ["ada@example.org"]
events = ["budget"]
"""


def test_a_receiver_gets_the_events_of_its_topics() -> None:
    file = parse_notifications(GOOD, "n.toml")
    assert file.receivers["lead"].event_types == {SprintEventType.BUDGET_WARNING}
    assert SprintEventType.ESCALATION_REQUIRED in file.receivers["team"].event_types
    assert load_notifications(None).receivers == {}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        pytest.param('"slack"', '"irc"', "n.toml:8: receivers.team", id="kind"),
        pytest.param(
            'url = { env = "SLACK" }', 'url = "https://x"', "n.toml:10: receivers.team.url", id="url"
        ),
        pytest.param('"https://ph', '"http://ph', "n.toml:2: page: must begin with https://", id="page"),
        pytest.param(
            '[links]\nsecret = { env = "LINKS" }', "", "receivers.team.decide: needs page", id="links"
        ),
        pytest.param(
            '["ada@example.org"]', '["a@b\\nBcc: x@y"]', "n.toml:14: receivers.lead.to.0", id="address"
        ),
        pytest.param(
            '"mail.example"', '"mail.example"\nsecurity = "none"', "only for a server", id="clear text"
        ),
        pytest.param(
            '"mail.example"', '"mail.example"\nusername = "u"', "username and password", id="password"
        ),
        pytest.param(
            '"mail.example"', '"mail..example"', "smtp: 'mail..example' is not a valid host name", id="host"
        ),
        pytest.param('["budget"]', "[]", "receivers.lead.events", id="no events"),
    ],
)
def test_a_mistake_names_line_and_key(before: str, after: str, said: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        parse_notifications(GOOD.replace(before, after), "n.toml")
    assert said in refused.value.detail
    assert refused.value.field == "NOTIFICATIONS_FILE"


def test_email_needs_a_server() -> None:
    with pytest.raises(InvalidInputError, match=r"receivers\.m\.kind: e-mail needs"):
        parse_notifications('[receivers.m]\nkind = "email"\nto = ["a@b.org"]', "n.toml")


def test_the_published_schema_is_the_files() -> None:
    published = Path(__file__).parents[4] / "docs" / "notifications.schema.json"
    assert json.loads(published.read_text()) == json_schema()
