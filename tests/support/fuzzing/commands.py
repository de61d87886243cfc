"""Random command lines: valid lines with a few words replaced, removed, or added."""

import argparse
import io
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from importlib import import_module

import lab
from visual.cli.main import COMMANDS, main

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
SLOW = ("explain", "why", "page", "compare", "compiled", "export")  # tenths of a second
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


def run(words):
    """Run a command line, and raise its message unless its status is 0."""
    err = io.StringIO()
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(err):
            status = main(words)
    except SystemExit as stop:  # argparse exits, also for --help
        status = stop.code
    assert status in (0, 1, 2), status
    if status:
        lines = err.getvalue().splitlines()
        assert lines
        assert all(line.startswith("scantape: ") for line in lines), lines
        raise lab.LabError(lines[-1])


def calls(chance):
    while True:
        words = line(chance)
        yield partial(run, words), words
