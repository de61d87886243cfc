"""The command ``scantape export``."""

import argparse

from lab.errors import listing
from visual.cli.shared import Commands, add_drawing, drawing_arguments, load, show
from visual.drawing.export import FORMATS, export


def add_command(commands: Commands) -> None:
    """Add the command to the parser."""
    summary = "write all pictures of a derivative and an index page"
    parser = commands.add_parser("export", help=summary)
    add_drawing(parser, "folder to write", "FOLDER")
    parser.add_argument(
        "--formats", default="svg", metavar="F,F", help=f"some of {listing(FORMATS)} (svg)"
    )
    parser.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> None:
    subject, given, about = drawing_arguments(options, load("--loop", options.loop))
    formats = [name.strip() for name in options.formats.split(",")]
    show(export(subject, options.out, formats, options.theme, options.scale, given, **about))
