"""Write the outer variables of a Scan as expressions: ``u[0:-4][:n]``."""

from pytensor.graph.basic import Constant, Variable

from lab.notation import render
from lab.scans.formula import formulas
from lab.scans.operations import plain_name
from lab.scans.slices import index_parts


def outer_expression(variable: Variable, n: Variable | None = None) -> str:
    """Write the expression of `variable`, such as ``u[0:-4][:n]``; `n` becomes the text n."""
    node = variable.owner
    if n is not None and variable is n:
        return "n"
    if node is None:
        return str(variable.data) if isinstance(variable, Constant) else str(variable.name)
    if plain_name(node) == "Subtensor":
        base, _, indices = index_parts(node)
        inside = ", ".join(index_text(index, n) for index in indices)
        return f"{outer_expression(base, n)}[{inside}]"
    if plain_name(node) in ("ScalarFromTensor", "TensorFromScalar"):
        return outer_expression(node.inputs[0], n)
    return render(formulas([variable], {})[0], lambda leaf: leaf.variable)


def index_text(index: Variable | slice, n: Variable | None = None) -> str:
    """Write an index of a Subtensor: a number, or a slice such as ``1:-2``."""
    if not isinstance(index, slice):
        return outer_expression(index, n)
    ends = [index.start, index.stop, *([] if index.step is None else [index.step])]
    return ":".join("" if end is None else outer_expression(end, n) for end in ends)
