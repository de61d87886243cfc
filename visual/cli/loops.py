"""The command ``scantape loops``."""

import argparse

from lab.loops.gallery import loops
from visual.cli.shared import Commands, show


def add_command(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("loops", help="list the loops of the gallery")
    parser.add_argument("--names", action="store_true", help="print the names only, each on a line")
    parser.set_defaults(run=_loops)


def _loops(options: argparse.Namespace) -> None:
    for name, loop in loops.items():
        show(name if options.names else f"{name:12}{loop.reason}")
