"""The command ``scantape``, each of whose commands has a file of its own."""

import argparse
import gc
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module

from lab.errors import LabError, printable
from visual.cli.draw import EXAMPLES as DRAWING

# Each is in a file of its own, whose `add_command` adds it to the parser.
COMMANDS = {
    "loops": "loops",
    "draw": "draw",
    "explain": "explain",
    "page": "page",
    "compare": "compare",
    "compiled": "compiled",
    "export": "export",
    "break": "breaking",
}
EXAMPLES = f"""\
examples:
  scantape loops                                         what there is to draw, and why
{DRAWING}
  scantape explain mymodule:mygraph -o mine.html         your own (cost, wrt), and its traps
  scantape compare mymodule:mygraph --order 2 -o report.py
  scantape compiled gap --mode CVM -o gap.html           what its buffer holds when compiled
  scantape export --loop rnn --wrt W --formats svg,pdf -o pictures
  scantape break --loop square --rule accumulate-overwritten --order 3 -o broken.svg
  scantape page --out lesson.html                        many loops to choose from, without Python

A loop of your own is a lab.Loop, or a function without arguments that returns one.
"""


def command() -> None:
    """Run the command and end the process, which is short: it collects no garbage."""
    gc.disable()
    status = main()
    gc.freeze()
    sys.exit(status)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0, or 2 if something was asked that cannot be."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    parser = _parser(arguments)
    options = parser.parse_args(arguments)
    if options.run is None:
        parser.print_help()
        return 0
    warnings.simplefilter("always", UserWarning)
    warnings.showwarning = _show_warning  # type: ignore[assignment]  # it needs the message only
    try:
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


def _show_warning(message: Warning | str, *_: object) -> None:
    print(f"scantape: {message}", file=sys.stderr)


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of the command that is asked for; of all, if none is or it is not known."""
    parser = argparse.ArgumentParser(
        prog="scantape",
        description="See the tapes of PyTensor's Scan gradients.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    asked = [name for name in arguments[:1] if name in COMMANDS]
    for name in asked or COMMANDS:
        import_module(f"visual.cli.{COMMANDS[name]}").add_command(commands)
    return parser


if __name__ == "__main__":
    command()
