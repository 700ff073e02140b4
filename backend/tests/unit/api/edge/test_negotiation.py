"""The form of an answer follows the header `Accept`."""

import pytest

from app.api.edge.negotiation import preferred

OFFERED = ("application/json", "text/plain", "text/x-diff")


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        pytest.param("", "application/json", id="none"),
        pytest.param("*/*", "application/json", id="anything"),
        pytest.param("application/json, text/plain, */*", "application/json", id="axios"),
        pytest.param("text/plain", "text/plain", id="text"),
        pytest.param("Text/X-Diff", "text/x-diff", id="other case"),
        pytest.param("text/*", "text/plain", id="any text"),
        pytest.param("text/plain, */*", "text/plain", id="first of equals"),
        pytest.param("text/plain;q=0.5, application/json", "application/json", id="higher q-value"),
        pytest.param(
            "application/json;q=0.5, text/x-diff ; q=0.9", "text/x-diff", id="higher q-value of text"
        ),
        pytest.param("*/*, application/json;q=0", "text/plain", id="JSON is refused"),
        pytest.param("text/plain;q=a, */*;q=0.1", "application/json", id="q-value that is none"),
        pytest.param("text/html", "application/json", id="nothing is acceptable"),
        pytest.param("application/jsontext/plain", "application/json", id="no media type"),
    ],
)
def test_the_preferred_type(accept: str, chosen: str) -> None:
    assert preferred(accept, OFFERED) == chosen
