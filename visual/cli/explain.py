"""The command ``scantape explain``."""

import argparse

from lab.errors import ArgumentError
from lab.loops.model import log_density
from lab.reports.explain.explain import explain
from lab.reports.explain.explanation import Explanation, ScanReport
from lab.reports.tables import Section
from visual.cli.shared import Commands, add, add_graph, load, load_graph, save_report, select_scan
from visual.drawing.catalogue import SCAN
from visual.options import WRT, words


def add_command(commands: Commands) -> None:
    """Add the command to the parser."""
    summary = "describe the Scans in a graph, the gradient of its cost, and known traps"
    returns = "(cost, wrt), (cost, wrt, given) or a PyMC model"
    parser = add_graph(commands, "explain", summary, returns, ".html or .txt", _explain)
    add(parser, SCAN, help="number of the only Scan to describe")
    add(parser, WRT, help="variables, such as rho,sigma (PyMC models only; default: all)")
    parser.add_argument("--details", action="store_true", help="add ids and lines of code")


def _explain(options: argparse.Namespace) -> None:
    explanation = _explained(options)
    report: Explanation | ScanReport | Section = explanation
    if options.scan is not None:
        report = select_scan(options.scan, explanation.scans)
    if options.details:
        document = report.document
        report = Section(document.title, (*document.blocks, explanation.details))
    save_report(report, options)


def _explained(options: argparse.Namespace) -> Explanation:
    """Return the explanation of a graph or of a model."""
    subject = load("NAME", options.graph)
    if log_density(subject) is not None:
        return explain(subject, words(options.wrt) if options.wrt else None)
    if options.wrt is not None:
        raise ArgumentError(
            f"--wrt {options.wrt}: only for PyMC models. A function returns (cost, wrt)."
        )
    cost, wrt, _ = load_graph(options.graph)
    return explain(cost, wrt)
