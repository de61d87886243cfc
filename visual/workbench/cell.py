"""The code behind *copy as Python*: a cell that opens a workbench with the same choices."""

import sys
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from lab.loops import gallery
from lab.loops.loop import Loop
from lab.loops.variables import Parameter, Sequence, State, value_of
from lab.loops.written import WrittenStep, default_tap
from visual.workbench.state import Bench, GraphBench, LoopBench


def cell(bench: Bench, moment: int = -1) -> str:
    """Return Python that opens the same workbench, at a moment of the machine unless it is -1."""
    before, subject = _subject(bench)
    chosen = bench.choices | ({"moment": moment} if moment >= 0 else {})
    arguments = [*subject, *(f"{name}={literal(value)}" for name, value in chosen.items())]
    body = f"{before}bench = visual.Workbench({_joined(arguments)})\nbench\n"
    modules = [name for name in ("lab", "visual") if f"{name}." in body]
    numpy = "import numpy as np\n\n" if "np." in body else ""
    return numpy + "".join(f"import {name}\n" for name in modules) + "\n" + body


def _joined(arguments: list[str], indent: str = "    ") -> str:
    line = ", ".join(arguments)
    if len(line) <= 70:
        return line
    return "\n" + "".join(f"{indent}{argument},\n" for argument in arguments)


def literal(value: object) -> str:
    """Return a value as a Python expression."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name!r}: {literal(v)}' for name, v in value.items())}}}"
    if isinstance(value, tuple | list):
        inside = ", ".join(map(literal, value))
        return f"[{inside}]" if isinstance(value, list) or len(value) != 1 else f"({inside},)"
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def _subject(bench: Bench) -> tuple[str, list[str]]:
    """Return the lines before the call, and the arguments for the subject."""
    if isinstance(bench, GraphBench):
        return _graph(bench)
    assert isinstance(bench, LoopBench)
    loop = bench.loop
    if gallery.loops.get(loop.name) is loop:
        return "", [f"lab.gallery.loops[{loop.name!r}]"]
    if isinstance(loop.step, WrittenStep):
        return f"loop = lab.Loop.from_text({_joined(list(_written(loop)))})\n", ["loop"]
    name = known_as(loop)
    return ("", [name]) if name else ("# loop: your lab.Loop\n", ["loop"])


def _graph(bench: GraphBench) -> tuple[str, list[str]]:
    order = [] if "order" in bench.choices else [f"order={bench.state.order}"]
    if bench.model is not None:
        return "", [known_as(bench.model) or "model", *order]
    cost, by = known_as(bench.cost) or "cost", known_as(bench.by) or "wrt"
    values = (
        f"{known_as(variable) or name}: {_array(np.asarray(bench.given[variable]))}"
        for variable, name in bench.names.items()
    )
    given = f"{{{', '.join(values)}}}"
    names = [known_as(one) for one in (bench.cost, bench.by, *bench.given)]
    before = "" if all(names) else "# cost, wrt, and the inputs: variables of your graph\n"
    return before, [cost, by, given, *order]


def _written(loop: Loop) -> Iterator[str]:
    """Yield the arguments of `Loop.from_text`."""
    yield repr(str(loop.step))
    groups: tuple[tuple[str, Iterable[State | Sequence | Parameter]], ...] = (
        ("states", loop.states),
        ("sequences", loop.sequences),
        ("parameters", loop.parameters),
    )
    for name, group in groups:
        if group:
            yield f"{name}={_variables(loop, group)}"
    if loop.n_steps is not None:
        steps = loop.n_steps
        if not isinstance(steps, int | np.integer):
            yield f"n_steps=lab.Parameter({steps.name!r}, {_array(steps.value)})"
        else:
            yield f"n_steps={int(steps)}"
    if loop.truncate_gradient != -1:
        yield f"truncate_gradient={loop.truncate_gradient}"
    if loop.name != "scan_fn":
        yield f"name={loop.name!r}"
    if loop.reason:
        yield f"reason={loop.reason!r}"


def _variables(loop: Loop, group: Iterable[State | Sequence | Parameter]) -> str:
    """Return values by name, with taps if the text does not determine them."""
    assert isinstance(loop.step, WrittenStep)
    named = dict(loop.step.taps)
    plain = all(
        not isinstance(one, State | Sequence)
        or one.taps == named.get(one.name, (default_tap(isinstance(one, State)),))
        for one in group
    )
    if plain:
        return f"{{{', '.join(f'{one.name!r}: {_array(value_of(one))}' for one in group)}}}"
    made = (
        f"lab.{type(one).__name__}({one.name!r}, {_array(value_of(one))}, {one.taps!r})"
        for one in group
        if isinstance(one, State | Sequence)
    )
    return f"({', '.join(made)},)"


def _array(value: np.ndarray) -> str:
    """Return an array as Python: plain numbers if they give the same dtype."""
    written = literal(value.tolist())
    return (
        written
        if value.dtype == np.dtype("float64")
        else f"np.array({written}, {str(value.dtype)!r})"
    )


def known_as(value: object) -> str:
    """Return the name of an object in the notebook, or an empty text."""
    if "IPython" not in sys.modules:
        return ""
    from IPython import get_ipython

    shell = get_ipython()
    names = shell.user_ns if shell is not None else {}
    return next((n for n, held in names.items() if held is value and not n.startswith("_")), "")
