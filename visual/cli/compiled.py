"""The commands ``scantape compiled`` and ``scantape rewrites``."""

import argparse
from pathlib import Path

from pytensor.graph.basic import Variable

from lab.errors import ArgumentError
from lab.loops.loop import Loop
from lab.reports.compile.compile import compiled
from lab.reports.compile.compiled import Compiled
from lab.reports.compile.shortening import shortened
from lab.reports.compile.walking import rewrites
from visual.cli.shared import Commands, add, add_graph, graph_of, made_by, tell
from visual.drawing.catalogue import SCAN
from visual.options import WRT
from visual.pages.rewriting import save_rewrites
from visual.pictures.compiled import compiled as picture
from visual.scene.formats import check_path, write_whole
from visual.scene.theme import THEMES
from visual.widgets.page import to_page


def add_command(commands: Commands) -> None:
    """Add the commands to the others."""
    told = "which Scans, and which rows of their buffers, a compiled function keeps"
    returns = "a variable, several in a list, (cost, wrt) or a compiled function"
    out = ".svg, .pdf, .png, .html or .txt"
    parser = add_graph(commands, "compiled", told, returns, out, _compiled)
    add(parser, WRT, help="of a loop: compile its gradient, too")
    parser.add_argument("--mode", metavar="MODE", help="a mode of PyTensor, as CVM or NUMBA")
    add(parser, SCAN, help="only this Scan")
    parser.add_argument(
        "--too-late",
        action="store_true",
        help="of a loop, with --wrt: what its gradient finds after its buffers were shortened",
    )
    told = "what becomes of the Scans of a graph on the way to what runs, one by one"
    returns = "(cost, wrt), (cost, wrt, given) or a PyMC model"
    out = "a page to search (.html), .txt, or the picture of one step"
    walk = add_graph(commands, "rewrites", told, returns, out, _rewrites)
    walk.add_argument("--mode", default="FAST_RUN", metavar="MODE", help="of PyTensor (FAST_RUN)")
    walk.add_argument("--find", default="", metavar="TEXT", help="only steps that tell of this")
    walk.add_argument("--rewrite", type=int, default=1, metavar="N", help="the one to draw (1)")
    walk.add_argument(
        "--time", action="store_true", help="compile it without each rewrite, which takes minutes"
    )


def _rewrites(options: argparse.Namespace) -> None:
    cost, wrt, given = graph_of(options.graph)
    if options.time and given is None:
        raise ArgumentError("--time: expected values; return (cost, wrt, given).")
    walk = rewrites(cost, wrt, options.mode, given, options.time).named(options.find)
    out = options.out, options.rewrite, options.theme
    tell(walk, options, lambda: save_rewrites(walk, *out))


def _compiled(options: argparse.Namespace) -> None:
    THEMES[options.theme]
    if options.out != "-":
        check_path(Path(options.out))
    subject = made_by("NAME", options.graph)
    if options.too_late:
        _too_late(subject, options)
        return
    report = _report(subject, options)
    if options.scan is not None and options.scan not in range(1, len(report.after) + 1):
        raise ArgumentError(f"--scan {options.scan}: {len(report.after)} Scans are left.")
    words = str(report if options.scan is None else report.after[options.scan - 1])

    def save() -> Path:
        path = Path(options.out)
        if path.suffix.lower() == ".txt":
            return write_whole(path, f"{words}\n")
        scene = picture(report, options.theme, options.scan)
        if path.suffix.lower() == ".html":
            return write_whole(path, to_page(scene, words=words))
        return scene.save(path)

    tell(words, options, save)


def _report(subject: object, options: argparse.Namespace) -> Compiled:
    """The report on what a name stands for."""
    if isinstance(subject, Loop):
        return compiled(subject, options.wrt, options.mode)
    if options.wrt is not None:
        raise ArgumentError(f"--wrt {options.wrt}: only a loop has names; return (cost, wrt).")
    if (
        isinstance(subject, tuple)
        and len(subject) == 2
        and all(isinstance(v, Variable) for v in subject)
    ):
        return compiled(*subject, mode=options.mode)
    return compiled(subject, mode=options.mode)  # type: ignore[arg-type]  # or it is refused


def _too_late(subject: object, options: argparse.Namespace) -> None:
    """Print the worked warning."""
    if not isinstance(subject, Loop) or options.wrt is None:
        raise ArgumentError("--too-late: expected a loop, which has values, and --wrt.")
    if options.out != "-" and Path(options.out).suffix.lower() != ".txt":
        raise ArgumentError(f"--out {options.out}: this report is words, on the screen or .txt.")
    words = str(shortened(subject, options.wrt, mode=options.mode))
    tell(words, options, lambda: write_whole(Path(options.out), f"{words}\n"))
