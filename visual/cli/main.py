"""The command ``scantape``, each of whose commands has a file of its own."""

import argparse
import re
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from threading import current_thread, main_thread
from typing import NoReturn

from lab.errors import LabError, check_choice, printable, shorten
from visual.cli.draw import EXAMPLES as DRAWING
from visual.retired import RETIRED_COMMANDS, RETIRED_OPTIONS, refuse_retired

# By the files, whose `add_command` adds them to the parser.
COMMANDS = {
    "loops": "loops",
    "draw": "draw",
    "explain": "explain",
    "why": "why",
    "compare": "compare",
    "compiled": "compiled",
    "page": "page",
    "export": "export",
    "lessons": "course",
    "score": "course",
}
EXAMPLES = f"""\
examples:
  scantape loops                                         what there is to draw, and why
{DRAWING}
  scantape explain mymodule:mygraph -o mine.html         your own (cost, wrt), and its traps
  scantape why mymodule:mygraph --value nan              the first nan, and what led there
  scantape compare mymodule:mygraph --order 2 -o report.html
  scantape compiled gap --mode CVM -o gap.html           what its buffer holds when compiled
  scantape export --loop rnn --wrt W --formats svg,pdf -o pictures
  scantape page --out lesson.html                        many loops to choose from, without Python
  scantape lessons course                                the lessons as notebooks, opened

A loop of your own is a lab.Loop, or a function without arguments that returns one.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0, or 2 if something was asked that cannot be."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if arguments and not arguments[0].startswith("-"):
            refuse_retired(arguments[0], RETIRED_COMMANDS, "scantape {}")
            check_choice("command", arguments[0], COMMANDS)
        made = parser(arguments)
        options = made.parse_args(list(_joined(arguments)))
        if options.run is None:
            made.print_help()
            return 0
        with _interrupts(), warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning  # type: ignore[assignment]  # the message only
            options.run(options)
    except LabError as error:
        print(*map(printable, f"scantape: {error}".splitlines()), sep="\n", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("scantape: stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output, head for one, has seen enough
        sys.stderr.close()
        return 0
    return 0


@contextmanager
def _interrupts() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt, once: what is open can be closed.  Then stop at once."""
    before = signal.getsignal(signal.SIGINT)
    if before in (None, signal.default_int_handler) or current_thread() is not main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _joined(arguments: Sequence[str]) -> Iterator[str]:
    """``--taps -2,-1`` as ``--taps=-2,-1``: argparse takes numbers below 0 for options."""
    waiting = list(arguments)
    while waiting:
        argument = waiting.pop(0)
        if re.fullmatch(r"--[a-z-]+", argument) and waiting and re.match("-[0-9]", waiting[0]):
            argument = f"{argument}={waiting.pop(0)}"
        yield argument


class _Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line, and names the replacement of an old option."""

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Parse the arguments of a command."""
        for option in (word.partition("=")[0] for word in args or () if self._subparsers is None):
            if option not in self._option_string_actions:
                name = option.removeprefix("--").replace("-", "_")
                refuse_retired(name, RETIRED_OPTIONS, option)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """End the process with the line."""
        self.exit(2, f"scantape: {shorten(message, 500)}\n")


class _Version(argparse.Action):
    """Says which Scantape this is, and on which PyTensor: numbers may differ by that."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Say it, and end the process."""
        try:
            own = version("scantape")
        except PackageNotFoundError:
            own = "that is not installed"
        print(f"scantape {own}, PyTensor {version('pytensor')}")
        parser.exit()


def _show_warning(message: Warning | str, *_: object) -> None:
    print(f"scantape: {message}", file=sys.stderr)


def parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of the command that is asked for; of all, if none is or it is not known."""
    made = _Parser(
        prog="scantape",
        description="See the tapes of PyTensor's Scan gradients.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action=_Version, nargs=0, help="say which version this is")
    made.set_defaults(run=None)
    commands = made.add_subparsers(title="commands", metavar="COMMAND")
    asked = [name for name in arguments[:1] if name in COMMANDS]
    for file in dict.fromkeys(COMMANDS[name] for name in asked or COMMANDS):
        import_module(f"visual.cli.{file}").add_command(commands)
    return made
