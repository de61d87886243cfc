"""What the arguments of a Scan are called: after the arrays that they were cut from."""

from dataclasses import replace

from pytensor.graph.basic import Apply, Variable

from lab.gradients.decisions import decisions_of
from lab.scans.buffers import initial_of
from lab.scans.names import unique_names
from lab.scans.node import (
    LoopVariable,
    ScanParts,
    is_scan,
    outer_inputs,
    read_scan,
    stops_by_itself,
)
from lab.scans.slices import Cut, constant_value, cut_of
from lab.tape import Kind

LETTERS = {Kind.SEQUENCE: "s", Kind.PARAMETER: "p"}  # for what was computed before the loop


def cuts_of(parts: ScanParts, variables: list[LoopVariable], node: Apply) -> list[tuple[Cut, str]]:
    """What every argument was cut from; and "n" if its first row is so many steps further."""
    derivation = decisions_of(node.op)
    if derivation is None:
        return [(_cut(part), "") for part in variables]
    readings = {reading.variable: reading for reading in derivation.readings}
    above = outer_inputs(derivation.forward)
    known = dict(zip(above, cuts_of(derivation.forward, above, derivation.parent), strict=True))
    made = constant_value(derivation.steps.made)
    found = []
    for part, original in zip(variables, outer_inputs(derivation.backward), strict=True):
        reading = readings.get(original)
        if reading is None:
            found.append((_cut(part), ""))
            continue
        source, length = reading.source, ""
        if source.kind is Kind.SEQUENCE:
            cut, length = known[source]
        else:
            cut = Cut(source.filled, source.tape.row(0, reading.tap))
        turned = _turned(cut, length, made)
        found.append((Cut(part.outer_input), "") if turned is None else turned)
    return found


def _counted_from_start(cut: Cut, part: LoopVariable) -> Cut:
    """`cut`, if it is no state's buffer that is read from its end: below 0 are initial values.

    Where the number of steps of that state is known, its rows are counted from the start;
    otherwise the array is taken as it is.
    """
    node = cut.base.owner
    if cut.first >= 0 or not is_scan(node):
        return cut
    maker = maker_of(cut.base)
    if maker is None or not maker[1].kind.is_state:
        return cut
    made = constant_value(node.inputs[0])
    if made is None or stops_by_itself(node):
        return Cut(part.outer_input)
    return replace(cut, first=cut.first + made + maker[1].tape.origin)


def _turned(cut: Cut, length: str, made: int | None) -> tuple[Cut, str] | None:
    """The same rows, read by the steps of a backward loop: the last of `made` steps first.

    Step t of a backward loop goes back through step n − 1 − t, so that row
    ``first + way·t`` becomes ``first + way·(n − 1) − way·t``.
    """
    if made is not None:
        return replace(cut, first=cut.first + cut.way * (made - 1), way=-cut.way), length
    if abs(cut.way) != 1 or bool(length) == (cut.way == 1):
        return None  # neither free of n nor n and a number
    turned = replace(cut, first=cut.first - cut.way, way=-cut.way)
    return turned, "" if length else "n"


def _cut(part: LoopVariable) -> Cut:
    if part.kind is Kind.SEQUENCE:
        return _counted_from_start(cut_of(part.outer_input), part)
    return Cut(initial_of(part.outer_input))


def argument_name(part: LoopVariable, base: Variable, node: Apply) -> str:
    """The name of an argument; one that was computed on the way and got no name gets a letter."""
    maker = maker_of(base)
    if maker is not None and part.kind is Kind.SEQUENCE:
        return maker[1].name
    name = base.name or ""
    own = name != "" and "[" not in name  # not one that PyTensor made up for a cut
    plain = base.owner is None or own or is_scan(base.owner)
    if decisions_of(node.op) is not None or part.kind not in LETTERS:
        return part.name
    if not plain:
        return LETTERS[part.kind]
    is_input = base.owner is None and name and "[t" not in name  # not of the step around it
    return name if is_input else part.name


def symbols_of(variables: list[LoopVariable], named: list[str], bases: list[Variable]) -> list[str]:
    """One symbol for every argument: the same for what was cut from the same array, else unlike."""
    owners: dict[object, str] = {}
    for part, name, base in zip(variables, named, bases, strict=True):
        owners.setdefault(_key(part, base), name)
    unique = dict(zip(owners, unique_names(list(owners.values())), strict=True))
    return [unique[_key(part, base)] for part, base in zip(variables, bases, strict=True)]


def _key(part: LoopVariable, base: Variable) -> object:
    return (Kind.SEQUENCE, base) if part.kind is Kind.SEQUENCE else part


def maker_of(base: Variable) -> tuple[str, LoopVariable] | None:
    """The Scan whose result `base` is, by its name, and the variable that it is the result of."""
    node = base.owner
    if not is_scan(node):
        return None
    parts = read_scan(node.op, node.inputs, node.outputs)
    return next((parts.called, part) for part in parts.variables if part.outer_output is base)
