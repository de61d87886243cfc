"""Random loops for hypothesis: taps, states, sequences, parameters, outputs, until, vectors."""

import numpy as np
import pytensor.tensor as pt
from hypothesis import strategies as st

import lab

NAMES = "abc"
STATE_TAPS = st.lists(st.sampled_from([-3, -2, -1]), min_size=1, max_size=3, unique=True)
SEQUENCE_TAPS = st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=1, max_size=2, unique=True)


@st.composite
def loops(draw):
    """Return a loop whose step is smooth, bounded, and nonlinear in all values that it reads."""
    steps = draw(st.integers(1, 4))
    shape = draw(st.sampled_from([(), (), (2,)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    states = []
    for name in NAMES[: draw(st.integers(1, 2))]:
        taps = tuple(draw(STATE_TAPS))
        reach = -min(taps)
        rows = rng.uniform(-1, 1, size=(reach, *shape))
        states.append(lab.State(name, rows[0] if reach == 1 else rows, taps))
    sequences, parameters = [], []
    if draw(st.booleans()):
        values = rng.uniform(-1, 1, size=(steps + 3, *shape))
        sequences.append(lab.Sequence("u", values, tuple(draw(SEQUENCE_TAPS))))
    if draw(st.booleans()):
        parameters.append(lab.Parameter("w", rng.uniform(0.5, 1, size=shape)))
    outputs = ("out",) if draw(st.booleans()) else ()
    stop = draw(st.one_of(st.none(), st.integers(1, steps)))
    if stop is not None:  # the loop stops when the flag is 1
        flags = np.zeros(steps)
        flags[stop - 1 :] = 1.0
        sequences.append(lab.Sequence("flag", flags))
    is_shared = draw(st.booleans())
    coefficients = rng.uniform(0.3, 0.9, size=20)

    def step(**values):
        lists = [v if isinstance(v, list) else [v] for n, v in values.items() if n != "flag"]
        read = [value for values in lists for value in values]
        total = sum(c * v for c, v in zip(coefficients, read, strict=False))
        results = [pt.sin(total) + 0.2 * read[0] * read[-1]]
        while len(results) < len(states):
            results.append(results[0] if is_shared else pt.tanh(total * read[len(results)]))
        if outputs:
            results.append(pt.exp(-(total**2)))
        if "flag" in values:
            results.append(lab.until(values["flag"] > 0.5))
        return results

    return lab.Loop(
        step,
        states=tuple(states),
        sequences=tuple(sequences),
        parameters=tuple(parameters),
        outputs=outputs,
        n_steps=steps,
    )


@st.composite
def costs(draw, loop):
    """Return the name of a state or of the output, and its cost: last, sum, or weights."""
    of = draw(st.sampled_from([s.name for s in loop.states] + list(loop.outputs)))
    weight = st.sampled_from([0.0, 1.0, -0.5])
    weights = st.lists(weight, min_size=loop.steps, max_size=loop.steps)
    return of, draw(st.one_of(st.sampled_from(["last", "sum"]), weights))
