"""A removed name, command, option, or format raises an error that names its replacement."""

from functools import partial
from operator import attrgetter
from types import SimpleNamespace

import pytest

import lab
import visual
from lab import retired as of_lab
from lab.errors import ArgumentError
from lab.loops import gallery
from lab.reports.compare.comparison import Comparison
from visual import retired as of_visual
from visual.cli.main import main
from visual.drawing.catalogue import PICTURES
from visual.retired import PICTURE_OPTIONS, RETIRED_FORMATS, RETIRED_NAMES, RETIRED_OPTIONS

SQUARE = gallery.loops["square"]
RECORDS = SimpleNamespace(
    Comparison=Comparison,
    Derivative=lab.Derivative,
    Loop=lab.Loop,
    Trace=lab.Trace,
    structural=lab.structural,
)
DRAW = ["draw", "tapes", "--loop", "square", "-o", "-"]
# Functions of pictures; the option `theme` of a picture was removed.
DRAWING = [getattr(visual, name) for name in {*PICTURES} - {"machine"} if hasattr(visual, name)]
DRAWING += [visual.eager, visual.two_tapes, visual.routing, visual.transposed, visual.dot_product]
CALLS = [  # the name in the message, its replacement, and a call
    *(
        (f"lab.{n}", new, partial(attrgetter(n), RECORDS if "." in n else lab))
        for n, new in of_lab.RETIRED_NAMES.items()
    ),
    *((f"visual.{n}", new, partial(getattr, visual, n)) for n, new in RETIRED_NAMES.items()),
    *((f"picture {n}", new, partial(visual.draw, SQUARE, n)) for n, new in RETIRED_NAMES.items()),
    *(
        (f"option {n}", new, partial(visual.draw, SQUARE, **{n: 1}))
        for n, new in RETIRED_OPTIONS.items()
    ),
    *(
        (f"format {n}", new, write)
        for n, new in RETIRED_FORMATS.items()
        for write in (
            partial(visual.draw(SQUARE).save, f"tape{n}"),
            partial(visual.export, SQUARE, "all", [n.removeprefix(".")]),
        )
    ),
    *(("theme", PICTURE_OPTIONS["theme"], partial(draw, SQUARE, theme="dark")) for draw in DRAWING),
    *((f"scantape {n}", t, [n, "--loop", "square"]) for n, t in of_visual.RETIRED_COMMANDS.items()),
    *(
        (option, new, [*DRAW, *words])
        for name, new in RETIRED_OPTIONS.items()
        for option in [f"--{name.replace('_', '-')}"]
        for words in ([option], [option, "1"], [f"{option}=1"])
    ),
]


@pytest.mark.parametrize(("name", "instead", "call"), CALLS)
def test_a_retired_name_names_its_replacement(name, instead, call, folder, capsys):
    if isinstance(call, list):  # words of the command line
        assert main(call) == 2
        message = capsys.readouterr().err
    else:
        with pytest.raises((AttributeError, ArgumentError)) as error:
            call()
        message = str(error.value)
    assert f"{name} was removed in version 0.3: use {instead.removesuffix('.')}." in message
    assert instead
    assert ".." not in message


def test_an_unknown_name_is_not_called_retired(capsys, monkeypatch):
    for package, other in ((lab, of_lab.RETIRED_NAMES), (visual, RETIRED_NAMES)):
        with pytest.raises(AttributeError, match="nonsense") as error:
            package.nonsense  # noqa: B018
        assert "removed" not in str(error.value)
        monkeypatch.setitem(other, "nonsense", "sense.")  # each entry of the table counts
        with pytest.raises(AttributeError, match="nonsense was removed in version 0"):
            package.nonsense  # noqa: B018
    assert not hasattr(lab, "nonsense")
    assert main(["nonsense"]) == 2
    with pytest.raises(SystemExit):
        main([*DRAW, "--nonsense"])
    assert "removed" not in capsys.readouterr().err
    monkeypatch.setattr("visual.cli.main.RETIRED_OPTIONS", {"order": "nothing"})
    assert main([*DRAW, "--order", "1"]) == 0
