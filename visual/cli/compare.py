"""The command ``scantape compare``."""

import argparse

from lab.loops.loop import Loop
from lab.reports.compare.compare import compare
from lab.reports.compare.comparison import Comparison
from visual.cli.shared import Commands, add, add_graph, load, load_graph, save_report
from visual.options import ORDER


def add_command(commands: Commands) -> None:
    """Add the command to the parser."""
    summary = "compare our pullback of a Scan with PyTensor's own"
    returns = "(cost, wrt), (cost, wrt, given) or a lab.Loop"
    out = ".html or .txt"
    parser = add_graph(commands, "compare", summary, returns, out, _compare)
    add(parser, ORDER, help="highest order to compare (default: 1)")


def _compare(options: argparse.Namespace) -> None:
    save_report(compared(options.graph, options.order), options)


def compared(name: str, order: int) -> Comparison:
    """Compare the gradients of the loop or graph with this name on the command line."""
    subject = load("NAME", name)
    if isinstance(subject, Loop):
        return compare(subject, order=order)
    return compare(*load_graph(name), order)
