"""The command ``scantape explain``."""

import argparse

from lab.errors import ArgumentError
from lab.reports.explain.explain import explain
from visual.cli.options import Commands, add, add_graph, graph_of, show
from visual.drawing.kinds import SCAN
from visual.pages.explanation import save_explanation


def add_command(commands: Commands) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "explain", help="explain the Scans of a graph of your own, and the traps they fall into"
    )
    add_graph(
        parser,
        returns="(cost, wrt)",
        out=".html or .txt",
    )
    add(parser, SCAN, help="only this Scan, on the screen")
    parser.set_defaults(run=_explain)


def _explain(options: argparse.Namespace) -> None:
    explanation = explain(*graph_of(options.graph)[:2])
    if options.scan is not None:
        if options.scan not in range(1, len(explanation.scans) + 1):
            raise ArgumentError(f"--scan {options.scan}: there are {len(explanation.scans)} Scans.")
        if options.out != "-":
            raise ArgumentError(f"--out {options.out}: a single Scan is shown on the screen.")
    if options.out == "-":
        show(explanation if options.scan is None else explanation.scans[options.scan - 1])
    else:
        show(save_explanation(explanation, options.out, options.theme))
