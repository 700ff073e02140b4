"""What a request may give as held-out tests."""

from typing import Any

import pytest
from pydantic import ValidationError

from app.schemas.api.forges import IssueSprintCreate
from app.schemas.api.sprints import SprintCreate
from app.schemas.held_out import HeldOutInput

ISSUE = "https://github.com/acme/widgets/issues/7"


@pytest.mark.parametrize("share", [0, 0.0, 0.3, 0.8])
def test_a_share(share: float) -> None:
    given = HeldOutInput.model_validate({"share": share})
    assert given.share == share
    assert given.hides_nothing == (share == 0)


def test_tests_of_the_request_hide_something() -> None:
    assert not HeldOutInput(files={"tests/test_a.py": "x = 1"}).hides_nothing


@pytest.mark.parametrize(
    "share", [1.5, 0.81, -0.1, "abc", "0.3", True, False, {}, [0.3], float("nan"), float("inf")]
)
def test_anything_else_is_refused_by_name(share: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        HeldOutInput.model_validate({"share": share})
    assert caught.value.errors()[0]["loc"] == ("share",)


@pytest.mark.parametrize("text", ["NaN", "1e999", "true", '"0.3"', "1.5"])
def test_json_is_read_as_strictly(text: str) -> None:
    with pytest.raises(ValidationError, match="share"):
        HeldOutInput.model_validate_json(f'{{"share": {text}}}')


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        pytest.param(SprintCreate, {"goal": "x", "source": {"kind": "empty"}}, id="sprint"),
        pytest.param(IssueSprintCreate, {"issue": ISSUE}, id="issue"),
    ],
)
def test_a_sprint_without_tests_can_only_refuse_the_default(
    model: type[SprintCreate | IssueSprintCreate], fields: dict[str, Any]
) -> None:
    fields |= {"phases": ["discovery"]}
    assert model.model_validate({**fields, "held_out": {"share": 0}}).held_out is not None
    with pytest.raises(ValidationError, match="held_out needs the phase coding or verification"):
        model.model_validate({**fields, "held_out": {"share": 0.3}})
