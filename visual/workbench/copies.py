"""A bench as text: a link, and the Python code of a cell that opens the same workbench.

    >>> bench, moment = bench_of("loop=square&order=2&taps.x=-2,-1&moment=7")
    >>> link_of(bench, moment)
    'loop=square&order=2&taps.x=-2,-1&moment=7'

`visual.player.state` writes and reads the text of a link; a page accepts the same text.
"""

import re
import sys
from collections.abc import Iterable

import numpy as np

from lab.errors import ArgumentError, check_integer
from lab.loops import gallery
from lab.loops.loop import Loop
from lab.loops.variables import value_of
from visual.player.state import as_text, from_text
from visual.workbench.state import Bench, GraphBench, LoopBench, loop_of
from visual.workbench.written import START, STEPS, WRITTEN, text_of


def link_of(bench: Bench, moment: int = -1) -> str:
    """Return the text that restores a bench at a moment; -1 is the default moment.

    The text is empty for a graph, and for a loop from the user's code.
    """
    if not isinstance(bench, LoopBench):
        return ""
    loop, state = bench.loop, dict[str, object](loop=bench.loop.name)
    if gallery.loops.get(loop.name) is not loop:
        texts = text_of(loop)
        if texts is None:
            return ""
        state = {"loop": WRITTEN, "step": texts[0], "values": texts[1]}
        if not loop.sequences and loop.steps != STEPS:
            state["steps"] = loop.steps
    try:
        return as_text(state | _choices(bench, moment))
    except ArgumentError:  # a value is an array of rank 4 or more
        return ""


def bench_of(text: str) -> tuple[LoopBench, int]:
    """Return the bench and the moment in a text; -1 is the default moment.

    Raises LabError for an invalid text.
    """
    state = from_text(text)
    name, moment = state.pop("loop", "square"), check_integer("moment", state.pop("moment", -1))
    texts = state.pop("step", START[0]), state.pop("values", START[1])
    loop = loop_of(name, *texts, state.get("steps", STEPS))
    return LoopBench.from_loop(loop).changed(**state), moment


def _choices(bench: Bench, moment: int) -> dict[str, object]:
    """Return the choices of a bench, and its moment if it is not the default moment."""
    return bench.choices | ({"moment": moment} if moment >= 0 else {})


def cell(bench: Bench, moment: int = -1) -> str:
    """Return Python code that opens the same workbench at a moment; -1 is the default moment."""
    before, subject = _loop(bench.loop) if isinstance(bench, LoopBench) else _graph(bench)
    chosen = (f"{name}={value!r}" for name, value in _choices(bench, moment).items())
    body = f"{before}bench = visual.Workbench({_joined([*subject, *chosen])})\nbench\n"
    numbers = [name for name in ("inf", "nan") if re.search(rf"\b{name}\b", body)]
    head = f"from math import {', '.join(numbers)}\n\n" if numbers else ""
    head += "import numpy as np\n\n" if "np." in body else ""
    head += "".join(f"import {name}\n" for name in ("lab", "visual") if f"{name}." in body)
    return f"{head}\n{body}"


def _joined(arguments: list[str]) -> str:
    """Return the arguments of a call as text. Long arguments are on separate lines."""
    line = ", ".join(arguments)
    return line if len(line) <= 70 else "\n" + "".join(f"    {each},\n" for each in arguments)


def _loop(loop: Loop) -> tuple[str, list[str]]:
    """Return the code before the call of `visual.Workbench`, and the argument for a loop."""
    if gallery.loops.get(loop.name) is loop:
        return "", [f"lab.gallery.loops[{loop.name!r}]"]
    if name := notebook_name(loop):
        return "", [name]
    if text_of(loop) is not None:
        return f"loop = lab.Loop.from_text({_joined([*_written(loop)])})\n", ["loop"]
    return "# loop: your lab.Loop\n", ["loop"]


def _graph(bench: Bench) -> tuple[str, list[str]]:
    """Return the code before the call, and the arguments for a graph or a PyMC model."""
    assert isinstance(bench, GraphBench)
    order = [] if "order" in bench.choices else [f"order={bench.state.order}"]
    if bench.model is not None:
        return "", [notebook_name(bench.model) or "model", *order]
    names = [*map(notebook_name, (bench.cost, bench.wrt, *bench.inputs.values()))]
    usual = ("cost", "wrt", *bench.inputs)
    cost, wrt, *inputs = (name or other for name, other in zip(names, usual, strict=True))
    values = map(_array, bench.given.values())
    given = ", ".join(f"{name}: {value}" for name, value in zip(inputs, values, strict=True))
    before = "" if all(names) else "# cost, wrt, and the inputs: variables of your graph\n"
    return before, [cost, wrt, f"{{{given}}}", *order]


def _written(loop: Loop) -> Iterable[str]:
    """Yield the arguments of the call of `Loop.from_text` that creates `loop`."""
    yield repr(str(loop.step))
    for group in ("states", "sequences", "parameters"):
        values = {variable.name: value_of(variable).tolist() for variable in getattr(loop, group)}
        if values:
            yield f"{group}={values}"
    if not loop.sequences:
        yield f"n_steps={loop.steps}"
    yield f"name={loop.name!r}"


def _array(value: np.ndarray) -> str:
    """Return an array as a Python expression, which omits the dtype float64."""
    is_plain = value.dtype == np.dtype("float64")
    return f"{value.tolist()}" if is_plain else f"np.array({value.tolist()}, {str(value.dtype)!r})"


def notebook_name(value: object) -> str:
    """Return the name of an object in the notebook, or an empty text for an unnamed object."""
    names = vars(sys.modules["__main__"]).items()  # a kernel runs the cells in this module
    return next((name for name, each in names if each is value and not name.startswith("_")), "")
