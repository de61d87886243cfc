"""Random arguments and texts work, or raise errors of one sentence; valid calls work."""

import ast
from functools import partial

import pytest
from fuzzing import arguments, texts
from fuzzing.outcomes import SEEDS, check_sentence, count_outcomes

import lab
import visual
from lab.errors import quote
from lab.loops.text.source import Source

VERIFY = arguments.DERIVATIVE.verify  # to save time, the listed call has a wrong mode
FUZZERS = {  # random calls, their number, and the least number of results and of errors
    "arguments": (arguments.calls, 250, 11),
    "texts": (texts.calls, 300, 11),
}
WORKING = {
    f"{f.__module__}.{f.__qualname__}": partial(f, **given)
    for f, given in arguments.CALLS.items()
    if f != VERIFY
}


pytestmark = pytest.mark.usefixtures("folder")  # calls write files


@pytest.mark.parametrize("package", [lab, visual], ids=lambda package: package.__name__)
def test_the_fuzzer_calls_every_public_name(package):
    names = {function.__qualname__.split(".")[0] for function in arguments.CALLS} | {"Trace"}
    assert set(package.__all__) - arguments.NOT_CALLED <= names


@pytest.mark.parametrize("call", WORKING.values(), ids=list(WORKING))
def test_a_correct_call_works(call):
    call()


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore")  # warnings about nan, huge numbers, and many Scans
@pytest.mark.parametrize("name", FUZZERS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_call_works_or_raises_one_sentence(name, seed):
    calls, times, minimum = FUZZERS[name]
    counts = count_outcomes(calls, seed, times)
    assert min(counts.values()) >= minimum, counts


@pytest.mark.parametrize("odd", arguments.ODD, ids=range(len(arguments.ODD)))
def test_an_odd_object_can_be_quoted(odd):
    text = quote(odd)
    check_sentence(f"it is {text}")
    assert len(text) <= 80


def unnamed(steps):
    raise lab.LabError("That cannot be.")


FAULTS = [  # a fuzzer, a faulty function in a module, and the error that the fuzzer detects
    ("arguments", arguments, "CALLS", {unnamed: {"steps": 3}}, "UnnamedError of"),
    ("texts", Source, "parse", lambda source: ast.parse(source.text).body, "SyntaxError of"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "owner", "attribute", "fault", "error"), FAULTS)
def test_a_fault_is_detected(monkeypatch, name, owner, attribute, fault, error):
    monkeypatch.setattr(owner, attribute, fault)
    with pytest.raises(AssertionError, match=error):
        count_outcomes(FUZZERS[name][0], 0, FUZZERS[name][1])
