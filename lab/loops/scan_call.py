"""Convert a declared loop to the arguments of ``pytensor.scan``, which builds PyTensor's Scan.

    >>> call = scan_call(gallery.loops["window"])
    >>> call.results(), call.arguments["sequences"]

`Loop.build` builds the Scan without ``pytensor.scan``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pytensor
from pytensor.graph.basic import Variable
from pytensor.scan.utils import until

from lab.loops.build import make_inputs
from lab.loops.declaration import Declaration, names_of_results
from lab.loops.variables import Parameter, call_step, results_of


@dataclass(frozen=True, eq=False)
class ScanCall:
    """The arguments of ``pytensor.scan`` for a loop.

    `inputs` are the symbolic variables by name, `given` their values, and `names` the results of
    the step in order.
    """

    arguments: Mapping[str, Any]
    inputs: Mapping[str, Variable]
    given: Mapping[Variable, object]
    names: tuple[str, ...]

    def results(self) -> dict[str, Variable]:
        """Return the results of ``pytensor.scan`` by name."""
        return dict(zip(self.names, pytensor.scan(**self.arguments), strict=True))


def scan_call(loop: Declaration) -> ScanCall:
    """Return the arguments of ``pytensor.scan`` for `loop`."""
    inputs, given = make_inputs(loop, has_lengths=False)
    steps = loop.n_steps
    arguments = {
        "fn": _positional_step(loop),
        "sequences": [{"input": inputs[s.name], "taps": list(s.taps)} for s in loop.sequences],
        "outputs_info": [
            *({"initial": inputs[s.name], "taps": list(s.taps)} for s in loop.states),
            *[None] * len(loop.outputs),
            *(inputs[random.name] for random in loop.random),
        ],
        "non_sequences": [inputs[parameter.name] for parameter in loop.parameters],
        "n_steps": inputs[steps.name] if isinstance(steps, Parameter) else steps,
        "truncate_gradient": loop.truncate_gradient,
        "name": loop.name,
        "return_list": True,
        "return_updates": False,
    }
    return ScanCall(arguments, inputs, given, names=names_of_results(loop))


def _positional_step(loop: Declaration) -> Callable[..., object]:
    """Return a function that calls the step with the positional arguments of ``pytensor.scan``."""
    counts = {sequence.name: len(sequence.taps) for sequence in loop.sequences}
    counts |= {state.name: len(state.taps) for state in loop.states}
    counts |= dict.fromkeys((v.name for v in (*loop.random, *loop.parameters)), 1)

    def step(*values: Variable) -> object:
        rest = iter(values)
        read = {name: [*islice(rest, n)] for name, n in counts.items()}
        results, condition = results_of(call_step(loop.step, read))
        return results if condition is None else (results, until(condition))

    return step
