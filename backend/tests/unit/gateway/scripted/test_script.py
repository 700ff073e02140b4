"""The scripted model finds the tools of any agent, and fills in their arguments."""

import pytest

from app.gateway.scripted.script import OfferedTool, Say, run_shell, speak, write_file

COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


@pytest.mark.parametrize(
    ("name", "schema", "arguments"),
    [
        pytest.param("Bash", COMMAND, {"command": "ls"}, id="another case"),
        pytest.param(
            "exec_command", {"properties": {"cmd": {"type": "string"}}}, {"cmd": "ls"}, id="another name"
        ),
        pytest.param(
            "shell",
            {"properties": {"command": {"type": "array"}}},
            {"command": ["bash", "-c", "ls"]},
            id="a list",
        ),
        pytest.param(
            "bash",
            {
                "properties": {
                    "command": {"type": "string"},
                    "description": {"type": "string"},
                    "mode": {"enum": ["fast"]},
                    "background": {"type": "boolean"},
                },
                "required": ["command", "description", "mode", "background"],
            },
            {"command": "ls", "description": "scripted", "mode": "fast", "background": False},
            id="more that it must have",
        ),
        pytest.param("bash", {"properties": 3, "required": "x"}, {"command": "ls"}, id="a broken schema"),
    ],
)
def test_shells(name: str, schema: dict[str, object], arguments: object) -> None:
    spoken = speak(run_shell("ls"), [OfferedTool("read", {}), OfferedTool(name, schema)])
    assert (spoken.tool, spoken.arguments) == (name, arguments)


def test_without_a_shell_the_tool_that_writes_files_is_called() -> None:
    schema = {"properties": {"filePath": {"type": "string"}, "content": {"type": "string"}}}
    spoken = speak(write_file("a/b.txt", "hello\n"), [OfferedTool("write", schema)])
    assert spoken.arguments == {"filePath": "a/b.txt", "content": "hello\n"}


def test_without_tools_the_file_is_said() -> None:
    block = "<<<<<<< SEARCH\n=======\nhello\n>>>>>>> REPLACE"
    assert speak(write_file("b.txt", "hello\n"), []).text == f"b.txt\n```\n{block}\n```\n"


def test_words() -> None:
    assert speak(Say("Hello."), [OfferedTool("bash", COMMAND)]).text == "Hello."
