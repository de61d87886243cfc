"""Benches and loops as text: two texts for a loop, a link, and Python code for a cell.

    >>> written_loop("x = w*x + u", "x = 1; u = 0.1 0.2 0.3; w = 0.9")
    >>> bench, moment = bench_of("loop=square&order=2&taps.x=-2,-1&moment=7")
    >>> link_of(bench, moment)
    'loop=square&taps.x=-2,-1&order=2&moment=7'

The two texts are the formula of the step, and the values of the variables. A variable that the step
assigns is a state if it has a value; otherwise it is an output. Another variable is a parameter if
it has a single number, and a sequence if it has several. A formula without ``=`` is the new value
of the first variable. `visual.player.state` writes and reads links.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from operator import attrgetter

import numpy as np

from lab.errors import ArgumentError, check_choice, check_integer, check_type, quote
from lab.loops import gallery
from lab.loops.loop import Loop
from lab.loops.text.source import identifier, values_by_name
from lab.loops.variables import Parameter, value_of
from lab.loops.written import WrittenStep
from lab.records import are_equal
from visual.player.state import as_text, from_text
from visual.workbench.state import WRITTEN, Bench, GraphBench, LoopBench

NAME = re.compile(r"[^\W\d]\w*")
TARGET = re.compile(r"\s*([^\W\d]\w*)\s*(?:\[\s*t\s*\]\s*)?=(?!=)")
START = ("x**2", "x = 0.95")
STEPS = 4


def written_loop(text: str, values: str, steps: int = STEPS, name: str = WRITTEN) -> Loop:
    """Return the loop with the formula `text` of the step and the `values` of the variables.

    Sequences determine the number of steps; a loop without sequences runs `steps` steps. Raises
    ArgumentError for an invalid text.
    """
    given = values_by_name("values", _given(values))
    lines = [line for part in text.splitlines() for line in part.split(";")]
    assigned = [identifier(target.group(1)) for line in lines if (target := TARGET.match(line))]
    states = [name for name in given if name in assigned] or list(given)[:1]
    others = [name for name in given if name not in states]
    sequences = {name: given[name] for name in others if isinstance(given[name], list)}
    return Loop.from_text(
        text,
        {name: given[name] for name in states},
        sequences,
        {name: given[name] for name in others if name not in sequences},
        n_steps=None if sequences else steps,
        name=name,
    )


def _given(values: str) -> Iterator[tuple[str, float | list[float]]]:
    for part in filter(str.strip, re.split(r"[;\n]", values)):
        name, equals, value = map(str.strip, part.partition("="))
        try:
            if not equals or not NAME.fullmatch(name):
                raise ValueError
            entries = [float(entry) for entry in re.split(r"[,\s]+", value)]
        except ValueError:
            why = "expected values as in 'x = 0.95; u = 0.1 0.2 0.3'."
            raise ArgumentError(f"values: {quote(part.strip())}: {why}") from None
        yield name, entries if len(entries) > 1 else entries[0]


def text_of(loop: Loop) -> tuple[str, str] | None:
    """Return two texts, from which `written_loop` restores a loop: the step, and the values.

    The two texts do not contain the name of the loop. Returns None for a loop that `written_loop`
    cannot restore.
    """
    is_written = isinstance(loop.step, WrittenStep) and not loop.random
    if not is_written or loop.truncate_gradient != -1 or isinstance(loop.n_steps, Parameter):
        return None
    values = loop.values.items()
    lines = (f"{name} = {' '.join(map(short, array.ravel().tolist()))}" for name, array in values)
    texts = str(loop.step), "; ".join(lines)
    variables = attrgetter("states", "sequences", "parameters")
    with suppress(ArgumentError):
        if are_equal(variables(written_loop(*texts, loop.steps)), variables(loop)):
            return texts
    return None


def short(number: float) -> str:
    """Return a number as text, with all digits but without a final ``.0``."""
    return repr(number).removesuffix(".0")


def with_loop(bench: Bench, loop: object) -> LoopBench:
    """Return the bench of another loop, with the same order, view, theme, and rule.

    `contributor` and a named cost also remain. Raises LabError for an unknown or impossible loop.
    """
    loop = check_type("loop", loop_of(loop) if isinstance(loop, str) else loop, Loop, "a lab.Loop")
    names = ["order", "view", "theme", "rule", "contributor"]
    names += ["cost"] if isinstance(bench.state.cost, str) else []
    return LoopBench.from_loop(loop).changed(**{n: getattr(bench.state, n) for n in names})


def loop_of(name: object, texts: Iterable[object] = START, steps: object = STEPS) -> Loop:
    """Return the loop of the gallery with this name; for "written", the loop with these texts."""
    if check_choice("loop", name, [WRITTEN, *gallery.loops]) != WRITTEN:
        return gallery.loops[name]
    text, values = map(str, texts)
    return written_loop(text, values, check_integer("steps", steps))


def bench_of(text: str) -> tuple[LoopBench, int]:
    """Return the bench and the moment (or -1) of a text or a loop; raise LabError if invalid."""
    state = {"loop": text} if text.isidentifier() else from_text(text)
    name, moment = state.pop("loop", "square"), check_integer("moment", state.pop("moment", -1))
    texts = state.pop("step", START[0]), state.pop("values", START[1])
    loop = loop_of(name, texts, state.get("steps", STEPS))
    return LoopBench.from_loop(loop).changed(**state), moment


def link_of(bench: Bench, moment: int = -1) -> str:
    """Return the text that restores a bench at a moment; -1 is the default moment.

    The text is empty for a graph, for a loop that a text cannot restore, such as a loop from the
    user's code, and for values of rank 4 or more.
    """
    if not isinstance(bench, LoopBench):
        return ""
    loop, state = bench.loop, dict[str, object](loop=bench.loop.name)
    if gallery.loops.get(loop.name) is not loop:
        if (texts := text_of(loop)) is None:
            return ""
        state = {"loop": WRITTEN, "step": texts[0], "values": texts[1]}
        if not loop.sequences and loop.steps != STEPS:
            state["steps"] = loop.steps
    with suppress(ArgumentError):  # a value is an array of rank 4 or more
        return as_text(state | _choices(bench, moment))
    return ""


def _choices(bench: Bench, moment: int) -> dict[str, object]:
    """Return the choices of a bench, and its moment if it is not the default moment."""
    return bench.choices | ({"moment": moment} if moment >= 0 else {})


def cell(bench: Bench, moment: int = -1) -> str:
    """Return Python code that opens the same workbench at a moment; -1 is the default moment."""
    before, subject = _loop(bench.loop) if isinstance(bench, LoopBench) else _graph(bench)
    chosen = (f"{name}={value!r}" for name, value in _choices(bench, moment).items())
    body = f"{before}bench = visual.Workbench({_joined([*subject, *chosen])})\nbench\n"
    numbers = [name for name in ("inf", "nan") if re.search(rf"(?<![\w.]){name}\b", body)]
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
    if text_of(loop) is None:
        return "# loop: your lab.Loop\n", ["loop"]
    arguments = [repr(str(loop.step))]
    for group in ("states", "sequences", "parameters"):
        if values := {v.name: value_of(v).tolist() for v in getattr(loop, group)}:
            arguments.append(f"{group}={values}")
    arguments += [] if loop.sequences else [f"n_steps={loop.steps}"]
    call = _joined([*arguments, f"name={loop.name!r}"])
    return f"loop = lab.Loop.from_text({call})\n", ["loop"]


def _graph(bench: Bench) -> tuple[str, list[str]]:
    """Return the code before the call, and the arguments for a graph or a PyMC model."""
    assert isinstance(bench, GraphBench)
    order = [] if "order" in bench.choices else [f"order={bench.state.order}"]
    if bench.model is not None:
        return "", [notebook_name(bench.model) or "model", *order]
    names = [*map(notebook_name, (bench.cost, bench.wrt, *bench.inputs.values()))]
    usual = ("cost", "wrt", *bench.inputs)
    cost, wrt, *inputs = (name or other for name, other in zip(names, usual, strict=True))
    values = (  # as Python expressions, which omit the dtype float64
        f"{value.tolist()}"
        if value.dtype == np.dtype("float64")
        else f"np.array({value.tolist()}, {str(value.dtype)!r})"
        for value in bench.given.values()
    )
    given = ", ".join(f"{name}: {value}" for name, value in zip(inputs, values, strict=True))
    before = "" if all(names) else "# cost, wrt, and the inputs: variables of your graph\n"
    return before, [cost, wrt, f"{{{given}}}", *order]


def notebook_name(value: object) -> str:
    """Return the name of an object in the notebook, or an empty text for an unnamed object."""
    names = vars(sys.modules["__main__"]).items()  # a kernel runs the cells in this module
    return next((name for name, each in names if each is value and not name.startswith("_")), "")
