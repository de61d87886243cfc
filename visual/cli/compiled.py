"""The command ``scantape compiled``."""

import argparse
from pathlib import Path
from typing import Any

from pytensor.graph.basic import Variable

from lab.errors import ArgumentError
from lab.loops.loop import Loop
from lab.reports.compile.compile import compiled
from lab.reports.compile.compiled import Compiled
from lab.reports.compile.shortening import shortened
from visual.cli.options import add_graph, made_by
from visual.pictures.compiled import compiled as picture
from visual.scene.formats import check_path, save, write_whole
from visual.scene.theme import theme_named
from visual.widgets.page import to_page


def add(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "compiled", help="which Scans, and which rows of their buffers, a compiled function keeps"
    )
    add_graph(
        parser,
        returns="a variable, several in a list, (cost, wrt) or a compiled function",
        out=".svg, .pdf, .png, .html or .txt",
    )
    parser.add_argument("--wrt", metavar="NAME", help="of a loop: compile its gradient, too")
    parser.add_argument("--mode", metavar="NAME", help="a mode of PyTensor, as CVM or NUMBA")
    parser.add_argument("--scan", type=int, metavar="N", help="only this Scan")
    parser.add_argument(
        "--too-late",
        action="store_true",
        help="of a loop, with --wrt: what its gradient finds after its buffers were shortened",
    )
    parser.set_defaults(run=_compiled)


def _compiled(options: argparse.Namespace) -> None:
    theme_named(options.theme)
    if options.out != "-":
        check_path(Path(options.out))
    made = made_by("NAME", options.graph)
    if options.too_late:
        _too_late(made, options)
        return
    found = _found(made, options)
    if options.scan is not None and options.scan not in range(1, len(found.after) + 1):
        raise ArgumentError(f"--scan {options.scan}: {len(found.after)} Scans are left.")
    words = str(found if options.scan is None else found.after[options.scan - 1])
    if options.out == "-":
        print(words)
        return
    path, scene = Path(options.out), picture(found, options.theme, options.scan)
    suffix = path.suffix.lower()
    if suffix == ".txt":
        print(write_whole(path, f"{words}\n"))
    elif suffix == ".html":
        print(write_whole(path, to_page(scene, words=words)))
    else:
        print(save(scene, path, 1.0))


def _found(made: Any, options: argparse.Namespace) -> Compiled:
    """The report on what a name stands for."""
    if isinstance(made, Loop):
        return compiled(made, options.wrt, options.mode)
    if options.wrt is not None:
        raise ArgumentError(f"--wrt {options.wrt}: only a loop has names; return (cost, wrt).")
    if isinstance(made, tuple) and len(made) == 2 and all(isinstance(v, Variable) for v in made):
        return compiled(*made, mode=options.mode)
    return compiled(made, mode=options.mode)


def _too_late(made: Any, options: argparse.Namespace) -> None:
    """Print the worked warning."""
    if not isinstance(made, Loop) or options.wrt is None:
        raise ArgumentError("--too-late: expected a loop, which has values, and --wrt.")
    words = str(shortened(made, options.wrt, mode=options.mode))
    if options.out == "-":
        print(words)
    elif Path(options.out).suffix.lower() != ".txt":
        raise ArgumentError(f"--out {options.out}: this report is words, on the screen or .txt.")
    else:
        print(write_whole(Path(options.out), f"{words}\n"))
