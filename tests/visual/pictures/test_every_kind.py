"""What must hold for every kind of picture: honest cells, refusals, numbers of Scans."""

import pytest
from pictures import stands_alone
from strange_loops import LOOPS, WRT

import lab
import visual
from lab.errors import ArgumentError, GraphError, LabError
from lab.loops import gallery
from visual.drawing.catalogue import PICTURES

EVERY = {**gallery.loops, **LOOPS}


def drawn(name, picture, order, **options):
    return visual.draw(EVERY[name], picture, order=order, **WRT.get(name, {}), **options)


def test_the_strict_reader_sees_what_is_wrong():
    written = drawn("square", "unrolled", 1).svg()
    assert stands_alone(written) == []
    for wrong in (
        written.replace("<rect ", '<rect onclick="alert(1)" ', 1),
        written.replace("<rect ", '<rect style="fill:url(#a)" ', 1),
        written.replace("</svg>", "<script/></svg>"),
        written.replace("</svg>", '<image href="x"/></svg>'),
        written.replace('role="img"', ""),
        written.replace('x="', 'x="nan', 1),
    ):
        assert wrong != written
        assert stands_alone(wrong)


# Bad input.


def test_a_derivative_that_overwrites_nothing_is_not_said_to_be_of_order_0():
    loop = lab.Loop(
        lambda u: u * u,
        sequences=(lab.Sequence("u", [1.0, 2.0]),),
        outputs=("y",),
    )
    assert visual.draw(loop, "tapes", wrt="u").svg()
    with pytest.raises(GraphError, match="no state") as caught:
        visual.draw(loop, "ssa", wrt="u")
    assert "order" not in str(caught.value)


@pytest.mark.parametrize(
    ("picture", "options", "words"),
    [
        ("tapes", {"step": 4}, "step = 4"),
        ("unrolled", {"scan": 7}, "scan = 7"),
        ("tapes", {"scan": 0}, "scan = 0: the Scans of this trace are 1 · square and 2 · grad"),
        ("unrolled", {"step": "a"}, "step = 'a'"),
        ("tapes", {"step": 1.0}, "step = 1.0"),
        ("tapes", {"step": True}, "step = True"),
        ("tapes", {"step": (1, 7)}, "step = 7"),
        ("ssa", {"step": "a"}, "step = 'a'"),
        ("stepgraph", {"step": (1, 2)}, "step = (1, 2)"),
        ("stepgraph", {"scan": 1.0}, "scan = 1.0"),
        ("stepgraph", {"all": True}, "option stepgraph.all was removed in version 0.3"),
        ("rolled", {}, "picture rolled was removed in version 0.3: use unrolled with order=0"),
        ("phases", {"scan": 1}, "scan = 1: the Scans of derivatives are 2 · gradient of square."),
        ("stepgraph", {"scan": 9}, "scan = 9"),
        ("stepgraph", {"step": 9}, "step = 9"),
        ("taps", {"step": 1}, "the options of the picture taps are width"),
        ("tapes", {"colour": "red"}, "colour"),
        ("nothing", {}, "picture = 'nothing'"),
    ],
)
def test_what_cannot_be_drawn_says_why(picture, options, words):
    with pytest.raises(ArgumentError) as caught:
        visual.draw(gallery.loops["square"], picture, **options)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scans": (0, 9)}, "scans = "),
        ({"scans": ()}, "scans = "),
        ({"scans": (0, 1)}, "are 1 · square and 2 · gradient of square."),
        ({"scans": 3}, "scans = 3"),
        ({"scans": "12"}, "scans = '12'"),
        ({"scans": (1, 1)}, "only once"),
        ({"scans": (1, True)}, "scans = True"),
        ({"all_direct": 1}, "all_direct = 1"),
    ],
)
def test_what_cannot_be_unrolled_says_why(options, words):
    with pytest.raises(ArgumentError) as caught:
        visual.unrolled(gallery.loops["square"].trace(), **options)
    assert words in str(caught.value)


@pytest.mark.parametrize("picture", PICTURES)
def test_order_0_is_drawn_or_refused_in_a_sentence(picture):
    loop = gallery.loops["square"]
    if picture in ("ssa", "phases"):
        with pytest.raises(LabError, match="order"):
            visual.draw(loop, picture, order=0)
    else:
        assert visual.draw(loop, picture, order=0).svg()
