"""The four primitives by name, and the functions that one calls.

A primitive's rules are registered once; functions, chains and pictures find them by name.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from lab.errors import ArgumentError
from lab.structural.backends import Array
from lab.structural.operands import quoted
from lab.structural.primitive import Primitive
from lab.structural.rearrangement import Cat, Narrow
from lab.structural.recording import Recorded, recorder_of
from lab.structural.selection import Clamp, Where

primitives: Mapping[str, Primitive] = MappingProxyType(
    {primitive.name: primitive for primitive in (Where(), Cat(), Narrow(), Clamp())}
)


def where(condition: Any, x: Any, y: Any) -> Array:
    """The entries of x where the condition holds, of y elsewhere, broadcast; see `Where`."""
    return apply("where", (x, y), condition=condition)


def cat(inputs: Any, dim: Any) -> Array:
    """The inputs, one behind the other along `dim`; see `Cat`."""
    if not isinstance(inputs, tuple | list):
        raise ArgumentError(f"cat: inputs = {quoted(inputs)}: expected a tuple or a list.")
    return apply("cat", inputs, dim=dim)


def narrow(a: Any, dim: Any, start: Any, length: Any) -> Array:
    """The part of `length` entries of a, from `start` on, along `dim`; see `Narrow`."""
    return apply("narrow", (a,), dim=dim, start=start, length=length)


def clamp(x: Any, lo: Any, hi: Any) -> Array:
    """The number nearest to x between lo and hi, broadcast; see `Clamp`."""
    return apply("clamp", (x, lo, hi))


def apply(name: str, inputs: Sequence[Any], **metadata: Any) -> Any:
    """The primitive `name`, run, and noted in the chain that is being recorded, if any."""
    recorder = recorder_of(inputs)
    values = [value.value if isinstance(value, Recorded) else value for value in inputs]
    output = primitives[name].forward(*values, **metadata)
    return output if recorder is None else recorder.note(name, inputs, metadata, output)
