"""How models answer, where a request says nothing else."""

import pytest

from app.agents.models.factory import AS_USUAL, Answering, build_model
from app.agents.models.providers import ProviderKeys

KEYS = ProviderKeys(anthropic_api_key="k", openai_api_key="k")


@pytest.mark.parametrize("name", ["anthropic:m", "openai:m", "openai-chat:m"])
@pytest.mark.parametrize(
    ("answering", "expected"),
    [
        (AS_USUAL, {}),
        (Answering(max_tokens=500), {"max_tokens": 500}),
        (Answering(temperature=0.0), {"temperature": 0.0}),
        (Answering(500, 0.2), {"max_tokens": 500, "temperature": 0.2}),
    ],
    ids=["as usual", "output limit", "temperature zero", "both"],
)
def test_models_answer_as_is_set(name: str, answering: Answering, expected: dict[str, float]) -> None:
    settings = dict(build_model(name, KEYS, answering).settings or {})
    assert {key: settings[key] for key in ("max_tokens", "temperature") if key in settings} == expected
    assert settings["max_retries"] == 0
