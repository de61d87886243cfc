"""Random command lines print output with status 0, or one sentence with another status."""

import argparse
import io
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from random import Random

import pytest
from fuzzing.outcomes import SEEDS, check_sentence

import visual.cli.draw
from visual.cli.main import COMMANDS, main

ROOT = Path(__file__).parents[2]
SCORES = "kept.json"
# A valid line for each command. Random lines contain no commands of a course, because these open
# JupyterLab or run a lesson.
WORKS = {
    "loops": [],
    "draw": ["tapes", "--loop", "square", "--out", "tape.svg"],
    "explain": ["square"],
    "why": ["square", "--value", "=0.95"],
    "page": ["--loops", "square", "--orders=1", "--costs=last", "-o", "a.html"],
    "compare": ["square"],
    "compiled": ["square", "--mode", "FAST_COMPILE"],
    "export": ["--loop", "square", "--out", "set"],
    "lessons": ["--no-open", "course"],
    "score": [SCORES],
}  # fmt: skip
SLOW = (
    "explain",
    "why",
    "page",
    "compare",
    "compiled",
    "export",
)  # each takes some tenths of a second
VALUES = (
    *("square", "fibonacci", "squre", "x", "y", "tapes", "tape", "taps", "values", "stepgraph"),
    *("0", "1", "2", "-1", "-2,-1", "x:-2,-1", "u:0,1", "1e3", "0.05", "nan", "99", "20000000000"),
    *("1000000000000", "x=0.5", "x=[1,2]", "x=", "=3", "x=null", 'x="a"', "x=NaN", "[" * 2000),
    *("last", "sum", "0,0,1,0.5", "0,0,0,1", "dark", "print", "pink", "-", "a.svg", "a.png"),
    *("a.pdf", "a.txt", "a.html", "a.dot", "a.doc", "no/a.svg", ".", "", " ", "\ud800", "a\nb"),
    *("x" * 3000, "math:pi", "math:sqrt", "math:", ":", "sys:exit", "no_module:loop", "svg,txt"),
    *("never-accumulate", "shortened-buffer", "CVM", "NOPE", "--help", "--", "-h", "--loop"),
)  # fmt: skip


def options_of(command):
    """Return the options of a command by name."""
    commands = argparse.ArgumentParser().add_subparsers()
    import_module(f"visual.cli.{COMMANDS[command]}").add_commands(commands)
    parser = commands.choices[command]
    return [name for action in parser._actions for name in action.option_strings]


def line(chance):
    """Return a valid command line with a few words replaced, removed, or added."""
    command = chance.choice(SLOW if chance.random() < 0.15 else ("draw", "draw", "draw", "loops"))
    words = list(WORKS[command])
    for _ in range(chance.randint(0, 3)):
        place = chance.randrange(len(words) + 1)
        way = chance.choice(("option", "option", "value", "gone"))
        if way == "option":
            words[place:place] = [chance.choice(options_of(command)), chance.choice(VALUES)]
        elif way == "value" and place < len(words) and not words[place].startswith("-"):
            words[place] = chance.choice(VALUES)
        elif command != "page":  # a page shows many loops by default
            del words[place : place + 1]
    if command == "page" and "--loops" not in words[:1]:
        words[:0] = ["--loops", "square"]
    return [chance.choice(VALUES) if chance.random() < 0.03 else command, *words]


def status(words):
    """Return the exit status of a command line; raise AssertionError if it fails silently."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            ended = main(words)
    except SystemExit as stop:  # argparse exits, also for --help
        ended = stop.code
    except Exception as error:
        raise AssertionError(f"{type(error).__name__} of {words!a:.300}") from error
    told = err.getvalue().splitlines()
    assert ended in (0, 1, 2), words
    if ended:
        assert told, words
        check_sentence(told[-1])
        assert all(one.startswith("scantape: ") for one in told), told
    return ended


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / SCORES).write_text('{"answers": {}}')


@pytest.mark.parametrize("command", COMMANDS)
def test_what_stands_in_the_table_works(command):
    assert status([command, *WORKS[command]]) == 0


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore")  # NumPy warns about nan
@pytest.mark.parametrize("seed", SEEDS)
def test_a_command_line_works_or_is_refused(seed):
    chance = Random(seed)
    found = [status(line(chance)) for _ in range(150)]
    assert 3 < found.count(0) < 147, found


@pytest.mark.parametrize(
    ("mistake", "message"),
    [(ValueError("no"), "ValueError"), (KeyError("x"), "KeyError"), (SystemExit(1), ".*")],
)
def test_a_command_that_fails_is_caught(monkeypatch, mistake, message):
    def fail(*_):
        raise mistake

    monkeypatch.setattr(visual.cli.draw, "_picture", fail)
    with pytest.raises(AssertionError, match=message):
        status(["draw", *WORKS["draw"]])
