"""Starts the command line: the console script `phaserunner`, and `python -m phaserunner`."""

from app.cli.importing import quick_imports

with quick_imports():
    from app.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
