"""Every option is declared once; controls and parsers add no information to the declaration."""

import argparse
import json
from importlib import import_module

import pytest

import visual
from lab.loops import gallery
from visual.cli.main import COMMANDS
from visual.drawing.catalogue import OPTIONS, PAPER, PICTURES
from visual.options import DERIVATIVE, RULE, SCALE, THEME
from visual.player.grid import CHOICES as OF_A_PAGE
from visual.workbench.state import CHOICES as OF_A_WORKBENCH
from visual.workbench.state import view_options
from visual.workbench.workbench import Workbench

DRAWN = [*DERIVATIVE.values(), *OPTIONS, *PAPER, SCALE, THEME]
DECLARED = {choice.name: choice for choice in (*DRAWN, RULE, *OF_A_PAGE)}
# Arguments that are not options of a picture: the subject, and the output.
OF_A_COMMAND = {
    *("help", "loop", "loops", "figure", "picture", "graph"),
    *("out", "animate", "formats", "title", "mode", "details", "value"),
    *("folder", "no_open", "lesson", "files"),
}
# A page has tap patterns by loop; `compiled` has PyTensor's mode, not a derivative's.
OTHERWISE = {"TAPS/…", "MODE"}
# The subject of a workbench, and the weights of the cost.
OF_A_BENCH = {"loop", "written", "weights"}


def undeclared_words(parser):
    """Yield the options of a parser without a declaration, or with a different declaration."""
    for action in parser._actions:
        declared = DECLARED.get(action.dest)
        if declared is None or action.metavar in OTHERWISE:
            if action.dest not in OF_A_COMMAND | {"taps"}:
                yield action.dest
            continue
        expected = argparse.ArgumentParser().add_argument(declared.option, **declared.argument)
        for attribute in ("option_strings", "type", "default", "metavar", "nargs", "const"):
            if getattr(action, attribute) != getattr(expected, attribute):
                yield f"{action.dest}: {attribute}"


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_line_offers_the_declared_options(command):
    commands = argparse.ArgumentParser().add_subparsers()
    import_module(f"visual.cli.{COMMANDS[command]}").add_commands(commands)
    parser = commands.choices[command]
    assert list(undeclared_words(parser)) == []
    if command == "draw":
        assert {choice.name for choice in DRAWN} <= {action.dest for action in parser._actions}
    elif command == "explain":  # the checker detects other options
        parser.add_argument("--colour")
        parser.add_argument("--order", type=float, default=2, metavar="N")
        assert list(undeclared_words(parser)) == ["colour", "order: type", "order: default"]


def undeclared_controls(form):
    """Yield the controls of a workbench without a declaration, or with a different declaration."""
    options = {choice.name: choice for choice in OPTIONS}
    for control in form["controls"]:
        name, *rest = control["key"]
        choice = options.get(rest[0]) if name == "options" else OF_A_WORKBENCH.get(name)
        if choice is None:
            if name not in OF_A_BENCH:
                yield name
        elif name not in ("taps", "at"):  # controls for each variable
            expected = choice.control(None)
            for attribute in ("kind", "label", "min", "max"):
                if control.get(attribute) != expected.get(attribute):
                    yield f"{choice.name}: {attribute}"


@pytest.mark.parametrize("view", PICTURES)
def test_the_workbench_offers_the_declared_options(view):
    form = Workbench(gallery.loops["coupled"], view=view, cost=[1, 0, 2]).form
    assert list(undeclared_controls(form)) == []
    shown = [c["key"][1] for c in form["controls"] if c["key"][0] == "options"]
    assert shown == [option.name for option in view_options(view) if option.label]
    if view == "tapes":  # the checker detects other controls
        form = json.loads(json.dumps(form))
        changes = {"steps": {"max": 9}, "all": {"label": "everything"}}
        for control in form["controls"]:
            control |= changes.get(control["key"][-1], {})
        form["controls"] += [{"key": ["colour"]}, {"key": ["options", "frame"]}]
        wrong = ["steps: max", "all: label", "colour", "options"]
        assert list(undeclared_controls(form)) == wrong


def test_a_page_offers_the_declared_choices():
    data = json.loads(visual.Page("square", orders=1, costs="sum").data)
    declared = {choice.name.removesuffix("s") for choice in OF_A_PAGE}
    assert {*data["fields"]} == {"loop", "taps", *declared}
    assert set(data) == {"fields", "runs", "omitted", "loop", *declared}
    assert declared <= set(OF_A_WORKBENCH)
