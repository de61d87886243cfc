"""Loops from two texts: the formula of the step, and the values of the variables.

    >>> written_loop("x = w*x + u", "x = 1; u = 0.1 0.2 0.3; w = 0.9")

A variable that the step assigns is a state if it has a value; otherwise it is an output. Another
variable is a parameter if it has a single number, and a sequence if it has several. A formula
without ``=`` is the new value of the first variable.
"""

import re
from collections.abc import Iterator, Mapping

import numpy as np

from lab.errors import ArgumentError, quote
from lab.loops.loop import Loop
from lab.loops.text.grammar import TARGET
from lab.loops.text.source import identifier, values_by_name
from lab.loops.variables import Parameter, RandomState, Sequence, State, Valued, value_of
from lab.loops.written import WrittenStep

WRITTEN = "written"  # the default name of a loop from texts
NAME = re.compile(r"[^\W\d]\w*")
START = ("x**2", "x = 0.95")
STEPS = 4


def written_loop(text: str, values: str, steps: int = STEPS, name: str = WRITTEN) -> Loop:
    """Return the loop; sequences determine the number of its steps, otherwise `steps` does.

    Raises ArgumentError for an invalid text.
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
    """Return the step and the values of a loop as texts for `written_loop`.

    Returns None for a step that is not a text, and for values that are not numbers or vectors.
    """
    if not isinstance(loop.step, WrittenStep) or loop.random:
        return None
    parts = []
    for name, variable in valued(loop).items():
        value = value_of(variable)
        if not _fits(variable, value):
            return None
        parts.append(f"{name} = {' '.join(map(short, value.ravel().tolist()))}")
    return str(loop.step), "; ".join(parts)


def _fits(variable: Valued, value: np.ndarray) -> bool:
    """Return whether a text can contain the value of a variable."""
    if value.dtype != np.dtype("float64") or value.ndim > 1:
        return False
    if isinstance(variable, State):
        return value.ndim == (variable.reach > 1)
    return (value.ndim == isinstance(variable, Sequence) and value.size != 1) or value.ndim == 0


def can_be_written(loop: Loop) -> bool:
    """Return whether the texts of `text_of` restore the loop, except its name."""
    texts = text_of(loop)
    if texts is None or loop.truncate_gradient != -1 or isinstance(loop.n_steps, Parameter):
        return False
    restored = written_loop(*texts, loop.steps)
    first, second = (
        {name: getattr(variable, "taps", None) for name, variable in each.variables.items()}
        for each in (loop, restored)
    )
    return first == second


def short(number: float) -> str:
    """Return a number with all its digits, without a final ``.0``."""
    return repr(number).removesuffix(".0")


def valued(loop: Loop) -> Mapping[str, Valued]:
    """Return the variables of a loop that have values, without random states."""
    return {n: v for n, v in loop.variables.items() if not isinstance(v, RandomState)}
