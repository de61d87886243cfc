"""The command ``scantape completion``: what a shell needs to complete our words."""

import argparse

import shtab

from lab.errors import one_of
from visual.cli.main import parser
from visual.cli.shared import Commands, show

SHELLS = tuple(shtab.SUPPORTED_SHELLS)


def add_command(commands: Commands) -> None:
    """Add the command to the others."""
    added = commands.add_parser(
        "completion", help="a script for bash, zsh or tcsh, which completes these commands"
    )
    added.add_argument("shell", metavar="SHELL", help=", ".join(SHELLS))
    added.set_defaults(run=_complete)


def _complete(options: argparse.Namespace) -> None:
    one_of("shell", options.shell, SHELLS)
    show(shtab.complete(parser(()), shell=options.shell))
