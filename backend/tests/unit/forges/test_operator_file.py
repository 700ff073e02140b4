"""The operator's file of forges: what it says, and what each mistake in it is called."""

import json
from pathlib import Path

import pytest

from app.core.errors import InvalidInputError
from app.forges.operator_file import json_schema, load_forges, parse_forges
from app.forges.repositories import Members

GOOD = """
[credentials.acme]
env = "ACME_TOKEN"

[forges.github]
credential = "acme"

[[repositories]]
name = "acme/widgets"
forge = "github"
branch = "bot/{issue}-{run}"
"""


def test_without_a_file_nothing_takes_part() -> None:
    assert load_forges(None).repositories == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(('env = "ACME_TOKEN"', 'token = "ghp_x"'), "f.toml:3: credentials.acme.token", id="key"),
        pytest.param(('env = "ACME_TOKEN"', 'env = "A"\nfile = "b"'), "give either env or file", id="two"),
        pytest.param(('credential = "acme"', 'credential = "other"'), "f.toml:6: forges.github", id="name"),
        pytest.param(('forge = "github"', 'forge = "gitlab"'), "f.toml:10: repositories.0.forge", id="forge"),
        pytest.param(("{issue}-{run}", "{issue}"), "must contain {run}", id="branch"),
        pytest.param(
            ("{issue}-{run}", "{run}{user}"), "placeholders {run} and {issue} only", id="placeholder"
        ),
        pytest.param(
            ('forge = "github"', 'forge = "github"\ntitle = "{goal}"'),
            "f.toml:11: repositories.0.title: {goal} is no placeholder; these are: {name}, {issue}, {run}",
            id="placeholder of a title",
        ),
        pytest.param(
            ('forge = "github"', 'forge = "github"\ntitle = "a\\nb"'),
            "f.toml:11: repositories.0.title",
            id="title of two lines",
        ),
        pytest.param(
            ('forge = "github"', 'forge = "github"\ndescription = """\n{evidence}\n{cost}\n"""'),
            "f.toml:11: repositories.0.description: {cost} is no placeholder; these are: {name}",
            id="placeholder of a description",
        ),
        pytest.param(
            ('forge = "github"', 'forge = "github"\ndescription = " "'),
            "f.toml:11: repositories.0.description: it is empty",
            id="empty description",
        ),
        pytest.param(
            ('forge = "github"', 'forge = "github"\ndescription = "<!-- PhaseRunner:end -->"'),
            "by which the service finds what it wrote",
            id="mark in a description",
        ),
        pytest.param(('"acme/widgets"', '"widgets"'), "f.toml:9: repositories.0.name", id="no owner"),
        pytest.param(
            ('credential = "acme"', 'credential = "acme"\napi = "http://forge.example"'),
            "api must begin with https://",
            id="clear text",
        ),
        pytest.param(
            ('credential = "acme"', 'credential = "acme"\napi = "https://.forge.example"'),
            "f.toml:5: forges.github: api: '.forge.example' is not a valid host name",
            id="host",
        ),
        pytest.param(("[forges.github]", "[forges.github"), "is not TOML", id="TOML"),
        pytest.param(
            ('env = "ACME_TOKEN"', 'env = "A"\nurls = ["git@github.com:acme/"]'),
            "known_hosts names the keys of ssh servers",
            id="ssh without known hosts",
        ),
        pytest.param(
            ('env = "ACME_TOKEN"', 'env = "A"\nurls = ["https://x/"]\nknown_hosts = "/k"'),
            "is none",
            id="known hosts for https",
        ),
        pytest.param(
            ('env = "ACME_TOKEN"', 'env = "A"\nknown_hosts = "known_hosts"'),
            "credentials.acme.known_hosts",
            id="relative known hosts",
        ),
        pytest.param(
            ('env = "ACME_TOKEN"', 'env = "A"\nurls = ["github.com/acme"]'),
            "is not the beginning of a URL",
            id="no URL",
        ),
        pytest.param(
            ('env = "ACME_TOKEN"', 'env = "A"\nknown_hosts = "/k"\nurls = ["git@github.com:acme/"]'),
            "'acme' is for ssh, not for an API",
            id="ssh for an API",
        ),
    ],
)
def test_a_mistake_names_line_and_key(change: tuple[str, str], said: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        parse_forges(GOOD.replace(*change), "f.toml")
    assert said in refused.value.detail
    assert refused.value.field == "FORGES_FILE"


def test_pull_requests_of_each_forge_can_be_followed() -> None:
    rules = "[repositories.review]\nrounds = 2\n"
    (followed,) = parse_forges(GOOD + rules, "f.toml").repositories
    assert followed.review is not None
    assert (followed.review.rounds, followed.review.settle_seconds) == (2, 30)
    of_gitlab = GOOD.replace('credential = "acme"', 'credential = "acme"\nkind = "gitlab"') + rules
    assert parse_forges(of_gitlab, "f.toml").repositories[0].review is not None
    with pytest.raises(InvalidInputError, match=r"f\.toml:13: repositories\.0\.review\.rounds"):
        parse_forges(GOOD + rules.replace("2", "0"), "f.toml")


@pytest.mark.parametrize(
    "names", ['name = "Acme/Widgets"', 'name = "acme/b"\nformer_names = ["acme/Widgets"]']
)
def test_a_repository_twice_is_refused(names: str) -> None:
    again = f'\n[[repositories]]\n{names}\nforge = "github"\n'
    with pytest.raises(InvalidInputError, match="is defined twice"):
        parse_forges(GOOD + again, "f.toml")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be read"):
        load_forges(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/widgets",
        "https://github.com/Acme/Widgets.git",
        "https://user@github.com/acme/widgets/",
        "git@github.com:acme/widgets.git",
        "ssh://git@GitHub.com:22/acme/widgets",
    ],
)
def test_a_source_finds_its_repository(url: str) -> None:
    found = Members(parse_forges(GOOD, "f.toml")).of_url(url)
    assert found is not None
    assert found.clone_url == "https://github.com/acme/widgets.git"
    assert found.branch_for("1a2b3c4d", 7) == "bot/7-1a2b3c4d"


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/other/issues/7",
        "https://github.com.evil.example/acme/widgets/issues/7",
        "https://github.com/acme/widgets/issues/0",
        "https://github.com/acme/widgets/issues/7/../8",
        "acme/widgets#7",
    ],
)
def test_what_is_no_issue_of_a_repository_is_refused(url: str) -> None:
    with pytest.raises(InvalidInputError, match="is not an issue of a repository") as refused:
        Members(parse_forges(GOOD, "f.toml")).of_issue(url)
    assert refused.value.field == "issue"


def test_a_renamed_repository_is_found_by_its_former_names() -> None:
    text = GOOD.replace('name = "acme/widgets"', 'name = "acme/widgets"\nformer_names = ["Old/Gadgets"]')
    members = Members(parse_forges(text, "f.toml"))
    by_issue, number = members.of_issue("https://github.com/old/gadgets/issues/7")
    found = [
        members.named("github", "old/gadgets"),
        members.of_url("git@github.com:Old/gadgets.git"),
        by_issue,
    ]
    assert [each and each.clone_url for each in found] == ["https://github.com/acme/widgets.git"] * 3
    assert number == 7


def test_an_issue_finds_its_repository() -> None:
    members = Members(parse_forges(GOOD, "f.toml"))
    assert members.of_issue("https://github.com/acme/widgets/issues/7#issuecomment-1")[1] == 7


def test_the_published_schema_is_current() -> None:
    published = Path(__file__).parents[4] / "docs" / "forges.schema.json"
    assert json.loads(published.read_text()) == json_schema()
