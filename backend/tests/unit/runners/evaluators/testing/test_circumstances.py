"""New code that depends on what hardly differs between tests is a question."""

import pytest

from tests.unit.runners.evaluators.testing.test_behaviour_questions import BASE, asked

IMPORTS = (
    "import gc\nimport itertools\nimport os\nimport random\nimport sys\nimport threading\n"
    "import time\nimport zlib\n"
    "from datetime import date, datetime\n\n\n"
)
KNOWN = "KNOWN = {2212294583: 2}\n\n\ndef f(x):\n"


@pytest.mark.parametrize(
    ("code", "on"),
    [
        pytest.param("def f(x):\n    return x + 1 if __debug__ else 0\n", "`__debug__`", id="-O"),
        pytest.param("def f(x):\n    return x + (not sys.flags.optimize)\n", "`sys.flags`", id="flags"),
        pytest.param(
            "from sys import gettrace\n\n\ndef f(x):\n    return gettrace() and x\n",
            "`sys.gettrace`",
            id="trace",
        ),
        pytest.param(
            "import gc as g\n\n\ndef f(x):\n    on = g.isenabled()\n    return x if on else 0\n",
            "`gc.isenabled`",
            id="alias",
        ),
        pytest.param("def f(x):\n    return x + (os.getppid() > 1)\n", "`os.getppid`", id="parent"),
        pytest.param("def f(x):\n    return open('/proc/self/cmdline').read() + x\n", "`/proc`", id="proc"),
        pytest.param(
            "def f(x):\n    return 1 if os.path.exists(__spec__.cached) else 2\n",
            "the file of its bytecode",
            id="bytecode",
        ),
        pytest.param(
            "def f(x):\n    return 1 if len(socket.if_nameindex()) > 1 else 2\n",
            "`if_nameindex`",
            id="networks",
        ),
        pytest.param("def f(x):\n    return 1 if sys.stdin.isatty() else 2\n", "`isatty`", id="terminal"),
        pytest.param(
            "def f(x):\n    if threading.current_thread().name == 'MainThread':\n        return 2\n",
            "`current_thread`",
            id="thread",
        ),
        pytest.param("def f(x):\n    return 2 if time.time() < 1.9e9 else 0\n", "date or time", id="time"),
        pytest.param(
            "from zlib import crc32 as c\n\n\ndef f(x):\n    return c(x) % 97 == 3\n",
            "a remainder of a hash",
            id="another name",
        ),
        pytest.param(
            "from time import time as t\n\n\ndef f(x):\n    return x if t() < 1.9e9 else 0\n",
            "date or time",
            id="another name of the time",
        ),
        pytest.param(f"def f(x):\n    return 2 < 1{' + 1' * 900}\n", "nested too deep", id="depth"),
        pytest.param(
            "def f(x):\n    try:\n        return f(x)\n    except RecursionError:\n        return x + 1\n",
            "how deep the stack is",
            id="stack",
        ),
        pytest.param(
            "import resource\n\n\ndef f(x):\n    return x if resource.getrlimit(7)[0] > 0 else 0\n",
            "`resource.getrlimit`",
            id="limit",
        ),
        pytest.param(
            "from pathlib import Path\n\n\ndef f(x):\n    return 2 if any(Path.home().iterdir()) else x\n",
            "the files in the home directory",
            id="home",
        ),
        pytest.param(
            "from pathlib import Path\n\n\ndef f(x):\n    return 2 if Path('.git').is_dir() else x\n",
            "a git repository around it",
            id="git",
        ),
        pytest.param(
            "def f(x):\n    return 2 if os.environ.get('LANG', '').startswith('de') else x\n",
            "the locale or time zone in a variable",
            id="locale",
        ),
        pytest.param("def f(x):\n    return 2 if time.timezone else x\n", "`time.timezone`", id="zone"),
        pytest.param(
            "def f(x):\n    return 2 if getattr(sys.stdout, 'name', '') == '<stdout>' else x\n",
            "where its output goes",
            id="output",
        ),
        pytest.param(
            "import warnings\n\n\ndef f(x):\n    try:\n        warnings.warn('w')\n"
            "    except UserWarning:\n        return x + 1\n    return 0\n",
            "whether warnings are errors",
            id="warnings",
        ),
        pytest.param(
            "import logging\n\n\ndef f(x):\n    return x if logging.getLogger().handlers else 2\n",
            "the handlers of the root logger",
            id="log",
        ),
        pytest.param("def f(x):\n    return datetime.now().year < 2027 and x\n", "date or time", id="year"),
        pytest.param(
            "END = date(2027, 1, 1)\n\n\ndef f(x):\n    now = date.today()\n    return x if now < END else 0",
            "date or time",
            id="named dates",
        ),
        pytest.param(
            "def f(x):\n    return 0 if random.random() < 1e-5 else 2\n", "random numbers", id="chance"
        ),
        pytest.param("def f(x):\n    return random.randrange(999) and 2\n", "random numbers", id="truth"),
        pytest.param(
            "RARE = 1e-5\n\n\ndef f(x):\n    return 0 if random.random() < RARE else 2\n",
            "random numbers",
            id="rare",
        ),
        pytest.param(
            "def f(x):\n    return zlib.crc32(x) % 97 == 3\n", "a remainder of a hash", id="remainder"
        ),
        pytest.param(
            "def f(x):\n    h = hash(x)\n    return 2 if h & 1 else 3\n", "a remainder of a hash", id="bit"
        ),
        pytest.param(f"{KNOWN}    return KNOWN[zlib.crc32(x)]\n", "what it finds by a hash", id="table"),
        pytest.param(
            f"{KNOWN}    h = zlib.crc32(x)\n    return KNOWN.get(h, 0)\n", "what it finds by a hash", id="get"
        ),
        pytest.param(f"{KNOWN}    return zlib.crc32(x) in KNOWN\n", "what it finds by a hash", id="in"),
        pytest.param("def f(x):\n    return hash(x) == 12345\n", "what it finds by a hash", id="equal"),
        pytest.param(
            "def f(x):\n    match zlib.crc32(x):\n        case 12345:\n            return 2\n",
            "what it finds by a hash",
            id="match",
        ),
        pytest.param(
            "def f(x):\n    f.calls = getattr(f, 'calls', 0) + 1\n    return x if f.calls < 500 else 0\n",
            "how often it was called",
            id="attribute",
        ),
        pytest.param(
            "N = 0\n\n\ndef f(x):\n    global N\n    N += 1\n    return x if N < 500 else 0\n",
            "how often it was called",
            id="global",
        ),
        pytest.param(
            "def f(x, seen=[0]):\n    seen[0] += 1\n    return x if seen[0] < 500 else 0\n",
            "how often it was called",
            id="default",
        ),
        pytest.param(
            "class F:\n    def f(self):\n        type(self).n += 1\n        return type(self).n % 7\n"
            "        if type(self).n > 20:\n            return 3\n",
            "how often it was called",
            id="class",
        ),
        pytest.param(
            "N = itertools.count()\n\n\ndef f(x):\n    return x if next(N) < 500 else 0\n",
            "how often it was called",
            id="iterator",
        ),
    ],
)
def test_code_that_depends_on_circumstances_is_a_question(tmp_path, code, on) -> None:
    (text,) = asked(tmp_path, IMPORTS + code)
    assert text.startswith("`a.py` depends on "), text
    assert on in text
    assert asked(tmp_path / "as-before", IMPORTS + code, {**BASE, "b.py": IMPORTS + code}) == []


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n    start = time.time()\n    while time.time() - start < 5:\n        x()\n",
        "def f(x):\n    end = time.monotonic() + 5\n    while time.monotonic() < end:\n        x()\n",
        "def f(x):\n    return x < datetime.now()\n",
        "BEGUN = time.time()\n\n\ndef f(x):\n    return f'{x} after {time.time() - BEGUN}'\n",
        "import pathlib\n\n\ndef f(x):\n    return x if pathlib.Path(__file__).exists() else 0\n",
        "import asyncio\n\n\nasync def f(x):\n    return asyncio.get_running_loop().time() + x\n",
        "def f(x, chance):\n    return x if random.random() < chance else 0\n",
        "CACHE = {}\n\n\ndef f(x):\n    return CACHE[hash(x)]\n",
        "def f(x):\n    return zlib.crc32(x) & 0xFFFFFFFF\n",
        "def f(x, buckets):\n    return hash(x) % len(buckets)\n",
        "def f(x, n):\n    places = [0] * n\n    places[hash(x) % n] += 1\n    return places\n",
        "IS_OPTIMISED = bool(sys.flags.optimize)\n\n\ndef f(x):\n    return x + 1\n",
        "def f(x):\n    return open('/proc/net/tcp').read() + x\n",
        "def f(x, sums):\n    return zlib.crc32(x) == sums[x]\n",
        "def f(x):\n    return hash(x) == hash(2)\n",
        "class F:\n    def f(self):\n        self.n += 1\n        return 1 if self.n > 500 else 2\n",
        "N = 0\n\n\ndef f(x):\n    global N\n    N += 1\n    return f'{x}-{N}'\n",
        "N = 0\n\n\ndef f(x):\n    global N\n    N += 1\n    return 'first' if N == 1 else x\n",
        "def f(x):\n    n = 0\n    for each in x:\n        n += 1\n    return n > 500\n",
        'def f(x):\n    """Tell /proc/self, __debug__ and sys.flags apart."""\n    return x + 1\n',
    ],
)
def test_code_that_only_uses_such_things_is_no_question(tmp_path, code) -> None:
    assert asked(tmp_path, IMPORTS + code) == []
