"""A retired name, command, option, or format raises an error that names its replacement."""

import pytest

import visual
from lab.errors import ArgumentError
from lab.loops import gallery
from visual.cli.main import COMMANDS, main
from visual.drawing.catalogue import OPTIONS, PAPER, PICTURES
from visual.options import DERIVATIVE
from visual.retired import (
    PICTURE_OPTIONS,
    RETIRED_COMMANDS,
    RETIRED_FORMATS,
    RETIRED_NAMES,
    RETIRED_OPTIONS,
)
from visual.scene.formats import SUFFIXES

SQUARE = gallery.loops["square"]
LIVING = {
    "names": {*visual.__all__, *PICTURES},
    "commands": {*COMMANDS},
    "options": {choice.name for choice in (*OPTIONS, *PAPER, *DERIVATIVE.values())},
    "formats": {*SUFFIXES},
}
RETIRED = {
    "names": RETIRED_NAMES,
    "commands": RETIRED_COMMANDS,
    "options": RETIRED_OPTIONS,
    "formats": RETIRED_FORMATS,
}
DRAW = ["draw", "tapes", "--loop", "square", "-o", "-"]


def check_message(message, name, instead):
    assert f"{name} was removed in version 0.3: use {instead}." in message


@pytest.mark.parametrize("table", RETIRED)
def test_nothing_is_both_retired_and_alive(table):
    assert LIVING[table] & {*RETIRED[table]} == set()
    for name, instead in RETIRED[table].items():
        assert instead, name
        assert not instead.endswith("."), name


@pytest.mark.parametrize("name", RETIRED_NAMES)
def test_a_retired_name(name):
    with pytest.raises(AttributeError) as error:
        getattr(visual, name)
    check_message(str(error.value), f"visual.{name}", RETIRED_NAMES[name])
    with pytest.raises(ArgumentError) as error:
        visual.draw(SQUARE, name)
    check_message(str(error.value), f"picture {name}", RETIRED_NAMES[name])


@pytest.mark.parametrize("name", RETIRED_COMMANDS)
def test_a_retired_command(name, capsys):
    assert main([name, "--loop", "square"]) == 2
    check_message(capsys.readouterr().err, f"scantape {name}", RETIRED_COMMANDS[name])


@pytest.mark.parametrize("name", RETIRED_OPTIONS)
def test_a_retired_option(name, capsys):
    with pytest.raises(ArgumentError) as error:
        visual.draw(SQUARE, **{name: 1})
    check_message(str(error.value), f"option {name}", RETIRED_OPTIONS[name])
    typed = f"--{name.replace('_', '-')}"
    for option in ([typed], [typed, "1"], [f"{typed}=1"]):
        assert main([*DRAW, *option]) == 2
        check_message(capsys.readouterr().err, typed, RETIRED_OPTIONS[name])


def test_no_picture_function_has_a_theme():
    """Every exported function that returns a scene of a subject refuses `theme`."""
    subject = SQUARE.trace()
    functions = [getattr(visual, name) for name in PICTURES if hasattr(visual, name)]
    functions += [visual.eager, visual.two_tapes, visual.routing, visual.transposed]
    functions = [draw for draw in [*functions, visual.dot_product] if draw is not visual.machine]
    assert len(functions) >= 14
    for draw in functions:
        with pytest.raises(ArgumentError) as error:
            draw(subject, theme="dark")
        check_message(str(error.value), "theme", PICTURE_OPTIONS["theme"])


@pytest.mark.parametrize("name", RETIRED_FORMATS)
def test_a_retired_format(name, tmp_path):
    for save in (
        lambda: visual.draw(SQUARE).save(tmp_path / f"tape{name}"),
        lambda: visual.export(SQUARE, tmp_path / "all", [name.removeprefix(".")]),
    ):
        with pytest.raises(ArgumentError) as error:
            save()
        check_message(str(error.value), f"format {name}", RETIRED_FORMATS[name])


def test_an_unknown_name_is_not_called_retired(capsys):
    with pytest.raises(AttributeError, match="nonsense") as error:
        visual.nonsense  # noqa: B018
    assert "removed" not in str(error.value)
    assert main(["nonsense"]) == 2
    with pytest.raises(SystemExit):
        main([*DRAW, "--nonsense"])
    assert "removed" not in capsys.readouterr().err


def test_a_living_option_of_the_same_name_works(monkeypatch, capsys):
    monkeypatch.setattr("visual.cli.main.RETIRED_OPTIONS", {"order": "nothing"})
    assert main([*DRAW, "--order", "1"]) == 0
    monkeypatch.setattr("visual.cli.main.RETIRED_OPTIONS", {"orders": "--order"})
    assert main([*DRAW, "--orders", "1"]) == 2
    check_message(capsys.readouterr().err, "--orders", "--order")
