"""Which names a host can have."""

import pytest

from app.core.addresses import can_be_host


@pytest.mark.parametrize(
    ("name", "can_be"),
    [
        ("hooks.example.org", True),
        ("hooks.example.org.", True),
        ("under_score.example", True),
        ("bücher.example", True),
        ("xn--bcher-kva.example", True),
        ("10.0.0.7", True),
        ("2606:2800:220:1::1", True),
        (f"{'a' * 63}.example", True),
        (f"{'a' * 64}.example", False),
        ("hooks..example.org", False),
        (".example.org", False),
        ("hooks.example..", False),
    ],
)
def test_names(name: str, can_be: bool) -> None:
    assert can_be_host(name) is can_be
