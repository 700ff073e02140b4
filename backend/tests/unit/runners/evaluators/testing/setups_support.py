"""A project that the tests of setups judge."""

CODE = {"calc/__init__.py": "class OldWarning(Warning): ...\n\n\ndef add(a, b):\n    return a + b\n"}
WRONG = {"calc/__init__.py": CODE["calc/__init__.py"].replace("a + b", "a - b")}
