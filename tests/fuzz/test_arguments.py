"""Pass odd objects to all public functions; each call succeeds or raises a clear error."""

import inspect

import pytest
from fuzzing.arguments import CALLS, NOT_CALLED, ODD, UnnamedError, odd_call
from fuzzing.outcomes import SEEDS, check_sentence, tried

import lab
import visual
from lab.errors import quote


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("package", [lab, visual], ids=lambda package: package.__name__)
def test_everything_public_is_tried(package):
    names = {function.__qualname__.split(".")[0] for function in CALLS} | {"Trace"}
    assert set(package.__all__) - NOT_CALLED <= names


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__qualname__)
def test_what_stands_in_the_table_works(function):
    if CALLS[function].get("mode") != "NOT_A_MODE":
        function(**CALLS[function])


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore")  # warnings about nan, huge numbers, and many Scans
@pytest.mark.parametrize("seed", SEEDS)
def test_an_odd_argument_is_used_or_refused_by_its_name(seed):
    found = tried([odd_call], seed, 250)
    assert min(found.values()) > 10, found


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_whatever_it_is_can_be_quoted(odd):
    told = quote(odd)
    check_sentence(f"it is {told}")
    assert len(told) <= 80


def careless(steps, scale=1.0):
    return range(steps)[0] * scale


def refusing(steps):
    raise lab.LabError("That cannot be.")


def talkative(steps):
    raise lab.LabError("steps: expected\na number.")


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (careless, "TypeError|IndexError"),
        (refusing, UnnamedError.__name__),
        (talkative, "AssertionError"),
    ],
)
def test_a_function_that_checks_nothing_or_tells_badly_is_caught(function, found):
    assert inspect.signature(function).parameters
    with pytest.raises(AssertionError, match=f"({found}) of"):
        tried([lambda chance: odd_call(chance, {function: {"steps": 3}})], 0, 100)
