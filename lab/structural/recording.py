"""Noting which primitives a function applies to which values, while it runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NoReturn

from lab.errors import ArgumentError
from lab.structural.backends import Array


@dataclass(frozen=True, eq=False)
class Equation:
    """One application of a primitive: ``result = primitive(arguments; metadata)``.

    Results and arguments are names.
    """

    result: str
    primitive: str
    arguments: tuple[str, ...]
    metadata: Mapping[str, Any]

    def __str__(self) -> str:
        fixed = ", ".join(f"{name}={value}" for name, value in self.metadata.items())
        listed = ", ".join(self.arguments) + (f"; {fixed}" if fixed else "")
        return f"{self.result} = {self.primitive}({listed})"


@dataclass(eq=False)
class Recorder:
    """What has been noted so far: equations, and the constants that they use."""

    equations: list[Equation] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)

    def note(
        self, primitive: str, inputs: Sequence[Any], metadata: Mapping[str, Any], output: Array
    ) -> "Recorded":
        """Add the equation that made `output`."""
        arguments = tuple(map(self._name, inputs))
        fixed = MappingProxyType(dict(metadata))
        equation = Equation(f"z{len(self.equations) + 1}", primitive, arguments, fixed)
        self.equations.append(equation)
        return Recorded(equation.result, output, self)

    def _name(self, value: Any) -> str:
        if isinstance(value, Recorded):
            return value.name
        name = f"c{len(self.constants) + 1}"
        self.constants[name] = value
        return name


@dataclass(frozen=True, eq=False)
class Recorded:
    """A value on its way through a chain.  Its number is `value`, for use in conditions."""

    name: str
    value: Any
    recorder: Recorder

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise ArgumentError(
            f"{self.name}: a chain is made of where, cat, narrow and clamp only; in a condition, "
            "take the value itself, as in x.value > 0."
        )

    # numpy shall not try its own operations, entry by entry
    __array_ufunc__ = None


def recorder_of(inputs: Sequence[Any]) -> Recorder | None:
    """The recorder that takes note of these inputs, if there is one."""
    found = {value.recorder for value in inputs if isinstance(value, Recorded)}
    if len(found) > 1:
        raise ArgumentError("inputs: they belong to two chains; one chain cannot use another's.")
    return found.pop() if found else None
