"""Starts the command line: the console script `phaserunner`, and `python -m phaserunner`."""

import sys

__all__ = ["main"]

_INTERRUPTED = 130  # as `app.cli.exits` has it, which a hook does not import


def main() -> None:
    """Run the command line of this process; a hook's by the process that stands by, if there is one."""
    if sys.argv[1:2] == ["hook"] and "--run" in sys.argv:
        from app.cli.standby.asking import answered  # noqa: PLC0415 - only for hooks

        try:
            code = answered(sys.argv[1:])
        except KeyboardInterrupt:
            sys.exit(_INTERRUPTED)
        if code is not None:
            sys.exit(code)
    from app.cli.importing import quick_imports  # noqa: PLC0415 - a hook does without

    with quick_imports():
        from app.cli.main import main as run_here  # noqa: PLC0415 - a hook does without
    run_here()


if __name__ == "__main__":
    main()
