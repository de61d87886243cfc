"""The command ``scantape compare``."""

import argparse

from pytensor.graph.basic import Apply

from lab.loops.loop import Loop
from lab.reports.compare.compare import compare
from lab.reports.compare.comparison import Comparison
from visual.cli.shared import Commands, add, add_graph, graph_of, made_by, tell
from visual.options import ORDER
from visual.pages.comparison import save_comparison


def add_command(commands: Commands) -> None:
    """Add the command to the others."""
    told = "our pullback of a Scan beside PyTensor's own, and a report of it"
    returns = "(cost, wrt), (cost, wrt, given), a Scan node or a lab.Loop"
    out = ".py is a script for a maintainer; .html, .txt or a picture"
    parser = add_graph(commands, "compare", told, returns, out, _compare)
    add(parser, ORDER, help="up to this order (1)")


def _compare(options: argparse.Namespace) -> None:
    comparison = compared(options.graph, options.order)
    tell(comparison, options, lambda: save_comparison(comparison, options.out, options.theme))


def compared(name: str, order: int) -> Comparison:
    """The comparison of what a person names on the command line."""
    subject = made_by("NAME", name)
    if isinstance(subject, Loop | Apply):
        return compare(subject, order=order)
    cost, wrt, given = graph_of(name)
    module, _, function = name.partition(":")
    return compare(cost, wrt, given, order, origin=(module, function))
