"""Reusing results of the forward loop that a derivative would compute again.

The derivative of ``y = tanh(x)`` is ``1 - tanh(x)**2``.  The loop has kept y, so that the
backward loop may read it.  PyTensor's rules often build ``tanh(x)`` anew instead of using
the variable y; this finds such copies by their structure.  What is computed in another
way (``exp(x + 0)`` for ``exp(x)``) is not found and will be computed again.
"""

from collections.abc import Mapping, Sequence

from pytensor.graph.basic import Constant, Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import toposort


def reuse(
    expressions: Sequence[Variable], replacements: Mapping[Variable, Variable]
) -> tuple[list[Variable], set[Variable]]:
    """`expressions` with every copy of a key of `replacements` replaced by its value.

    Returns the new expressions and the keys that were found in them.
    """
    expressions, kept = list(expressions), list(replacements)
    if not expressions or not kept:
        return expressions, set()
    numbers: dict[Variable, int] = {}
    seen: dict[object, int] = {}

    def number(key: object) -> int:
        return seen.setdefault(key, len(seen))

    def number_of(variable: Variable) -> int:
        if variable not in numbers:
            constant = isinstance(variable, Constant)
            numbers[variable] = number(variable.signature() if constant else variable)
        return numbers[variable]

    def learn(roots: Sequence[Variable]) -> list[Variable]:
        """Number every variable below `roots`: the same number for the same computation."""
        found = []
        for node in toposort(roots):
            inputs = tuple(number_of(v) for v in node.inputs)
            for index, output in enumerate(node.outputs):
                numbers[output] = number((node.op, inputs, index))
                found.append(output)
        return found

    learn(kept)
    targets = {number_of(result): result for result in reversed(kept)}
    hits = {v: targets[numbers[v]] for v in learn(expressions) if numbers[v] in targets}
    if not hits:
        return expressions, set()
    replaced = clone_replace(expressions, replace={v: replacements[r] for v, r in hits.items()})
    return replaced, set(hits.values())
