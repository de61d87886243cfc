"""The command ``scantape completion``: what a shell needs to complete our words."""

import argparse

import shtab

from lab.errors import one_of
from lab.loops import gallery
from lab.reports.breaking.rules import BROKEN
from visual.cli.main import parser
from visual.cli.shared import Commands, show
from visual.drawing.catalogue import PICTURES
from visual.lessons.copies import lessons
from visual.scene.theme import THEMES

SHELLS = tuple(shtab.SUPPORTED_SHELLS)


def add_command(commands: Commands) -> None:
    """Add the command to the others."""
    added = commands.add_parser(
        "completion", help="a script for a shell, which completes these commands"
    )
    added.add_argument("shell", metavar="SHELL", help=", ".join(SHELLS))
    added.set_defaults(run=_complete)


def _complete(options: argparse.Namespace) -> None:
    one_of("shell", options.shell, SHELLS)
    known = {
        "picture": PICTURES,
        "loop": gallery.loops,
        "rule": BROKEN,
        "theme": THEMES,
        "shell": SHELLS,
        "lesson": [path.stem for path in lessons() if path.stem[0].isdigit()],
    }
    made = parser(())
    (commands,) = (one for one in made._actions if isinstance(one, argparse._SubParsersAction))
    for action in (one for command in commands.choices.values() for one in command._actions):
        if action.dest in known:
            action.choices = [*known[action.dest]]
        elif action.dest in ("out", "folder", "files"):
            action.complete = shtab.FILE
    show(shtab.complete(made, shell=options.shell))
