"""Loops from two texts: the formula of the step, and the values of the variables.

    >>> written_loop("x = w*x + u", "x = 1; u = 0.1 0.2 0.3; w = 0.9")

A variable that the step assigns is a state if it has a value; otherwise it is an output. Another
variable is a parameter if it has a single number, and a sequence if it has several. A formula
without ``=`` is the new value of the first variable.
"""

import re
from collections.abc import Iterator

from lab.errors import ArgumentError, quote
from lab.loops.loop import Loop
from lab.loops.text.source import identifier, values_by_name
from lab.loops.variables import Parameter
from lab.loops.written import WrittenStep

WRITTEN = "written"  # the default name of a loop from texts
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
            raise ArgumentError(
                f"values: {quote(part.strip())}: expected values as in 'x = 0.95; u = 0.1 0.2 0.3'."
            ) from None
        yield name, entries if len(entries) > 1 else entries[0]


def text_of(loop: Loop) -> tuple[str, str] | None:
    """Return two texts, from which `written_loop` restores a loop: the step, and the values.

    The two texts do not contain the name of the loop. Returns None if `written_loop` cannot
    restore all variables.
    """
    is_written = isinstance(loop.step, WrittenStep) and not loop.random
    if not is_written or loop.truncate_gradient != -1 or isinstance(loop.n_steps, Parameter):
        return None
    values = loop.values.items()
    lines = (f"{name} = {' '.join(map(short, array.ravel().tolist()))}" for name, array in values)
    texts = str(loop.step), "; ".join(lines)
    try:
        restored = written_loop(*texts, loop.steps)
    except ArgumentError:
        return None
    return texts if _content(restored) == _content(loop) else None


def _content(loop: Loop) -> dict[str, tuple[object, ...]]:
    """Return the taps, the dtype, and the values of each variable."""
    return {
        name: (getattr(loop.variables[name], "taps", None), value.dtype, value.tolist())
        for name, value in loop.values.items()
    }


def short(number: float) -> str:
    """Return a number as text, with all digits but without a final ``.0``."""
    return repr(number).removesuffix(".0")
