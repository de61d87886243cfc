"""Random arguments, texts, and command lines work, or raise errors of one sentence."""

import ast
from functools import partial

import pytest
from fuzzing import arguments, commands, texts
from fuzzing.outcomes import SEEDS, check_sentence, tried

import lab
import visual.cli.draw
from lab.errors import quote
from lab.loops.text.source import Source

VERIFY = arguments.DERIVATIVE.verify  # to save time, the listed call has a wrong mode
FUZZERS = {  # random calls, their number, and the least numbers of results and of errors
    "arguments": (arguments.calls, 250, 11),
    "texts": (texts.calls, 300, 11),
    "commands": (commands.calls, 150, 4),
}
WORKING = {
    **{
        f"{f.__module__}.{f.__qualname__}": partial(f, **given)
        for f, given in arguments.CALLS.items()
        if f != VERIFY
    },
    **{name: partial(commands.run, [name, *words]) for name, words in commands.WORKS.items()},
}


@pytest.fixture(autouse=True)
def _in_a_folder_without_other_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / commands.SCORES).write_text('{"answers": {}}')


@pytest.mark.parametrize("package", [lab, visual], ids=lambda package: package.__name__)
def test_everything_public_is_tried(package):
    names = {function.__qualname__.split(".")[0] for function in arguments.CALLS} | {"Trace"}
    assert set(package.__all__) - arguments.NOT_CALLED <= names
    assert commands.WORKS.keys() == commands.COMMANDS.keys()


@pytest.mark.parametrize("call", WORKING.values(), ids=list(WORKING))
def test_a_correct_call_works(call):
    call()


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore")  # warnings about nan, huge numbers, and many Scans
@pytest.mark.parametrize("name", FUZZERS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_call_works_or_is_refused(name, seed):
    calls, times, least = FUZZERS[name]
    found = tried(calls, seed, times)
    assert min(found.values()) >= least, found


@pytest.mark.parametrize("odd", arguments.ODD, ids=range(len(arguments.ODD)))
def test_an_odd_object_can_be_quoted(odd):
    told = quote(odd)
    check_sentence(f"it is {told}")
    assert len(told) <= 80


def unnamed(steps):
    raise lab.LabError("That cannot be.")


def ends(*_):
    raise SystemExit(1)


FAULTS = [  # a fuzzer, a faulty function in a module, and the error that the fuzzer detects
    ("arguments", arguments, "CALLS", {unnamed: {"steps": 3}}, "UnnamedError of"),
    ("texts", Source, "parse", lambda source: ast.parse(source.text).body, "SyntaxError of"),
    ("commands", visual.cli.draw, "_picture", ends, "AssertionError of"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "owner", "attribute", "fault", "error"), FAULTS)
def test_a_fault_is_detected(monkeypatch, name, owner, attribute, fault, error):
    monkeypatch.setattr(owner, attribute, fault)
    with pytest.raises(AssertionError, match=error):
        tried(FUZZERS[name][0], 0, FUZZERS[name][1])
