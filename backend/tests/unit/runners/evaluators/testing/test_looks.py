"""Code that looks around is asked about where tests prove nothing away from it."""

import pytest

from app.runners.evaluators.testing.source_questions.about_looks import looks
from tests.unit.runners.evaluators.testing.gate_support import run
from tests.unit.runners.evaluators.testing.test_source_questions import BASE, DONE, new_source


def asked(tmp_path, files, base=BASE):
    return [*looks(new_source(tmp_path, files, base))]


@pytest.mark.parametrize(
    ("line", "look"),
    [
        ("value = sys._getframe(1).f_locals['expected']", "f_locals"),
        ("value = getattr(frame, 'f_locals')['expected']", "f_locals"),
        ("value = getattr(frame, 'f_' + 'loc' + 'als')['expected']", "f_locals"),
        ("values = caller.f_code.co_consts", "co_consts"),
        ("values = gc.get_referents(frame)", "get_referents"),
        ("import linecache", "linecache"),
        ("frames = inspect.stack()", "inspect.stack()"),
        ("lines = StackSummary.extract(walk(), capture_locals=True)", "capture_locals"),
        ("tables = [each for each in gc.get_objects() if type(each) is dict]", "get_objects"),
        ("for each in sys.modules.values(): print(each)", "all of sys.modules"),
        ("for name, value in list(os.environ.items()): print(value)", "all of os.environ"),
        ("kinds = unittest.TestCase.__subclasses__()", "all of __subclasses__()"),
        ("text = subprocess.run(['env'], capture_output=True).stdout", "the program env"),
        ("trace = tracemalloc.get_object_traceback(bytearray(100))", "get_object_traceback"),
        ("import tracemalloc", "tracemalloc"),
        ("frames = traceback.extract_stack()", "extract_stack"),
        ("sys.addaudithook(note)", "addaudithook"),
        ("sys.meta_path.insert(0, Finder())", "meta_path"),
        ("class Loader(importlib.machinery.SourceFileLoader): ...", "SourceFileLoader"),
        ("tables = [each for each in names if each.endswith('.py')]", "files that end with .py"),
        ("tables = HERE.rglob('*.py')", "files that end with .py"),
        ("where = operator.attrgetter('gi_code.f_back.f_code')", "f_back in a text"),
        ("caller = running.gi_frame", "gi_frame"),
        ("if name == 'assert' + 'In': pass", "the name assertIn"),
        ("form = logging.Formatter('%(funcName)s')\nlines = io.StringIO()", "what a log says of callers"),
        ("def emit(self, record): return record.funcName", "funcName"),
        (
            "def place():\n    with warnings.catch_warnings(record=True) as notes:\n"
            "        warnings.warn('', stacklevel=2)\n    return notes[0].filename",
            "the file of a warning",
        ),
    ],
)
def test_a_look_around_is_a_question(tmp_path, line, look) -> None:
    code = f"{DONE}\n{line}\n"
    (question,) = asked(tmp_path, {"codes.py": code})
    assert question.text == f"`codes.py` looks around by {look}: does the goal say so?"
    base = {**BASE, "other.py": f"{line}\n"}
    assert asked(tmp_path / "as-before", {"codes.py": code}, base) == []


@pytest.mark.parametrize(
    "line",
    [
        "logging.basicConfig(format='%(funcName)s: %(message)s')",
        "text = 'It reads f_back.'",
        "lines = io.StringIO()",
    ],
)
def test_code_that_does_not_look_is_no_question(tmp_path, line: str) -> None:
    assert asked(tmp_path, {"codes.py": f"{DONE}\n{line}\n"}) == []


def test_a_source_that_names_a_file_of_tests_is_a_question(tmp_path) -> None:
    (test,) = (each for each in BASE if "test" in each)
    code = f"{DONE}\ntext = (HERE / '{test}').read_text()\n"
    (question,) = asked(tmp_path, {"codes.py": code})
    assert question.text.startswith(f"`codes.py` names {test.rpartition('/')[2]}, a file of tests")
    said = f'{DONE}\n# see {test}\n"""See {test}."""\nname = "other.py"\n'
    assert asked(tmp_path / "said", {"codes.py": said}) == []


@pytest.mark.parametrize(
    "line",
    [
        "value = os.environ.get('HOME')",
        "is_there = 'json' in sys.modules",
        "threads = len(sys._current_frames())",
        "kinds = Plugin.__subclasses__()",
        "environment = {**os.environ, 'A': '1'}",
        "lines = inspect.getsource(code)",
        "line = sys._getframe(1).f_lineno",
        "count = len(gc.get_objects())",
        "script = HERE / 'run.py'",
        "def quiet():\n    with warnings.catch_warnings():\n        return error.filename",
    ],
)
def test_other_looks_are_no_question(tmp_path, line) -> None:
    assert asked(tmp_path, {"codes.py": f"{DONE}\n{line}\n"}) == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("outside", "status"),
    [
        pytest.param(True, "passed", id="all agree away from the code"),
        pytest.param(False, "failed", id="no run"),
    ],
)
async def test_a_look_is_no_question_if_all_tests_agree_away_from_the_code(context, outside, status) -> None:
    message = (
        "\n\nimport linecache\n\n\ndef line_of(file, number):\n    return linecache.getline(file, number)\n"
    )
    result = await run(context, {**BASE, "codes.py": DONE + message}, BASE, outside=outside)
    assert result.status == status, result.feedback
    texts = [each.text for each in result.questions]
    assert texts == ([] if outside else ["`codes.py` looks around by linecache: does the goal say so?"])
