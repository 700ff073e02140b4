"""How many evaluators ask models at once, by the settings."""

from typing import Any

import pytest

from app.composition.evaluators import evaluators_at_once
from app.core.config import Settings


@pytest.mark.parametrize(
    ("url", "model", "at_once", "bound"),
    [
        pytest.param(None, "openai-chat:qwen", None, None, id="a provider"),
        pytest.param("http://127.0.0.1:11434/v1", "openai-chat:qwen", None, 1, id="this machine"),
        pytest.param("http://localhost:8080/v1", "openai:qwen", None, 1, id="by name"),
        pytest.param("http://[::1]/v1", "openai-chat:qwen", None, 1, id="by IPv6"),
        pytest.param("http://10.0.0.5/v1", "openai-chat:qwen", None, None, id="another machine"),
        pytest.param("http://127.0.0.1/v1", "anthropic:claude", None, None, id="another provider judges"),
        pytest.param("http://127.0.0.1/v1", "openai-chat:qwen", 4, 4, id="set"),
    ],
)
def test_a_server_on_this_machine_is_asked_one_thing_at_a_time(
    url: str | None, model: str, at_once: int | None, bound: int | None
) -> None:
    given: dict[str, Any] = {"OPENAI_BASE_URL": url, "EVALUATOR_MODEL": model}
    settings = Settings.model_validate({**given, "EVALUATOR_LLM_AT_ONCE": at_once})
    assert evaluators_at_once(settings) == bound
