"""The command ``scantape export``."""

import argparse

from lab.errors import listing
from visual.cli.shared import Commands, add_drawing, chosen, loop_named, show
from visual.drawing.export import FORMATS, export


def add_command(commands: Commands) -> None:
    """Add the command to the others."""
    parser = commands.add_parser("export", help="write all pictures, with an index page")
    add_drawing(parser, "where to write", "FOLDER")
    parser.add_argument(
        "--formats", default="svg", metavar="F,F", help=f"some of {listing(FORMATS)} (svg)"
    )
    parser.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> None:
    loop = loop_named(options.loop)
    formats = [name.strip() for name in options.formats.split(",")]
    about = chosen(options, loop)
    show(export(loop, options.out, formats, options.theme, options.scale, **about))
