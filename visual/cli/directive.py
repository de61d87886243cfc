"""The directive ``scantape`` for Sphinx and MyST, which draws a picture during the build.

    .. scantape:: tapes
       :loop: square
       :order: 2

Its options are those of ``scantape draw``; ``extensions = ["scantape"]`` registers it.
"""

import argparse
from hashlib import sha256
from pathlib import Path
from typing import NoReturn

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from lab.errors import ArgumentError, LabError
from visual.cli import draw
from visual.scene.shapes import Scene


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ArgumentError(f"scantape: {message}")


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _Parser()
    commands = parser.add_subparsers()
    draw.add_command(commands)
    return commands.choices["draw"]


def _options() -> dict[str, bool]:
    """The options of the command, and whether they take a value."""
    return {
        name.removeprefix("--"): action.nargs != 0
        for action in _parser()._actions
        for name in action.option_strings
        if name.startswith("--") and name not in ("--help", "--out", "--animate")
    }


class PictureDirective(SphinxDirective):
    """A picture with the options of ``scantape draw``."""

    required_arguments = 1
    option_spec = {  # noqa: RUF012 (as docutils has it)
        name: directives.unchanged_required if has_value else directives.flag
        for name, has_value in _options().items()
    }

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the picture for HTML and LaTeX."""
        words = [
            f"--{name}" if value is None else f"--{name}={value}"
            for name, value in self.options.items()
        ]
        try:
            picture = draw.picture(_parser().parse_args([self.arguments[0], "--out=-", *words]))
        except LabError as error:
            raise self.error(str(error)) from error
        html = f'<div class="picture">{picture.svg()}</div>'
        return [nodes.raw("", html, format="html"), *self._for_paper(picture)]

    def _for_paper(self, picture: Scene) -> list[nodes.Node]:
        builder = self.env.app.builder
        if builder.format != "latex":
            return []
        name = f"scantape-{sha256(picture.svg().encode()).hexdigest()[:12]}.pdf"
        Path(builder.outdir).mkdir(parents=True, exist_ok=True)
        picture.save(Path(builder.outdir) / name)
        return [nodes.raw("", rf"\includegraphics[width=\linewidth]{{{name}}}", format="latex")]
