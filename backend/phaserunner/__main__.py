"""Starts the command line: the console script `phaserunner`, and `python -m phaserunner`."""

import sys

__all__ = ["main"]

_INTERRUPTED = 130  # same as in `app.cli.exits`, which a hook does not import


def main() -> None:
    """Run the command line; a hook runs in the standby process if there is one."""
    if sys.argv[1:2] == ["hook"] and "--run" in sys.argv:
        from app.cli.standby.asking import answered  # noqa: PLC0415 - only for hooks

        try:
            code = answered(sys.argv[1:])
        except KeyboardInterrupt:
            sys.exit(_INTERRUPTED)
        if code is not None:
            sys.exit(code)
    from app.cli.importing import quick_imports  # noqa: PLC0415 - hooks do not need this

    with quick_imports():
        from app.cli.main import main as run_here  # noqa: PLC0415 - hooks do not need this
    run_here()


if __name__ == "__main__":
    main()
