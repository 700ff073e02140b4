"""Operators' TOML documents: what each mistake in one is called."""

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from app.core.errors import InvalidInputError
from app.core.toml_document import Complaint, TomlDocument, place_of


class Shop(BaseModel):
    model_config = ConfigDict(extra="forbid")

    teas: dict[str, int] = {}


DOCUMENT = TomlDocument(Shop, "SHOP_FILE", lambda error: Complaint(place_of(error), error["type"]))


def test_a_good_document_is_read(tmp_path: Path) -> None:
    file = tmp_path / "shop.toml"
    file.write_bytes(b"\xef\xbb\xbf[teas]\ngreen = 3\n")
    assert DOCUMENT.load(file) == Shop(teas={"green": 3})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("[teas]\n\ngreen = 'x'\n", "f:3: teas.green: int_parsing", id="value"),
        pytest.param("[coffees]\n", "f:1: coffees: extra_forbidden", id="key"),
        pytest.param("[teas]\ngreen = \n", "f:2: is not TOML: Invalid value", id="TOML"),
        pytest.param("[teas]\ngreen = [", "f:2: is not TOML: ", id="its end"),
    ],
)
def test_a_mistake_names_line_and_key(text: str, said: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        DOCUMENT.parse(text, "f")
    assert refused.value.detail.startswith(said)
    assert refused.value.field == "SHOP_FILE"


def test_only_the_first_mistakes_are_told() -> None:
    text = "[teas]\n" + "".join(f"t{number} = 'x'\n" for number in range(9))
    with pytest.raises(InvalidInputError) as refused:
        DOCUMENT.parse(text, "f")
    assert refused.value.detail.count("int_parsing") == 5


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(None, ": cannot be read: No such file", id="missing"),
        pytest.param(b"\n\xff", ":2: is not UTF-8 text", id="no text"),
        pytest.param(b"#" * 1_000_001, ": is longer than 1,000,000 bytes", id="huge"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, said: str) -> None:
    file = tmp_path / "shop.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidInputError) as refused:
        DOCUMENT.load(file)
    assert refused.value.detail.startswith(f"{file}{said}")
    assert refused.value.field == "SHOP_FILE"
