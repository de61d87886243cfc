"""The command ``scantape explain``."""

import argparse

from lab.errors import ArgumentError
from lab.loops.model import log_density
from lab.reports.explain.explain import explain
from lab.reports.explain.explanation import Explanation
from visual.cli.shared import Commands, add, add_graph, graph_of, made_by, tell
from visual.drawing.catalogue import SCAN
from visual.options import WRT, words
from visual.pages.explanation import save_explanation


def add_command(commands: Commands) -> None:
    """Add the command to the others."""
    told = "explain the Scans of a graph of your own, and the traps they fall into"
    returns = "(cost, wrt), (cost, wrt, given) or a PyMC model"
    parser = add_graph(commands, "explain", told, returns, ".html or .txt", _explain)
    add(parser, SCAN, help="only this Scan, on the screen")
    add(parser, WRT, help="of a PyMC model: the variables, as rho,sigma (all that are free)")
    parser.add_argument(
        "--time",
        action="store_true",
        help="compile it, and tell how long a step takes; with the values given, or of a model",
    )


def _explain(options: argparse.Namespace) -> None:
    explanation = _explained(options)
    if options.scan is not None:
        if options.scan not in range(1, len(explanation.scans) + 1):
            raise ArgumentError(f"--scan {options.scan}: there are {len(explanation.scans)} Scans.")
        if options.out != "-":
            raise ArgumentError(f"--out {options.out}: a single Scan is shown on the screen.")
    shown = explanation if options.scan is None else explanation.scans[options.scan - 1]
    tell(shown, options, lambda: save_explanation(explanation, options.out, options.theme))


def _explained(options: argparse.Namespace) -> Explanation:
    """The explanation of what a name stands for."""
    subject = made_by("NAME", options.graph)
    if log_density(subject) is not None:
        by = words(options.wrt) if options.wrt else None
        return explain(subject, by, {} if options.time else None)
    if options.wrt is not None:
        raise ArgumentError(f"--wrt {options.wrt}: only a model has names; return (cost, wrt).")
    cost, wrt, given = graph_of(options.graph)
    if options.time and given is None:
        raise ArgumentError("--time: expected values; return (cost, wrt, given).")
    return explain(cost, wrt, given if options.time else None)
