"""A command that stands for a coding agent: its prompt says how it behaves. It asks no model."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path


def tell(kind: str, **fields: object) -> None:
    """Print one line as codex does."""
    sys.stdout.write(json.dumps({"type": kind, **fields}) + "\n")
    sys.stdout.flush()


def work(prompt: str) -> None:
    """Write a file and tell of it."""
    tell("thread.started", thread_id="session-1")
    item = {"id": "1", "type": "command_execution", "command": "echo > done.txt"}
    tell("item.started", item=item)
    Path("done.txt").write_text(prompt[:100])
    tell("item.completed", item={**item, "aggregated_output": "written", "exit_code": 0})


def end(text: str = "I am done.") -> None:
    """Print the final message and event."""
    tell("item.completed", item={"id": "2", "type": "agent_message", "text": text})
    tell("turn.completed", usage={"input_tokens": 1})


def fail() -> int:
    """Say that it failed."""
    tell("turn.failed", error={"message": "no luck"})
    return 1


def crash() -> int:
    """End with words on standard error."""
    sys.stderr.write("it broke\n")
    return 3


def ignore_term() -> None:
    """Ignore every request to end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    tell("thread.started", thread_id="deaf")
    time.sleep(1000)


def reach_outside() -> None:
    """Try to write where it must not."""
    for place in ("/usr/planted", "../planted"):
        try:
            Path(place).write_text("x")
        except OSError:
            tell("error", message=f"refused {place}")
    work("outside")
    end()


def fork_away() -> None:
    """Leave a process in a new session."""
    if os.fork() == 0:
        os.setsid()
        os.execvp("sleep", ["sleep", "1000.0815"])
    work("forks")
    end()


def serve_on() -> None:
    """Leave a program behind that holds standard output, as a server started with `&` does."""
    subprocess.Popen(["sleep", "1000.0816"], start_new_session=False)
    work("serves")
    sys.stdout.write("The server runs.\n")


def flood() -> None:
    """Print 200 MB."""
    block = ("x" * 999 + "\n") * 1_000
    for _ in range(200):
        sys.stdout.write(block)
    end()


def show_environment() -> None:
    """Say what it was started with."""
    names = ("MODEL_TOKEN", "BASE_URL", "HOME", "PATH")
    end(json.dumps({name: os.environ.get(name) for name in names}))


def pause() -> None:
    """Do half of the work, and never the rest."""
    tell("thread.started", thread_id="session-1")
    for path in (Path(os.environ["HOME"], "conversation"), Path("half-done.txt"), Path(".agent.log")):
        path.write_text("pauses|")
    Path("begun").touch()
    time.sleep(1000)


def leave_files() -> None:
    """Leave a log in the workspace."""
    Path(".agent.log").write_text("log")
    work("leaves")
    end()


def circle() -> None:
    """Call the same tool again and again."""
    for _ in range(1_000):
        work("circle")
    time.sleep(1000)


def stay() -> None:
    """Work, tell the end, and not end."""
    work("stays")
    end()
    time.sleep(1000)


def fetch(addresses: str) -> None:
    """Say what each address answers, through the proxy and past it."""
    work("fetch")
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = ""
    found: list[list[str]] = []
    for proxies in ({"http": os.environ["http_proxy"]}, {}):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies))
        found.append([answer_of(opener, each) for each in json.loads(addresses)])
    end(json.dumps(found))


def answer_of(opener: urllib.request.OpenerDirector, address: str) -> str:
    """Return the status of an answer, or `refused`."""
    try:
        with opener.open(address, timeout=20) as answer:
            return str(answer.status)
    except urllib.error.HTTPError as error:
        return str(error.code)
    except OSError:
        return "refused"


def renew_login(token: str) -> None:
    """Say what the login holds, and change it."""
    key = Path(os.environ["HOME"], ".vendor", "credentials.json")
    before = key.read_text()
    key.write_text(token)
    work("login")
    end(before)


def idle() -> None:
    """Begin a conversation, and change nothing."""
    tell("thread.started", thread_id="session-1")
    Path(os.environ["HOME"], "conversation").write_text("idles|")
    end("I would divide by two.")


BEHAVIOURS = {
    "silent": lambda: 0,
    "crash": crash,
    "nothing": lambda: end("All is well already."),
    "idles": idle,
    "failed": fail,
    "deaf": ignore_term,
    "stays": stay,
    "outside": reach_outside,
    "circles": circle,
    "forks": fork_away,
    "floods": flood,
    "serves": serve_on,
    "long": lambda: sys.stdout.write("{" + "x" * 60_000_000 + "\n") * 0,
    "environment": show_environment,
    "leaves": leave_files,
    "pauses": pause,
}

WITH_WORDS = {"fetch": fetch, "login": renew_login}


def main() -> int:
    """Do what the first word of the prompt asks for; return the exit status."""
    kept = Path(os.environ["HOME"], "conversation")
    if sys.argv[1:2] == ["--resume"]:
        _, session = sys.argv.pop(1), sys.argv.pop(1)
        if not kept.exists() or session != "session-1":
            sys.stderr.write("there is no such conversation\n")
            return 1
    given = Path(sys.argv[2]).read_text() if sys.argv[1:2] == ["--file"] else " ".join(sys.argv[1:])
    given = given or sys.stdin.read()
    word, _, rest = given.partition(" ")
    if word in WITH_WORDS:
        WITH_WORDS[word](rest)
        return 0
    behaviour = BEHAVIOURS.get(given.split(" ", 1)[0])
    if behaviour is not None:
        return behaviour() or 0
    work(given)
    with kept.open("a") as conversation:
        conversation.write(f"{given}|")
    end(f"{os.getcwd()} {kept.read_text()}" if given.startswith("remember") else f"{len(given)} characters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
