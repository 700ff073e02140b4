"""Takes the ids of tests apart. A directory may have brackets in its name, too, as `tests/[id]/test_a.py`."""


def function_of(test: str) -> str:
    """Return the id of a test's function: the id without its parameters."""
    file, separator, rest = test.partition("::")
    return file + separator + rest.partition("[")[0]


def words_of(test: str) -> "frozenset[str]":
    """Return the words in the parameters of a test, as in `test_get[redis-3]`."""
    words = test.partition("::")[2].partition("[")[2].rstrip("]").split("-")
    return frozenset(each for each in words if any(letter.isalpha() for letter in each))


def parts_of(ids: "set[str]") -> "set[str]":
    """Return the ids of functions, and of what they are in. Some plug-ins collect tests in functions."""
    names = [function_of(each).split("::") for each in ids]
    return {"::".join(each[:end]) for each in names for end in range(1, len(each) + 1)}
