"""The command ``scantape compiled``."""

import argparse

from pytensor.graph.basic import Variable

from lab.errors import ArgumentError
from lab.loops.loop import Loop
from lab.reports.compile.compile import compiled
from lab.reports.compile.compiled import Compiled
from visual.cli.shared import Commands, add, add_graph, load, save_report, select_scan
from visual.drawing.catalogue import SCAN
from visual.options import WRT


def add_command(commands: Commands) -> None:
    """Add the command to the parser."""
    summary = "show the Scans, rewrites, and buffers of a compiled function"
    returns = (
        "a variable, several in a list, (cost, wrt), (cost, wrt, given) or a compiled function"
    )
    parser = add_graph(commands, "compiled", summary, returns, ".html or .txt", _compiled)
    add(parser, WRT, help="include the gradient wrt this variable (loops only)")
    parser.add_argument("--mode", metavar="MODE", help="compilation mode, such as CVM or NUMBA")
    add(parser, SCAN, help="number of the only Scan to show")


def _compiled(options: argparse.Namespace) -> None:
    report = _report(load("NAME", options.graph), options)
    if options.scan is None:
        save_report(report, options)
    else:
        save_report(select_scan(options.scan, report.after), options)


def _report(subject: object, options: argparse.Namespace) -> Compiled:
    """Return the report on a loop, a graph or a function."""
    if isinstance(subject, Loop):
        return compiled(subject, options.wrt, options.mode)
    if options.wrt is not None:
        raise ArgumentError(f"--wrt {options.wrt}: only a loop has names; return (cost, wrt).")
    if isinstance(subject, tuple) and len(subject) in (2, 3):
        cost, wrt, *given = subject
        if isinstance(cost, Variable) and isinstance(wrt, Variable):
            return compiled(cost, wrt, options.mode, *given)
    return compiled(subject, mode=options.mode)  # type: ignore[arg-type]  # or it is refused
