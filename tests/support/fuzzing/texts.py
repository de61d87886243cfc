"""Random texts of steps, each with values for some of its possible names."""

from functools import partial

import lab
from lab.loops.text.grammar import FUNCTIONS

TOKENS = (
    *("x", "y", "u", "w", "t", "x1", "x2", "u2", "x[t-1]", "u[t+1]", "x[t]", "y[t]", "pi", "nan"),
    *("0", "1", "2", "0.5", "1e300", "1e-400", "99999999999999", "0x10", "1_0", "1j", "'a'"),
    *("+", "-", "*", "/", "**", "@", "<", "==", "!=", "^", "%", "//", "and ", "or ", "not ", "if "),
    *("(", ")", "[", "]", "{", "}", ",", ";", "\n", "=", ":=", ":", ".", "#", "\\", "\0", "\t"),
    *("until(", "lambda ", "yield ", "__import__(", "x.y", "*x", "**x", "for ", "in ", "None"),
    *(f"{name}(" for name in FUNCTIONS),
)
# Characters that look like others, invisible characters, and half of a surrogate pair.
ALIKE = "µμſsKKｘxﬁ²₁·−×–“”＋（）٣۳߀​‍‮\ufeff\u00a0\u2028\ud800𝑥é́"
VALID = (
    *("x**2", "x = w*x + u", "x = sin(x1)*u + w*x2", "x = 2*x; z = x[t] + 1", "x[t] = x[t-1]**2"),
    *("x = x + u[t+1]*u[t-1]\nuntil(x > 2)", "where(x > u and not u < 0, x, w)", "min(x, u, w)"),
    *("tanh(w*x) - exp(-u)/(1 + x**2)", "x = w*x - 0.5*x**3"),
)


def mutation(chance):
    text = list(chance.choice(VALID))
    for _ in range(chance.randint(0, 3)):
        position = chance.randrange(len(text) + 1)
        text[position : position + chance.randint(0, 1)] = chance.choice(
            ["", chance.choice(TOKENS), chance.choice(VALID), chr(chance.randrange(0x3000))]
        )
    return "".join(text)


def disguise(chance):
    text = list(chance.choice(VALID))
    for _ in range(chance.randint(1, 3)):
        text[chance.randrange(len(text))] = chance.choice(ALIKE)
    return "".join(text)


def run(text, chance):
    """Build a loop from a text with values for some of its possible names, and run it."""
    states = {"x": chance.choice([1.0, 0.0, [0.1, 0.2], [0.1, 0.2, 0.3], float("nan")])}
    if chance.random() < 0.3:
        states[chance.choice(["y", "µ", "x₁"])] = 0.5
    sequences = {"u": [0.1, 0.2, 0.3, 0.4]} if chance.random() < 0.8 else {}
    parameters = {"w": chance.choice([0.5, [1.0, 2.0]])} if chance.random() < 0.8 else {}
    steps = {} if sequences and chance.random() < 0.5 else {"n_steps": 2}
    lab.Loop.from_text(text, states, sequences, parameters, **steps).trace(order=0)


def calls(chance):
    while True:
        text = chance.choice((mutation, disguise))(chance)
        yield partial(run, text, chance), text
