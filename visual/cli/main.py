"""Parse the command line of ``scantape``, and run the command."""

import argparse
import re
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NoReturn

from lab.errors import ArgumentError, LabError, check_choice, closest_match, printable, shorten
from visual.cli.draw import EXAMPLES as DRAWING
from visual.cli.shared import show
from visual.retired import RETIRED_COMMANDS, RETIRED_OPTIONS, refuse_retired

# The commands of each file; `add_commands` in the file adds these commands to the parser.
FILES = {
    "draw": ("loops", "draw", "export"),
    "reports": ("explain", "compare", "compiled", "why"),
    "page": ("page",),
    "lessons": ("lessons", "score"),
}
COMMANDS = {command: file for file, commands in FILES.items() for command in commands}
EXAMPLES = f"""\
examples:
  scantape loops                                         the loops of the gallery
{DRAWING}
  scantape explain mymodule:mygraph -o mine.html         the gradient of (cost, wrt), and its traps
  scantape why mymodule:mygraph --value nan              the first nan and its causes
  scantape compare mymodule:mygraph --order 2 -o report.html
  scantape compiled gap --mode CVM -o gap.html           the buffer of the compiled loop
  scantape export --loop rnn --wrt W --formats svg,pdf -o pictures
  scantape page --out lesson.html                        machines that run without Python
  scantape lessons course                                the lessons, opened in JupyterLab

In mymodule:myloop, myloop is a lab.Loop, or a function without arguments that returns a lab.Loop.
"""

# Map arguments in Python to options with other names, and positional arguments to names in help.
ALIASES = {"n_steps": "steps", "path": "out", "folder": "out", "number": "picture"}
POSITIONS = {"command": "COMMAND", "picture": "PICTURE"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its status: 0, 2 (error), 130 (interrupt), or 141 (closed pipe)."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = argparse.Namespace()
    try:
        if arguments and not arguments[0].startswith("-"):
            options.command = arguments[0]
            refuse_retired(options.command, RETIRED_COMMANDS, "scantape {}")
            check_choice("command", options.command, COMMANDS)
        parser = create_parser(arguments)
        parser.parse_args(arguments, options)
        if options.run is None:
            parser.print_help()
            return 0
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            # Print a warning without the line of code that raised it.
            warnings.showwarning = lambda text, *_: print(f"scantape: {text}", file=sys.stderr)
            options.run(options)
    except LabError as error:
        message = f"scantape: {_with_option(error, options)}"
        print(*map(printable, message.splitlines()), sep="\n", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("scantape: stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # a reader such as `head` closed the pipe
        return 141  # as if the signal SIGPIPE had ended the command
    return 0


def _with_option(error: LabError, options: argparse.Namespace) -> str:
    """Return the message of an error, with the typed option in place of the Python argument."""
    argument = getattr(error, "argument", "")
    name = ALIASES.get(argument, argument)
    if not isinstance(error, ArgumentError) or not hasattr(options, name):
        return str(error)
    option, typed = POSITIONS.get(name, f"--{name.replace('_', '-')}"), getattr(options, name)
    words = typed if isinstance(typed, list) else [typed]
    text = " ".join(str(word) for word in words if word is not True)  # a switch has no value
    return f"{option} {shorten(text)}".rstrip() + f": {error.reason}"


class _Parser(argparse.ArgumentParser):
    """A parser whose errors have one line and name the replacement of a removed option."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["formatter_class"] = argparse.RawDescriptionHelpFormatter  # for the examples
        super().__init__(*args, **kwargs)
        self._negative_number_matcher = re.compile("-[0-9]")  # -2,-1 is a value, not an option

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Parse the arguments of a command; report removed and unknown options."""
        for option in (word.partition("=")[0] for word in args or () if self._subparsers is None):
            if option not in self._option_string_actions:
                refuse_retired(option.removeprefix("--").replace("-", "_"), RETIRED_OPTIONS, option)
        options, unknown = super().parse_known_args(args, namespace)
        for word in unknown[:1] if self._subparsers is None else ():
            option, known = word.partition("=")[0], self._option_string_actions
            like, advice = closest_match(option, known), f"see {self.prog} --help."
            if not word.startswith("-"):
                advice = f"did you mean --loop {shorten(word)}?" if "--loop" in known else advice
                self.error(f"{shorten(word)}: unexpected argument; {advice}")
            if option == "--loop":
                advice = f"write the name alone: {self.prog} square."
            advice = f"did you mean {like}?" if like else advice
            self.error(f"{shorten(option)}: unknown option; {advice}")
        return options, unknown

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is sys.stdout:
            show(message, end="")  # a closed pipe has the same status as for a report
        else:
            super()._print_message(message, file)

    def error(self, message: str) -> NoReturn:
        """Print the message and end the process with status 2."""
        if missing := re.fullmatch("the following arguments are required: ([^,]+)(,.*)?", message):
            message = f"{missing[1]}: missing; see the examples of {self.prog} --help."
        self.exit(2, f"scantape: {shorten(message, 500)}\n")


def create_parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Return a parser for the command in ``arguments[0]``, or for all commands."""
    description = "See the tapes of PyTensor's Scan gradients."
    parser = _Parser("scantape", description=description, epilog=EXAMPLES)
    own, help = "(not installed)", "print the versions and exit"
    with suppress(PackageNotFoundError):
        own = version("scantape")
    versions = f"scantape {own}, PyTensor {version('pytensor')}"  # both versions affect results
    parser.add_argument("--version", action="version", version=versions, help=help)
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for file in [COMMANDS[name] for name in arguments[:1] if name in COMMANDS] or FILES:
        import_module(f"visual.cli.{file}").add_commands(commands)
    return parser
