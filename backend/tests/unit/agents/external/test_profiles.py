"""Profiles: the built-in ones hold, and each mistake in a file is told with its line and key."""

import json
from pathlib import Path

import pytest

from app.agents.external.installed import NotInstalledError, find_installed
from app.agents.external.profile import fill
from app.agents.external.profile_file import built_in_profiles, json_schema, load_profiles, parse_profiles
from app.core.errors import InvalidInputError
from tests.unit.agents.external.support import command_profile

GOOD = """\
[agents.mine]
driver = "command"
argv = ["mine", "--go"]
dialect = "anthropic"
"""


def test_the_built_in_profiles_are_there() -> None:
    names = {"aider", "claude", "claude-acp", "codex", "gemini", "mini-swe-agent", "opencode", "qwen"}
    assert set(built_in_profiles()) == names
    assert all(each.tried and each.package for each in built_in_profiles().values())


def test_the_settings_of_opencode_come_after_those_of_a_repository() -> None:
    content = built_in_profiles()["opencode"].env["OPENCODE_CONFIG_CONTENT"]
    config = json.loads(fill(content, {"model": "m", "base_url": "http://here/v1"}))
    assert config["model"] == config["agent"]["build"]["model"] == "gateway/m"
    assert (config["enabled_providers"], config["disabled_providers"]) == (["gateway"], [])
    assert config["provider"]["gateway"]["options"] == {
        "baseURL": "http://here/v1",
        "apiKey": "{env:MODEL_TOKEN}",
    }


def test_the_settings_of_claude_come_after_those_of_a_repository() -> None:
    profile = built_in_profiles()["claude"]
    ((name, content),) = profile.files.items()
    assert all(line[line.index("--settings") + 1] == name for line in (profile.argv, profile.resume or []))
    env = json.loads(fill(content, {"base_url": "http://here", "token": "t"}))["env"]
    assert (env["ANTHROPIC_BASE_URL"], env["ANTHROPIC_AUTH_TOKEN"]) == ("http://here", "t")


def test_the_model_of_qwen_comes_before_that_of_a_repository() -> None:
    argv = built_in_profiles()["qwen"].argv
    assert argv[argv.index("-m") + 1] == "{model}", "a variable comes after .qwen/settings.json"


def test_the_settings_of_aider_come_after_those_of_a_repository() -> None:
    profile = built_in_profiles()["aider"]
    ((name, content),) = profile.files.items()
    assert profile.argv[profile.argv.index("--env-file") + 1] == name
    assert profile.argv[profile.argv.index("--openai-api-base") + 1] == "{base_url}"
    assert content.split() == ["OPENAI_API_BASE={base_url}", "OPENAI_API_KEY={token}"]


def test_a_file_of_the_operator_adds_and_replaces(tmp_path: Path) -> None:
    file = tmp_path / "agents.toml"
    file.write_text(GOOD + GOOD.replace("mine", "codex"))
    profiles = load_profiles(file)
    assert (profiles["mine"].argv, profiles["codex"].argv[0]) == (["mine", "--go"], "codex")
    assert profiles["opencode"] is built_in_profiles()["opencode"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("[agents.mine", "f:1: is not TOML", id="no-toml"),
        pytest.param(
            GOOD + "argvs = []\n", "f:5: agents.mine.argvs: is not known here; did you mean argv?", id="key"
        ),
        pytest.param(
            GOOD.replace('"command"', '"telnet"'), "f:2: agents.mine.driver: input should be", id="driver"
        ),
        pytest.param(
            GOOD.replace('["mine", "--go"]', "[]"), "f:3: agents.mine.argv: list should", id="no-argv"
        ),
        pytest.param(
            GOOD.replace("--go", "{promt}"), "f:3: agents.mine.argv.1: {promt} is not known", id="word"
        ),
        pytest.param(
            GOOD + 'mode = "x"\n', "mode: has no meaning with the driver command", id="other-driver"
        ),
        pytest.param(GOOD + 'prompt = "file"\n', "one argument must hold {prompt_file}", id="prompt-nowhere"),
        pytest.param(
            GOOD + 'env = { PATH = "x" }\n', "f:5: agents.mine.env: PATH is set by", id="own-variable"
        ),
        pytest.param(
            GOOD + 'leavings = ["*"]\n', "f:5: agents.mine.leavings.0: must be a pattern", id="removes-all"
        ),
        pytest.param(
            GOOD + '[agents.mine.files]\n"/etc/x" = ""\n',
            "f:5: agents.mine.files: '/etc/x' must be",
            id="outside",
        ),
        pytest.param(
            GOOD.replace("agents.mine", 'agents."My Agent"'), "small letters, digits and -", id="name"
        ),
        pytest.param(
            GOOD.replace("agents.mine", "agents.scripted"), "the name of an agent of PhaseRunner", id="taken"
        ),
        pytest.param("[agent.mine]\n", "f:1: agent: is not known here; did you mean agents?", id="table"),
    ],
)
def test_a_mistake_is_told_with_line_and_key(text: str, said: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        parse_profiles(text, "f")
    assert said in raised.value.detail
    assert raised.value.field == "AGENTS_FILE"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(None, "cannot be read: No such file", id="missing"),
        pytest.param(b"\n\xff", ":2: is not UTF-8 text", id="no-text"),
        pytest.param(b"#" * 1_000_001, "is longer than", id="huge"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, content: bytes | None, said: str) -> None:
    file = tmp_path / "agents.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidInputError) as raised:
        load_profiles(file)
    assert said in raised.value.detail


def test_the_published_schema_is_the_schema() -> None:
    published = Path(__file__).parents[5] / "docs" / "agents.schema.json"
    assert json.loads(published.read_text()) == json_schema()


def program(place: Path, text: str, mode: int = 0o755) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    place.chmod(mode)
    return place


def test_a_program_of_npm_is_found_with_its_modules_its_node_and_its_version(tmp_path: Path) -> None:
    package = tmp_path / "node_modules" / "@x" / "agent"
    program(package / "bin" / "agent.js", "#!/usr/bin/env node\n")
    (package / "package.json").write_text('{"name": "@x/agent", "version": "1.2.3"}')
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "scripted").symlink_to(package / "bin" / "agent.js")
    node = program(tmp_path / "n" / "node", "")
    search = [tmp_path / "bin", tmp_path / "n"]
    found = find_installed(command_profile(package="npm:@x/agent"), search, lambda _: ())
    assert found.program == package / "bin" / "agent.js"
    assert found.version == "1.2.3"
    assert found.readable == (tmp_path / "node_modules", node)
    assert tmp_path / "n" in found.path


@pytest.mark.parametrize("first", ["#!{}", "#!/bin/sh\n'''exec' '{}' \"$0\" \"$@\"\n' '''"])
def test_a_program_of_an_environment_is_found_with_its_interpreter_and_version(
    tmp_path: Path, first: str
) -> None:
    environment = tmp_path / "env"
    python = program(environment / "bin" / "python", "")
    program(environment / "bin" / "scripted", first.format(python) + "\n")
    (environment / "pyvenv.cfg").write_text("")
    (environment / "lib" / "python3.12" / "site-packages" / "my_agent-0.9.dist-info").mkdir(parents=True)
    elsewhere = Path("/opt/python")
    places = {python: (elsewhere,)}
    found = find_installed(
        command_profile(package="pypi:my-agent"), [environment / "bin"], lambda asked: places[asked]
    )
    assert (found.version, found.readable) == ("0.9", (environment, elsewhere))


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        pytest.param(
            None, "there is no program scripted in AGENTS_PATH or PATH: npm install -g a@1.0", id="missing"
        ),
        pytest.param(0o644, "is not executable: chmod +x", id="not-executable"),
    ],
)
def test_a_program_that_cannot_be_used_is_told_with_what_to_do(
    tmp_path: Path, mode: int | None, said: str
) -> None:
    if mode is not None:
        program(tmp_path / "scripted", "", mode)
    with pytest.raises(NotInstalledError, match=said.replace("+", r"\+")):
        find_installed(command_profile(package="npm:a", tried="1.0"), [tmp_path], lambda _: ())


def test_the_python_of_an_environment_stays_in_it(tmp_path: Path) -> None:
    base = program(tmp_path / "base" / "python3.12", "")
    python = tmp_path / "env" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(base)
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    asked: list[Path] = []

    def places(interpreter: Path) -> tuple[Path, ...]:
        asked.append(interpreter)
        return (base.parent,)

    found = find_installed(command_profile(argv=[str(python), "-m", "mine"]), [], places)
    assert (found.program, asked) == (python, [python])
    assert found.readable == (tmp_path / "env", base.parent)
