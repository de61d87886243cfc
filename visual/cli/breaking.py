"""The command ``scantape break``."""

import argparse

from lab.errors import listing
from lab.reports.breaking.breakage import Truth
from lab.reports.breaking.rules import BROKEN
from visual.cli.shared import Commands, add, add_drawing, check_drawing, chosen, loop_named, write
from visual.drawing.draw import studied
from visual.drawing.study import choose
from visual.options import RULE
from visual.pictures.breaking import breaking
from visual.scene.formats import SUFFIXES


def add_command(commands: Commands) -> None:
    """Add the command to the others."""
    parser = commands.add_parser("break", help="break a rule of the derivative: where it shows")
    add(parser, RULE, required=True)
    add_drawing(parser, f"{listing(SUFFIXES)}; - is text")
    parser.set_defaults(run=_break)


def _break(options: argparse.Namespace) -> None:
    rule, loop = BROKEN[options.rule], loop_named(options.loop)
    check_drawing(options)
    study = studied(loop, choose(**chosen(options, loop)))
    breakage = Truth(study.derivative, study.given).broken_by(rule)
    write(breaking(breakage, options.theme), options)
