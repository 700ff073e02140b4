"""Which image a project's commands run in: the base's word, and only where the operator asks for it."""

from pathlib import Path

import pytest

from app.runners.evaluators.commands.dev_container import OF_PROJECT, image_for
from app.runners.evaluators.tooling import ToolTroubleError


def _base(place: Path, text: str, name: str = ".devcontainer/devcontainer.json") -> Path:
    file = place / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return place


@pytest.mark.parametrize(
    ("text", "image"),
    [
        pytest.param('{"image": "debian:12"}', "debian:12", id="plain"),
        pytest.param('{\n// ours\n"image": "a.example/b:1", /* , */\n}', "a.example/b:1", id="comments"),
        pytest.param(
            '{"name": "x // y", "image": "r/i@sha256:00", }', "r/i@sha256:00", id="comment-in-a-text"
        ),
        pytest.param('{"build": {"dockerfile": "Dockerfile"}}', None, id="built-not-named"),
        pytest.param("[1, 2,]", None, id="no-object"),
    ],
)
def test_the_image_of_the_base_is_found(tmp_path: Path, text: str, image: str | None) -> None:
    assert image_for(OF_PROJECT, _base(tmp_path, text)) == image


def test_the_other_place_is_known_too(tmp_path: Path) -> None:
    base = _base(tmp_path, '{"image": "debian:12"}', ".devcontainer.json")
    assert image_for(OF_PROJECT, base) == "debian:12"


def test_a_project_chooses_only_where_the_operator_lets_it(tmp_path: Path) -> None:
    base = _base(tmp_path, '{"image": "debian:12"}')
    assert image_for(None, base) is None
    assert image_for("ours:1", base) == "ours:1"
    assert image_for(OF_PROJECT, None) is None


@pytest.mark.parametrize(
    ("text", "about"),
    [
        pytest.param('{"image": "--privileged"}', "name of an image", id="an-option"),
        pytest.param('{"image": "a b"}', "name of an image", id="two-words"),
        pytest.param('{"image": 7}', "name of an image", id="a-number"),
        pytest.param("{", "cannot be read", id="broken"),
        pytest.param("[" * 100_000, "cannot be read", id="deep"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, text: str, about: str) -> None:
    with pytest.raises(ToolTroubleError, match=f"devcontainer.json.*{about}"):
        image_for(OF_PROJECT, _base(tmp_path, text))


def test_a_link_out_of_the_tree_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text('{"image": "debian:12"}')
    base = tmp_path / "base"
    base.mkdir()
    (base / ".devcontainer.json").symlink_to(outside)
    assert image_for(OF_PROJECT, base) is None
