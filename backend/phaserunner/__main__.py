"""Starts the command line: the console script `phaserunner`, and `python -m phaserunner`."""

from app.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
