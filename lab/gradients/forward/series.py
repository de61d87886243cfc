"""Propagate power series forward through a graph: values, and their Taylor coefficients.

The jet of a variable is ``x + x₁ε + x₂ε² + …``; its tangent is x₁.  The coefficients of a tape are
tapes with the same taps, filled in the same direction; only cotangents need `Tape.reverse`.
Therefore the forward derivative of a Scan is the Scan with a twin variable for every coefficient of
every variable that has a jet.  None means a coefficient of zero.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import toposort

from lab.gradients.status import cast_like, is_continuous
from lab.scans.buffers import as_tensor, fills_new_buffer
from lab.scans.node import LoopVariable, ScanParts, build_scan, is_scan, outer_outputs, read_node
from lab.tape import Kind

Coefficients = tuple[Variable | None, ...]  # the factors of ε, ε², …; None is zero
Rule = Callable[[Apply, Sequence[Coefficients]], Iterable[Coefficients]]


@dataclass(frozen=True, eq=False)
class Jet:
    """The value of a variable, and the coefficients of the powers of ε."""

    value: Variable
    coefficients: Coefficients


@dataclass(frozen=True)
class JetPropagation:
    """The propagation of `count` coefficients through a graph and its Scans.

    `rule` computes the coefficients of the results of an operation from the coefficients of its
    inputs.  `prefix` begins the names of the new Scans, and `twin` returns the name of a
    coefficient of a loop variable.  If `renewed` is true, later operations read values, too,
    from the new Scans; otherwise, they read the values from the original Scans.
    """

    rule: Rule
    count: int = 1
    prefix: str = "tangent_of_"
    twin: Callable[[str, int], str] = lambda name, number: f"d{name}"
    renewed: bool = False

    def propagate(
        self, outputs: Sequence[Variable], given: Mapping[Variable, Jet]
    ) -> dict[Variable, Jet]:
        """Return the jets of all variables on which `outputs` depend and that depend on `given`."""
        jets = dict(given)
        for node in toposort(outputs, blockers=set(given)):
            if not any(v in jets for v in node.inputs):
                continue
            through = self._through_scan if is_scan(node) else self._through_operation
            for output, result in zip(node.outputs, through(node, jets), strict=True):
                is_constant = all(each is None for each in result.coefficients)
                if output not in jets and not (is_constant and result.value is output):
                    jets[output] = result
        return jets

    def _through_operation(self, node: Apply, jets: Mapping[Variable, Jet]) -> Iterable[Jet]:
        """Yield the jets of the results of an operation."""
        zeros: Coefficients = (None,) * self.count
        inputs = [jets.get(v, Jet(v, zeros)) for v in node.inputs]
        values = [jet.value for jet in inputs]
        new = node if values == node.inputs else node.clone_with_new_inputs(values)
        series: Iterable[Coefficients] = [zeros] * len(new.outputs)
        if any(map(is_continuous, node.outputs)):
            series = self.rule(new, [jet.coefficients for jet in inputs])
        for output, coefficients in zip(new.outputs, series, strict=True):
            yield Jet(output, tuple(_of_type(output, each) for each in coefficients))

    def _through_scan(self, node: Apply, jets: Mapping[Variable, Jet]) -> Iterable[Jet]:
        """Build a Scan with a twin variable per coefficient, and yield the jets of its outputs."""
        parts = read_node(node)
        inner = self._through_step(parts, jets)
        twins: dict[tuple[LoopVariable, int], LoopVariable] = {}
        for part in parts.variables:
            values = part.inner_outputs if part.kind is Kind.NIT_SOT else part.inner_inputs
            outer = jets.get(part.outer_input)
            for number in sorted(_numbers(inner, values)):
                start = outer.coefficients[number - 1] if outer is not None else None
                twins[part, number] = replace(
                    part,
                    name=self.twin(part.name, number),
                    outer_input=self._start(part, _value(jets, part.outer_input), start),
                    inner_inputs=tuple(coefficient(inner, v, number) for v in part.inner_inputs),
                    inner_outputs=tuple(coefficient(inner, v, number) for v in part.inner_outputs),
                    outer_output=None,
                )
        whole = parts.with_results([_value(inner, v) for v in parts.inner_outputs])
        kept = {
            part: replace(new, outer_input=_value(jets, part.outer_input))
            for part, new in zip(parts.variables, whole.variables, strict=True)
        }
        scan = replace(
            whole,
            name=self.prefix + parts.name,
            n_steps=as_tensor(_value(jets, parts.n_steps)),
            variables=(*kept.values(), *twins.values()),
        )
        filled = outer_outputs(scan, build_scan(scan))
        by_output = {part.outer_output: part for part in parts.variables}
        for output in node.outputs:
            part = by_output[output]
            coefficients = [twins.get((part, k)) for k in range(1, self.count + 1)]
            yield Jet(
                filled[kept[part]] if self.renewed else output,
                tuple(None if twin is None else filled[twin] for twin in coefficients),
            )

    def _through_step(self, parts: ScanParts, jets: Mapping[Variable, Jet]) -> dict[Variable, Jet]:
        """Return the jets of the arguments and results of a step.

        The next step reads each result as a state with the same coefficients.  Therefore the
        propagation repeats until no state gains a coefficient.
        """
        numbers = {part: _numbers(jets, [part.outer_input]) for part in parts.variables}
        while True:
            arguments: dict[Variable, Jet] = {}
            for part, known in numbers.items():
                for v in part.inner_inputs if known else ():
                    twins = {k: v.type(name=self.twin(str(v.name), k)) for k in known}
                    arguments[v] = Jet(v, tuple(map(twins.get, range(1, self.count + 1))))
            inner = self.propagate(parts.inner_outputs, arguments)
            results = {s: _numbers(inner, s.inner_outputs) for s in parts.states}
            if all(results[s] <= numbers[s] for s in results):
                return inner
            numbers |= {s: numbers[s] | found for s, found in results.items()}

    def _start(self, part: LoopVariable, like: Variable, start: Variable | None) -> Variable:
        """Return the outer input of a twin: `start`, or else zeros; for a nit-sot, `like`."""
        if part.kind is Kind.NIT_SOT:
            return like  # the number of rows
        if start is not None:
            return like.type.filter_variable(start)
        node = like.owner
        if fills_new_buffer(node):
            initial = pt.zeros_like(node.inputs[1])  # the rest stays uninitialized
            inputs = [node.inputs[0], initial, *node.inputs[2:]]
            return node.clone_with_new_inputs(inputs).outputs[0]
        return pt.zeros_like(like)


def _numbers(jets: Mapping[Variable, Jet], variables: Iterable[Variable]) -> set[int]:
    """Return the numbers of the coefficients that are not None in at least one variable."""
    series = [jets[v].coefficients for v in variables if v in jets]
    return {k for each in series for k, one in enumerate(each, start=1) if one is not None}


def _value(jets: Mapping[Variable, Jet], variable: Variable) -> Variable:
    return jets[variable].value if variable in jets else variable


def coefficient(jets: Mapping[Variable, Jet], variable: Variable, number: int) -> Variable:
    """Return coefficient `number` of a variable; zeros for a coefficient of None."""
    jet = jets.get(variable, Jet(variable, (None,) * number))
    value = jet.coefficients[number - 1]
    return pt.zeros_like(jet.value) if value is None else value


def _of_type(output: Variable, coefficient: Variable | None) -> Variable | None:
    if coefficient is None or not is_continuous(output):
        return None
    return output.type.filter_variable(cast_like(coefficient, output))
