"""Which URLs a credential is for."""

import pytest

from app.core.credential_urls import begins_with, can_be_beginning, is_ssh


@pytest.mark.parametrize(
    ("url", "beginning"),
    [
        ("https://github.com/acme/widgets.git", "https://github.com/acme/"),
        ("https://GitHub.com:443/acme/widgets", "https://github.com/acme/widgets.git"),
        ("ssh://git@github.com/acme/widgets", "ssh://git@github.com:22/acme"),
        ("git@github.com:acme/widgets.git", "git@github.com:acme/"),
        ("git@host:/srv/acme", "ssh://git@host/srv/"),
    ],
)
def test_urls_that_begin_with_it(url: str, beginning: str) -> None:
    assert begins_with(url, beginning)


@pytest.mark.parametrize(
    ("url", "beginning"),
    [
        ("https://github.com/acme-evil/x", "https://github.com/acme"),
        ("https://github.com.evil/acme/x", "https://github.com/acme"),
        ("https://user@github.com/acme/x", "https://github.com/acme"),
        ("http://github.com/acme/x", "https://github.com/acme"),
        ("ssh://root@host/acme/x", "ssh://git@host/acme"),
        ("ssh://git:secret@host/acme/x", "ssh://git@host/acme"),
        ("ssh://host/acme/x", "ssh://git@host/acme"),
        ("ssh://git@host:2222/acme/x", "ssh://git@host/acme"),
        ("git@host:acme/../other", "git@host:acme"),
        ("git@host:acme/x", "ssh://git@host/acme"),  # one begins at the home, one at the root
        ("ssh://git@host/~root/x", "ssh://git@host/"),
        ("git@host:acme", "git@host:acme:x"),
    ],
)
def test_urls_that_do_not(url: str, beginning: str) -> None:
    assert not begins_with(url, beginning)


def test_what_no_url_can_begin_with() -> None:
    unfit = ["github.com/acme", "ssh://github.com/acme", "https://token@github.com", "file:///srv", "a@b:~c"]
    assert [each for each in unfit if can_be_beginning(each)] == []


def test_forms_of_ssh() -> None:
    assert [is_ssh(each) for each in ("ssh://git@host/a", "git@host:a", "https://host/a")] == [
        True,
        True,
        False,
    ]
