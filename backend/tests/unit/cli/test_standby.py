"""The process that stands by for hooks: whom it answers, when it ends, and when a hook works by itself."""

import fcntl
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from app.cli.standby import asking, serving
from app.cli.standby.asking import answered
from app.cli.standby.place import opened_privately, socket_name, standby_directory
from app.cli.standby.serving import Standby
from app.cli.standby.serving import main as stand_by
from app.cli.standby.surroundings import surroundings
from app.cli.standby.watching import is_changed, loaded_files, program_files
from app.cli.standby.wire import is_alike, receive, send
from tests.patience import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who asks")

HOOK = ["hook", "claude-code", "--run"]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """Where a process would stand by for this one; it may."""
    monkeypatch.setenv("HOME", str(tmp_path))
    found = Path(standby_directory(), socket_name(surroundings()))
    found.parent.mkdir(parents=True, mode=0o700)
    with (tmp_path / "event").open("w+") as event:
        monkeypatch.setattr(sys, "stdin", event)
        yield found


@pytest.fixture
def listener(path: Path) -> Generator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as made:
        bind(made, path)
        made.listen()
        yield made


def bind(made: socket.socket, path: Path) -> None:
    with opened_privately(str(path.parent)) as place:
        made.bind(f"{place}/{path.name}")


def connect(made: socket.socket, path: Path) -> None:
    with opened_privately(str(path.parent)) as place:
        made.connect(f"{place}/{path.name}")


def standing_by(listener: socket.socket, path: Path, do: Callable[[socket.socket], None]) -> threading.Thread:
    """Answer one hook in this process."""

    def answer() -> None:
        connection, _ = listener.accept()
        with connection:
            do(connection)

    thread = threading.Thread(target=answer)
    thread.start()
    return thread


def test_a_hook_has_its_work_done_and_writes_what_came_out(
    path: Path, listener: socket.socket, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    asked: list[dict[str, Any] | None] = []

    def do(connection: socket.socket) -> None:
        asked.append(receive(connection))
        send(connection, {"accepted": True})
        send(connection, {"code": 3, "out": "caf\xc3\xa9\n", "err": "told"})

    thread = standing_by(listener, path, do)
    sys.stdin.write("{}\n")
    sys.stdin.seek(0)
    assert answered(HOOK) == 3
    thread.join(PATIENCE)
    assert capfdbinary.readouterr() == ("café\n".encode(), b"told")
    (request,) = asked
    assert request is not None
    assert (request["arguments"], request["stdin"], request["cwd"]) == (HOOK, "{}\n", os.getcwd())
    assert request["environment"]["HOME"] == os.environ["HOME"]
    assert request["surroundings"] == surroundings()


def ends_at_once(connection: socket.socket) -> None:
    pass


def ends_when_it_was_asked(connection: socket.socket) -> None:
    receive(connection)


def ends_before_it_has_an_answer(connection: socket.socket) -> None:
    receive(connection)
    send(connection, {"accepted": True})


def ends_in_its_answer(connection: socket.socket) -> None:
    ends_before_it_has_an_answer(connection)
    connection.sendall(b"\0\0\0\0\0\0\0\x20{")


def answers_what_is_no_answer(connection: socket.socket) -> None:
    ends_before_it_has_an_answer(connection)
    connection.sendall(b"\0\0\0\0\0\0\0\x01{")


def refuses(connection: socket.socket) -> None:
    receive(connection)
    send(connection, {"accepted": False})


@pytest.mark.parametrize(
    "do",
    [
        ends_at_once,
        ends_when_it_was_asked,
        ends_before_it_has_an_answer,
        ends_in_its_answer,
        answers_what_is_no_answer,
        refuses,
    ],
)
def test_a_hook_without_an_answer_works_by_itself_and_has_its_input(
    path: Path, listener: socket.socket, do: Callable[[socket.socket], None]
) -> None:
    thread = standing_by(listener, path, do)
    sys.stdin.write("the event")
    sys.stdin.seek(0)
    assert answered(HOOK) is None
    assert sys.stdin.read() == "the event"
    thread.join(PATIENCE)


def test_a_hook_does_not_wait_for_what_accepts_nothing(
    path: Path, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_ACCEPT_SECONDS", 0.01)
    assert answered(HOOK) is None


def test_nothing_stands_by(path: Path) -> None:
    assert answered(HOOK) is None


def test_the_socket_of_a_killed_process(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        bind(dead, path)
    assert answered(HOOK) is None


def test_a_directory_that_others_may_enter_is_not_trusted(path: Path, listener: socket.socket) -> None:
    path.parent.chmod(0o755)
    assert answered(HOOK) is None
    listener.setblocking(False)
    with pytest.raises(BlockingIOError):
        listener.accept()


_CONFINED = """
import ctypes, os, socket, sys
from app.cli.standby.place import opened_privately
from app.cli.standby.wire import is_alike
if sys.argv[2] == "confined":
    assert ctypes.CDLL(None).prctl(38, 1, 0, 0, 0) == 0  # no new privileges, as in every sandbox
with socket.socket(socket.AF_UNIX) as connection:
    with opened_privately(os.path.dirname(sys.argv[1])) as place:
        connection.connect(f"{place}/{os.path.basename(sys.argv[1])}")
    print(is_alike(connection), flush=True)
    connection.recv(1)
"""


@pytest.mark.parametrize("kind", ["confined", "free"])
def test_neither_side_trusts_one_that_is_confined_otherwise(
    path: Path, listener: socket.socket, kind: str
) -> None:
    command = [sys.executable, "-c", _CONFINED, str(path), kind]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    asker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    connection, _ = listener.accept()
    with connection:
        seen = is_alike(connection)
    said, _ = asker.communicate(timeout=PATIENCE)
    assert (seen, said) == (kind == "free", f"{kind == 'free'}\n")


@pytest.mark.parametrize("name", ["PYTHONPATH", "LC_ALL", "LD_PRELOAD"])
def test_an_interpreter_with_other_variables_stands_by_elsewhere(
    path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "other")
    assert socket_name(surroundings()) != path.name
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a key")
    assert "a key" not in surroundings()


def opened(path: Path, listener: socket.socket, *watched: Path) -> Standby:
    return Standby(listener, str(path), -1, surroundings(), dict.fromkeys(map(str, watched)))


def test_it_ends_when_no_hook_has_asked_for_long(path: Path, listener: socket.socket) -> None:
    opened(path, listener).serve(0.01)


def test_it_ends_when_the_program_was_changed(path: Path, listener: socket.socket, tmp_path: Path) -> None:
    new = tmp_path / "module.py"
    standby = opened(path, listener, new)
    new.write_text("new = 1\n")
    with socket.socket(socket.AF_UNIX) as asker:
        connect(asker, path)
        standby.serve(PATIENCE)
        listener.setblocking(False)
        listener.accept()[0].close()  # it had left the hook alone


def test_it_ends_when_its_socket_is_gone(
    path: Path, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    standby = opened(path, listener)
    threading.Timer(0.05, path.unlink).start()
    monkeypatch.setattr(serving, "_LOOK_SECONDS", 0.01)
    standby.serve(PATIENCE)


def test_a_second_one_ends_at_once(path: Path) -> None:
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    stand_by([str(PATIENCE)])
    os.close(lock)
    assert not path.exists()


def test_it_does_not_stand_by_where_others_may_enter(path: Path) -> None:
    path.parent.chmod(0o711)
    stand_by([str(PATIENCE)])
    assert list(path.parent.iterdir()) == []


def test_the_program_is_watched(tmp_path: Path) -> None:
    seen = program_files()
    assert {"gate_run.py", "serving.py"} <= {Path(each).name for each in seen}
    assert not is_changed({**loaded_files(), **seen})
    assert pytest.__file__ in loaded_files()


@pytest.mark.parametrize("how", ["replaced", "in place", "removed", "links"])
def test_every_change_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    place = tmp_path / "packages"
    place.mkdir()
    (place / "one.py").write_text("a = 1\n")
    (place / "other.py").write_text("a = 2\n")
    monkeypatch.setattr(sys, "path", [str(place)])
    seen = program_files()
    match how:
        case "replaced":
            os.utime(place / "other.py", (1, 1))
            (place / "other.py").replace(place / "one.py")
        case "in place":
            (place / "new.py").write_text("a = 1\n")
        case "removed":
            (place / "one.py").unlink()
        case _:
            os.link(place / "one.py", place / "two.py")
    assert is_changed(seen)
