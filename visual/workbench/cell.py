"""The text of *copy as Python*: the code of a cell that opens the same workbench."""

import sys
from collections.abc import Mapping, Sequence

import numpy as np

from lab.loops import gallery
from lab.loops.loop import Loop
from lab.loops.variables import Valued, value_of
from visual.workbench.state import Bench, GraphBench, LoopBench
from visual.workbench.written import text_of


def cell(bench: Bench, moment: int = -1) -> str:
    """Return Python code that opens the same workbench at a moment; -1 is the default moment."""
    before, subject = _subject(bench)
    chosen = bench.choices | ({"moment": moment} if moment >= 0 else {})
    arguments = [*subject, *(f"{name}={literal(value)}" for name, value in chosen.items())]
    body = f"{before}bench = visual.Workbench({_joined(arguments)})\nbench\n"
    modules = [name for name in ("lab", "visual") if f"{name}." in body]
    numpy = "import numpy as np\n\n" if "np." in body else ""
    return numpy + "".join(f"import {name}\n" for name in modules) + "\n" + body


def _joined(arguments: list[str]) -> str:
    """Return the arguments of a call, in separate lines if they are long."""
    line = ", ".join(arguments)
    return line if len(line) <= 70 else "\n" + "".join(f"    {each},\n" for each in arguments)


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
    """Return the lines before the call, and the arguments of the call for the subject."""
    if isinstance(bench, GraphBench):
        return _graph(bench)
    assert isinstance(bench, LoopBench)
    loop = bench.loop
    if gallery.loops.get(loop.name) is loop:
        return "", [f"lab.gallery.loops[{loop.name!r}]"]
    if name := notebook_name(loop):
        return "", [name]
    if text_of(loop) is not None:
        return f"loop = lab.Loop.from_text({_joined(_written(loop))})\n", ["loop"]
    return "# loop: your lab.Loop\n", ["loop"]


def _graph(bench: GraphBench) -> tuple[str, list[str]]:
    """Return the lines before the call, and the arguments of the call for a graph or a model."""
    order = [] if "order" in bench.choices else [f"order={bench.state.order}"]
    if bench.model is not None:
        return "", [notebook_name(bench.model) or "model", *order]
    cost, wrt = notebook_name(bench.cost) or "cost", notebook_name(bench.wrt_variable) or "wrt"
    values = (
        f"{notebook_name(variable) or name}: {_array(np.asarray(bench.given[variable]))}"
        for variable, name in bench.names.items()
    )
    given = f"{{{', '.join(values)}}}"
    names = [notebook_name(variable) for variable in (bench.cost, bench.wrt_variable, *bench.given)]
    before = "" if all(names) else "# cost, wrt, and the inputs: variables of your graph\n"
    return before, [cost, wrt, given, *order]


def _written(loop: Loop) -> list[str]:
    """Return the arguments of the call of `Loop.from_text` that creates a loop."""
    groups: Mapping[str, Sequence[Valued]] = {
        "states": loop.states,
        "sequences": loop.sequences,
        "parameters": loop.parameters,
    }
    arguments = [repr(str(loop.step))]
    for group, variables in groups.items():
        values = {variable.name: value_of(variable).tolist() for variable in variables}
        arguments += [f"{group}={literal(values)}"] if values else []
    if not loop.sequences:
        arguments.append(f"n_steps={loop.steps}")
    return [*arguments, f"name={loop.name!r}"]


def _array(value: np.ndarray) -> str:
    """Return an array as a Python expression; the dtype float64 is not written."""
    written = literal(value.tolist())
    is_plain = value.dtype == np.dtype("float64")
    return written if is_plain else f"np.array({written}, {str(value.dtype)!r})"


def notebook_name(value: object) -> str:
    """Return the name of an object in the notebook; empty for an object without a name."""
    if "IPython" not in sys.modules:
        return ""
    from IPython import get_ipython

    shell = get_ipython()
    names = shell.user_ns if shell is not None else {}
    public = (name for name, each in names.items() if each is value and not name.startswith("_"))
    return next(public, "")
