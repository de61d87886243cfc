"""The command ``scantape``, which Ctrl-C ends at any moment: with a word, status 130, no trace.

It imports nothing of ours before that holds; in the hundredth of a second before, while Python
itself starts, the trace is Python's.  What it does is in `visual.cli.main`.
"""

import atexit
import gc
import io
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def command() -> None:
    """Run the command and end the process, which is short: it collects no garbage."""
    signal.signal(signal.SIGINT, stop)
    # When all is told, Python gives its signals back to the system, which would kill.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    from visual.cli.main import main

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal may lack letters
    status = main()
    gc.freeze()
    try:
        sys.stdout.flush()
    except OSError:  # it was told; and Python flushes once more as it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


def setup(app: "Sphinx") -> dict[str, bool]:
    """Let Sphinx draw: ``extensions = ["scantape"]`` adds the directive ``scantape``."""
    from visual.cli.directive import Drawn

    app.add_directive("scantape", Drawn)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def stop(*_: object) -> None:
    """End the process at once."""
    os.write(2, b"scantape: stopped.\n")
    os._exit(130)


if __name__ == "__main__":
    command()
