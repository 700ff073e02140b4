"""Starts inside a container: receives descriptors that the engine cannot pass, then executes the program.

Runs alone, with any Python 3.9 or newer and nothing but its standard library:
`python -I -S receiver.py SOCKET NUMBER[,NUMBER ...] PROGRAM [ARGUMENT ...]`. The socket gives the descriptors
in that order, once; the program finds each under its number.
"""

import fcntl
import os
import socket
import sys


def main(path: str, numbers: "list[int]", argv: "list[str]") -> int:
    """Take the descriptors and become the program; return an exit status only if it cannot be started."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as near:
        near.connect(path)
        received = socket.recv_fds(near, 1, len(numbers))[1]
    # Out of the way first: a received number may be one that another descriptor shall have.
    above = max(numbers) + 1
    moved = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, above) for each in received]
    for each in received:
        os.close(each)
    for source, number in zip(moved, numbers):  # noqa: B905 - Python 3.9 knows no `strict`
        os.dup2(source, number, inheritable=True)
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - it is what this program is for
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        return 127 if isinstance(error, FileNotFoundError) else 126


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], [int(each) for each in sys.argv[2].split(",")], sys.argv[3:]))
