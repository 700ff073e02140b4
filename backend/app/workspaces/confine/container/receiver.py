"""Starts inside a container: receives descriptors that the engine cannot pass, then executes the program.

It runs alone, with any Python 3.9 or newer and only the standard library: `python -I -S receiver.py SOCKET
NUMBER[,NUMBER ...] PROGRAM [ARGUMENT ...]`. The socket sends the descriptors once, in that order. The program
finds each descriptor under its number.
"""

import fcntl
import os
import socket
import sys


def main(path: str, numbers: "list[int]", argv: "list[str]") -> int:
    """Receive the descriptors, then execute the program. Return an exit status only if that fails."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as near:
        near.connect(path)
        received = socket.recv_fds(near, 1, len(numbers))[1]
    # Move them above all numbers first: a received number can be the target number of another descriptor.
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
