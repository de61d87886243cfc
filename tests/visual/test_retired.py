"""A retired name, command, option, or format raises an error that names its replacement."""

from functools import partial

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
TABLES = [  # the retired names, and the living ones
    (RETIRED_NAMES, {*visual.__all__, *PICTURES}),
    (RETIRED_COMMANDS, {*COMMANDS}),
    (RETIRED_OPTIONS, {choice.name for choice in (*OPTIONS, *PAPER, *DERIVATIVE.values())}),
    (RETIRED_FORMATS, {*SUFFIXES}),
]
DRAW = ["draw", "tapes", "--loop", "square", "-o", "-"]
# Functions of pictures, which have no theme of their own.
DRAWING = [getattr(visual, name) for name in {*PICTURES} - {"machine"} if hasattr(visual, name)]
DRAWING += [visual.eager, visual.two_tapes, visual.routing, visual.transposed, visual.dot_product]
CALLS = [  # the name in the message, its replacement, and a call
    *((f"visual.{n}", told, partial(getattr, visual, n)) for n, told in RETIRED_NAMES.items()),
    *((f"picture {n}", told, partial(visual.draw, SQUARE, n)) for n, told in RETIRED_NAMES.items()),
    *(
        (f"option {n}", told, partial(visual.draw, SQUARE, **{n: 1}))
        for n, told in RETIRED_OPTIONS.items()
    ),
    *(
        (f"format {n}", told, write)
        for n, told in RETIRED_FORMATS.items()
        for write in (
            partial(visual.draw(SQUARE).save, f"tape{n}"),
            partial(visual.export, SQUARE, "all", [n.removeprefix(".")]),
        )
    ),
    *(("theme", PICTURE_OPTIONS["theme"], partial(draw, SQUARE, theme="dark")) for draw in DRAWING),
]
LINES = [  # the name in the message, its replacement, and a command line
    *((f"scantape {n}", told, [n, "--loop", "square"]) for n, told in RETIRED_COMMANDS.items()),
    *(
        (option, told, [*DRAW, *words])
        for name, told in RETIRED_OPTIONS.items()
        for option in [f"--{name.replace('_', '-')}"]
        for words in ([option], [option, "1"], [f"{option}=1"])
    ),
]


@pytest.mark.parametrize(("retired", "living"), TABLES)
def test_nothing_is_both_retired_and_alive(retired, living):
    assert living & {*retired} == set()
    for name, instead in retired.items():
        assert instead, name
        assert not instead.endswith("."), name


@pytest.mark.parametrize(("name", "instead", "call"), CALLS)
def test_a_retired_name_in_python(name, instead, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((AttributeError, ArgumentError)) as error:
        call()
    assert f"{name} was removed in version 0.3: use {instead}." in str(error.value)


@pytest.mark.parametrize(("name", "instead", "words"), LINES)
def test_a_retired_word_on_the_command_line(name, instead, words, capsys):
    assert main(words) == 2
    assert f"{name} was removed in version 0.3: use {instead}." in capsys.readouterr().err


def test_an_unknown_name_is_not_called_retired(capsys):
    with pytest.raises(AttributeError, match="nonsense") as error:
        visual.nonsense  # noqa: B018
    assert "removed" not in str(error.value)
    assert main(["nonsense"]) == 2
    with pytest.raises(SystemExit):
        main([*DRAW, "--nonsense"])
    assert "removed" not in capsys.readouterr().err


def test_a_living_option_of_the_same_name_works(monkeypatch):
    monkeypatch.setattr("visual.cli.main.RETIRED_OPTIONS", {"order": "nothing"})
    assert main([*DRAW, "--order", "1"]) == 0
