"""The commands ``scantape explain``, ``compare``, and ``compiled``, which report on a graph."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from pytensor.graph.basic import Variable

from lab.errors import ArgumentError
from lab.loops.loop import Loop
from lab.loops.model import log_density
from lab.reports.compare.compare import compare
from lab.reports.compare.comparison import Comparison
from lab.reports.compile.compile import compiled
from lab.reports.compile.compiled import Compiled
from lab.reports.explain.explain import explain
from lab.reports.explain.explanation import Explanation, ScanReport
from lab.reports.tables import Report, Section
from visual.backends.page import save_report
from visual.cli.shared import Commands, add, load, load_graph, show, typed_options
from visual.drawing.catalogue import SCAN
from visual.options import ORDER, THEME, WRT, words

Item = TypeVar("Item")


def add_commands(commands: Commands) -> None:
    """Add the commands to the parser."""
    parser = _add_command(
        commands,
        "explain",
        "describe the Scans in a graph, the gradient of its cost, and known traps",
        "(cost, wrt), (cost, wrt, given), or a PyMC model",
        _explain,
    )
    add(parser, SCAN, help="describe only this Scan (default: all)")
    add(parser, WRT, help="variables, such as rho,sigma (PyMC models only; default: all)")
    parser.add_argument(
        "--details", action="store_true", help="add ids of pytensor.dprint, and lines of code"
    )

    parser = _add_command(
        commands,
        "compare",
        "compare our pullback of a Scan with PyTensor's own",
        "(cost, wrt), (cost, wrt, given), or a lab.Loop",
        _compare,
    )
    add(parser, ORDER, help="highest order to compare (default: 1)")

    parser = _add_command(
        commands,
        "compiled",
        "show the Scans, rewrites, and buffers of a compiled function",
        "a variable, a list of variables, (cost, wrt), (cost, wrt, given), or a compiled function",
        _compiled,
    )
    add(parser, WRT, help="include the gradient wrt this variable (loops only)")
    parser.add_argument("--mode", metavar="MODE", help="compilation mode, such as CVM or NUMBA")
    add(parser, SCAN, help="show only this Scan (default: all)")


def _add_command(
    commands: Commands,
    name: str,
    summary: str,
    returns: str,
    report: Callable[[argparse.Namespace], Report],
) -> argparse.ArgumentParser:
    """Add a command that shows or saves the result of `report`; return the parser of the command.

    In the help text, `returns` describes the result of the user's function.
    """
    parser = commands.add_parser(name, help=summary)
    parser.add_argument(
        "graph",
        metavar="NAME",
        help=f"module:function, without arguments, that returns {returns}; or a gallery loop",
    )
    parser.add_argument(
        "-o",
        "--out",
        default="-",
        metavar="FILE",
        help="file to write (.html, .txt), or - for text on the screen (default: -)",
    )
    add(parser, THEME)

    def run(options: argparse.Namespace) -> None:
        theme = {
            name: THEME.check(value) for name, value in typed_options(options, [THEME]).items()
        }
        result = report(options)
        show(result if options.out == "-" else save_report(result, options.out, **theme))

    parser.set_defaults(run=run)
    return parser


def _select_scan(options: argparse.Namespace, scans: Sequence[Item]) -> Item | None:
    """Return the entry of `scans` with the number in ``--scan``, or None without this option."""
    number = typed_options(options, [SCAN]).get(SCAN.name)
    if number is None or number in range(1, len(scans) + 1):
        return scans[number - 1] if number else None
    several = f"expected 1 to {len(scans)}" if len(scans) > 1 else "expected 1; there is one Scan"
    expected = several if scans else "the graph contains no Scan"
    raise ArgumentError(f"--scan {number}: {expected}.")


def _explain(options: argparse.Namespace) -> Report:
    explanation = _explanation(options)
    scan = _select_scan(options, explanation.scans)
    report: Explanation | ScanReport = scan or explanation
    if not options.details:
        return report
    document = report.document
    return Section(document.title, (*document.blocks, explanation.details))


def _explanation(options: argparse.Namespace) -> Explanation:
    """Return the explanation of a graph or of a model."""
    subject, wrt = load("NAME", options.graph), typed_options(options, [WRT]).get(WRT.name)
    if log_density(subject) is not None:
        return explain(subject, words(wrt) or None)
    if wrt is not None:
        raise ArgumentError(f"--wrt {wrt}: only for a PyMC model. For a graph, return (cost, wrt).")
    cost, variable, _ = load_graph("NAME", options.graph, subject)
    return explain(cost, variable)


def _compare(options: argparse.Namespace) -> Comparison:
    subject, order = load("NAME", options.graph), typed_options(options, [ORDER])
    if isinstance(subject, Loop):
        return compare(subject, **order)
    return compare(*load_graph("NAME", options.graph, subject), **order)


def _compiled(options: argparse.Namespace) -> Report:
    report = _compilation(load("NAME", options.graph), options)
    return _select_scan(options, report.after) or report


def _compilation(subject: object, options: argparse.Namespace) -> Compiled:
    """Return the report on the compilation of a loop, a graph, or a function."""
    wrt = typed_options(options, [WRT]).get(WRT.name)
    if isinstance(subject, Loop):
        return compiled(subject, wrt, options.mode)
    if wrt is not None:
        raise ArgumentError(
            f"--wrt {wrt}: this option is only for loops. For a graph, return (cost, wrt) from "
            "the function."
        )
    match subject:
        case (Variable() as cost, Variable() as variable):
            return compiled(cost, variable, options.mode)
        case (Variable() as cost, Variable() as variable, None | Mapping() as given):
            return compiled(cost, variable, options.mode, given)
    return compiled(subject, mode=options.mode)  # type: ignore[arg-type]  # `compiled` checks the type
