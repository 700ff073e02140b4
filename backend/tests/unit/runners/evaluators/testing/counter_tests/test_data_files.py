"""Expectations in data files are found where nothing else uses them, and made wrong surely or not at all."""

import csv
import io
import json
import tomllib
from random import Random

import pytest

from app.runners.evaluators.testing.counter_tests.data_files import wrong_data
from app.runners.evaluators.testing.counter_tests.reading import read_test_file
from app.runners.evaluators.testing.counter_tests.sites import DataPlace, Site

HEAD = """import csv, json
from pathlib import Path
HERE = Path(__file__).parent
CASES = json.loads((HERE / "cases.json").read_text())
"""


def sites(text: str) -> tuple[Site, ...]:
    file = read_test_file("test_x.py", f"{HEAD}{text}".encode())
    assert file is not None
    (function,) = file.functions.values()
    return function.data


LOOP = "def test_x():\n    for case in CASES:\n        "
ROW = "@pytest.mark.parametrize('case', CASES)\ndef test_x(case):\n    "
PAIR = "@pytest.mark.parametrize('given, expected', CASES)\ndef test_x(given, expected):\n    "
OUT, SECOND = DataPlace(key="out"), DataPlace(column=1, width=2)
TABLE = DataPlace(file="table.txt")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param(LOOP + "assert f(case['in']) == case['out']", OUT, id="key in a loop"),
        pytest.param(LOOP + "assert case['out'] == f(case['in'])", OUT, id="the other way round"),
        pytest.param(LOOP + "assert f(case['in']) == int(case['out'])", OUT, id="a number"),
        pytest.param(ROW + "assert f(case['in']) == case['out']", OUT, id="key of a parameter"),
        pytest.param(PAIR + "assert f(given) == expected", SECOND, id="column"),
        pytest.param(
            "def test_x():\n    with open('c.csv') as file:\n        for row in csv.DictReader(file):\n"
            "            assert f(row['in']) == row['out']",
            OUT,
            id="table",
        ),
        pytest.param("def test_x():\n    assert f() == (HERE / 'table.txt').read_text()", TABLE, id="text"),
        pytest.param(
            "def test_x():\n    wanted = (HERE / 'golden' / 'table.txt').read_text().strip()\n"
            "    assert f() == wanted",
            TABLE,
            id="text by a name",
        ),
    ],
)
def test_expectations_are_found(text: str, place: DataPlace) -> None:
    assert [(each.data, each.certain) for each in sites(text)] == [(place, True)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LOOP + "assert f(case['out']) == case['out']", id="there and back"),
        pytest.param(LOOP + "assert f(case) == case['out']", id="the code gets the row"),
        pytest.param(LOOP + "assert case['in'] == case['out']", id="no result"),
        pytest.param(LOOP + "assert f(case['in']) != case['out']", id="no equation"),
        pytest.param(PAIR + "assert f(given, expected) == expected", id="the code gets what is expected"),
        pytest.param(
            "def test_x(tmp_path):\n    assert f() == (tmp_path / 'table.txt').read_text()",
            id="a file that the test made",
        ),
        pytest.param(
            "def test_x():\n    assert f(HERE) == (HERE / 'table.txt').read_text()",
            id="a directory",
        ),
        pytest.param(
            "def test_x():\n    text = (HERE / 'table.txt').read_text()\n    assert f(text) == text",
            id="a text there and back",
        ),
    ],
)
def test_what_the_code_may_be_given_is_no_expectation(text: str) -> None:
    assert sites(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LOOP + "if case['in']:\n            assert f(case['in2']) == case['out']", id="if"),
        pytest.param(
            "def test_x():\n    for case in cases():\n        assert f(case['in']) == case['out']", id="rows"
        ),
    ],
)
def test_what_may_not_be_reached_is_not_certain(text: str) -> None:
    assert not any(each.certain for each in sites(text))


def wrong(name: str, text: str, place: DataPlace) -> str | None:
    found = wrong_data({name: text.encode(), "other.bin": b"\xff"}, place, Random(3), [])
    return found[name].decode() if found else None


def test_every_value_of_a_key_is_another() -> None:
    text = '{"cases": [{"in": "a", "out": "b1"}, {"in": "c", "out": [2, {"x": 1.5}]}, {"out": true}]}'
    changed = json.loads(wrong("c.json", text, OUT) or "")
    before = json.loads(text)
    for one, other in zip(before["cases"], changed["cases"], strict=True):
        assert one.get("in") == other.get("in")
        assert one["out"] != other["out"]


def test_a_column_of_rows_is_another() -> None:
    changed = json.loads(wrong("c.json", '[["a", 1], ["b", 2]]', SECOND) or "")
    assert [row[0] for row in changed] == ["a", "b"]
    assert {row[1] for row in changed}.isdisjoint({1, 2}) or changed != [["a", 1], ["b", 2]]


def test_a_column_of_a_table_is_another() -> None:
    text = 'in,out\na,"b, c"\n\nd,e\n'
    rows = list(csv.DictReader(io.StringIO(wrong("c.csv", text, OUT) or "")))
    assert [row["in"] for row in rows] == ["a", "d"]
    assert all(row["out"] not in ("b, c", "e") for row in rows)


def test_the_values_of_a_key_in_toml_are_others() -> None:
    text = '[[case]]\nin = "a"\nout = "b"\n[[case]]\nout = 3\n'
    changed = tomllib.loads(wrong("c.toml", text, OUT) or "")
    assert changed["case"][0]["in"] == "a"
    assert changed["case"][0]["out"] != "b"
    assert changed["case"][1]["out"] != 3


def test_a_text_differs_in_one_place() -> None:
    text = "name | age\nAnn  | 7\n"
    changed = wrong("golden/table.txt", text, TABLE) or ""
    assert sum(one != other for one, other in zip(text, changed, strict=True)) == 1


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        pytest.param("c.json", '[{"out": "a"}, {"out": null}]', OUT, id="nothing"),
        pytest.param("c.json", '[{"out": "a"}, {"out": "--"}]', OUT, id="no letter"),
        pytest.param("c.json", '[{"out": {}}]', OUT, id="an empty object"),
        pytest.param("c.json", '[{"out": "a"}', OUT, id="broken JSON"),
        pytest.param("c.json", "[" * 100_000, OUT, id="deep JSON"),
        pytest.param("c.csv", "in,out\na\n", OUT, id="a short row"),
        pytest.param("c.csv", "", OUT, id="an empty table"),
        pytest.param("c.toml", 'x = {out = "a"}\nout = "b"\n', OUT, id="TOML on one line"),
        pytest.param("table.txt", " | \n", TABLE, id="a text without letters"),
        pytest.param("c.json", '[{"in": "a"}]', OUT, id="another key"),
        pytest.param("c.txt", "out", OUT, id="another kind of file"),
    ],
)
def test_what_is_not_sure_to_be_wrong_stays(name: str, text: str, place: DataPlace) -> None:
    assert wrong(name, text, place) is None


def test_it_is_made_something_else_the_second_time() -> None:
    files = {"c.json": b'[{"out": true}]'}
    once = wrong_data(files, OUT, Random(1), [])
    assert once
    assert wrong_data(files, OUT, Random(1), [once]) == {}
