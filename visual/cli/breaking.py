"""The command ``scantape break``."""

import argparse
from typing import Any

from lab.errors import listing
from lab.reports.breaking.breakage import Truth
from lab.reports.breaking.rules import BROKEN, broken_rule
from visual.cli.options import add_choices, check_drawing, chosen, loop_named, write
from visual.drawing.draw import studied
from visual.drawing.study import choose
from visual.pictures.breaking import breaking
from visual.scene.formats import SUFFIXES


def add(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser("break", help="break a rule of the derivative: where it shows")
    parser.add_argument(
        "--loop", required=True, metavar="NAME", help="a gallery loop, or module:function"
    )
    parser.add_argument("--rule", required=True, metavar="RULE", help=listing(BROKEN))
    parser.add_argument(
        "-o", "--out", required=True, metavar="FILE", help=f"{listing(SUFFIXES)}; - is text"
    )
    add_choices(parser)
    parser.set_defaults(run=_break)


def _break(options: argparse.Namespace) -> None:
    rule, loop = broken_rule(options.rule), loop_named(options.loop)
    check_drawing(options)
    found = studied(loop, choose(**chosen(options, loop)))
    breakage = Truth(found.derivative, found.given).broken_by(rule)
    write(breaking(breakage, options.theme), options)
