"""The command ``scantape export``."""

import argparse
from typing import Any

from lab.errors import listing
from visual.cli.options import add_choices, chosen, loop_named
from visual.drawing.export import FORMATS, export


def add(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser("export", help="write all pictures, with an index page")
    parser.add_argument(
        "--loop", required=True, metavar="NAME", help="a gallery loop, or module:function"
    )
    parser.add_argument("-o", "--out", required=True, metavar="FOLDER", help="where to write")
    parser.add_argument(
        "--formats", default="svg", metavar="F,F", help=f"some of {listing(FORMATS)} (svg)"
    )
    add_choices(parser)
    parser.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> None:
    loop = loop_named(options.loop)
    formats = [name.strip() for name in options.formats.split(",")]
    about = chosen(options, loop)
    print(export(loop, options.out, formats, options.theme, options.scale, **about))
