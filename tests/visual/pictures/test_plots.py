"""Plots by matplotlib: lines have the numbers of the trace; plots on the axes of the user."""

import io
import re
from functools import partial
from html import escape

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from pictures import words_of
from strange_loops import trace_of

import lab
import visual
from lab.loops import gallery
from visual.layout.names import NamedScan
from visual.pictures.plots.axes import add_curves, draw_panel
from visual.pictures.plots.series import PlottedQuantity, Series, series_of
from visual.pictures.plots.values import values
from visual.scene.shapes import Polyline, Text
from visual.scene.theme import DARK

SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def panels_of(scene):
    """Return the shapes of every panel, by its title."""
    return {group.title.split(":")[0]: group.shapes for group in scene.groups() if group.title}


def read_off(shapes):
    """Return the points of a panel, by the labels of its two axes."""
    texts = [shape for shape in shapes if isinstance(shape, Text) and shape.muted]
    below = max(text.y for text in texts)
    faded = [s.points for s in shapes if isinstance(s, Polyline) and s.faded]
    left = min((points[0][0] for points in faded), default=0)
    grid = sorted(points[0][1] for points in faded if points[0][0] == left)
    top = next(shape.y for shape in shapes if isinstance(shape, Text) and shape.bold)
    beside = [text for text in texts if text.anchor == "end" and top < text.y < below]
    beside.sort(key=lambda text: text.y)
    foot = [(t.x, int(t.content.replace("−", "-"))) for t in texts if t.anchor == "middle"]
    up = [(y, number_of(text.content)) for y, text in zip(grid, beside, strict=True)]
    lines = [line for line in shapes if isinstance(line, Polyline) and not line.faded]
    return [(along(foot, x), along(up, y)) for line in lines for x, y in line.points]


def number_of(words):
    """Return the value of a label, or the exponent of a power of ten."""
    is_power = words.startswith("10") and not words.isascii()
    return float(words[2:].translate(SUPERSCRIPTS) if is_power else words.replace("−", "-"))


def along(axis, place):
    """Return the number at a place of an axis, from the first and the last label."""
    (p, a), (q, b) = axis[0], axis[-1]
    return a + (b - a) * (place - p) / (q - p)


@pytest.mark.parametrize("name", ["square", "coupled", "extra", "logistic", "newton", "gap"])
@pytest.mark.parametrize("scan", [1, 2])
def test_lines_read_off_their_scales_are_the_traces_numbers(name, scan):
    trace = trace_of(name, 1)
    found, named = panels_of(values(trace, scan=scan)), NamedScan(trace, scan - 1)
    held = [tape for tape in named.scan.held if tape.final.ndim == 1]
    assert held
    for tape in held:
        title = f"{scan} · {named.row_name(tape)}"
        places = tape.axis.index if tape.axis is not None else np.arange(len(tape.final))
        wanted = sorted(zip(places[: len(tape.final)].tolist(), tape.final.tolist(), strict=True))
        extent = np.ptp(tape.final) or abs(tape.final[0])
        read = read_off(found[title])
        assert [round(x) for x, _ in read] == [x for x, _ in wanted]
        assert np.allclose([y for _, y in read], [y for _, y in wanted], rtol=0, atol=0.01 * extent)


def test_a_number_that_is_not_the_traces_would_be_noticed():
    trace = trace_of("square", 1)
    read = read_off(panels_of(values(trace))["2 · dC/dx"])
    true = [2.0 ** (4 - i) * 0.95 ** (2**4 - 2**i) for i in range(5)]
    assert np.allclose([y for _, y in read], true, rtol=0, atol=0.03)
    assert not np.allclose([y * 1.02 for _, y in read], true, rtol=0, atol=0.03)


@pytest.mark.parametrize("name", ["rnn", "coupled", "extra"])
def test_what_is_not_shown_is_counted_and_can_be(name):
    """Every quantity has a panel, a line counts it, or the picture of its Scan contains it."""
    trace = trace_of(name, 3)
    whole = values(trace)
    (said,) = [words for words in words_of(whole) if words[0] == "⋯"]
    held = [one for named in NamedScan.each(trace) for one in series_of(named)]
    states = len(gallery.loops[name].states)
    assert len(panels_of(whole)) + int(re.match(r"⋯ (\d+) more", said)[1]) == len(held) + states
    assert len(panels_of(values(trace, all=True))) == len(held) + states
    for number, scan in enumerate(trace.scans[:3], start=1):
        alone = panels_of(values(trace, scan=number))
        assert len([t for t in alone if "|" not in t and "‖" not in t]) == len(scan.held)


@pytest.mark.parametrize(
    ("ends", "log"),
    [((0, 1), False), ((-3e-200, 5e-200), False), ((-1.7e308, 1.7e308), False), ((7, 7), False),
     ((1e-9, 1e12), True), ((0, 0), False), ((1e8, 1e8 + 1e-3), False),
     ((0, np.inf, np.nan), True)],
)  # fmt: skip
def test_scales_hold_the_values_and_have_labels_that_differ(ends, log):
    labels = []

    def fill(axes):
        curve = Series("", np.arange(len(ends)), np.array(ends, float))
        add_curves(axes, PlottedQuantity("title", (curve,), is_size=log))
        low, high = axes.get_ylim()
        for line in axes.lines:
            known = line.get_ydata()[np.isfinite(line.get_ydata())]
            assert ((low < known) & (known < high)).all()
        labels.extend(label.get_text() for label in axes.get_yticklabels())

    draw_panel(200, 100, "title", fill)
    assert 1 <= len(labels) <= 7
    assert len(set(labels)) == len(labels)


def test_a_long_line_keeps_its_ends_its_gap_and_its_extremes():
    noise = np.random.default_rng(1).normal(size=10_001)
    noise[[17, 5000, 7777]] = 50, -50, np.nan
    plotted = PlottedQuantity("title", (Series("", np.arange(len(noise)), noise),))
    fill = partial(add_curves, plotted=plotted)
    (panel,) = draw_panel(200, 100, "title", fill).shapes
    lines = [s.points for s in panel.shapes if isinstance(s, Polyline) and not s.faded]
    assert len(lines) == 2  # before and after nan
    assert sum(map(len, lines)) < 2000
    read = [y for _, y in read_off(panel.shapes)]
    assert (max(read), min(read)) == pytest.approx((50, -50), abs=1)


@pytest.mark.parametrize(
    ("name", "mark"),
    [("nan", "×"), ("inf", "×"), ("tiny", None), ("huge", None), ("five states", "↓0")],
)
def test_what_a_line_cannot_show_is_marked(name, mark):
    assert {*words_of(values(trace_of(name, 1)))} & {"×", "↓0"} == {mark} - {None}


DRAW = {
    "values": lambda loop, **options: values(loop.trace(order=2), **options),
    "influence": lambda loop, **options: visual.influence(loop.derivative(), **options),
    "memory": lambda loop, **options: visual.memory(loop.trace(order=2), **options),
}


@pytest.mark.parametrize("name", ["$x$", "<b>", "infected", "_x"])
@pytest.mark.parametrize("kind", DRAW)
def test_names_are_literal_on_axes_of_the_reader_and_in_pictures(kind, name):
    loop = lab.Loop(lambda **given: given[name] ** 2, states=(lab.State(name, 0.9),), n_steps=3)
    axes = Figure().add_subplot()
    assert DRAW[kind](loop, ax=axes) is axes
    assert axes.has_data()
    axes.figure.savefig(io.StringIO(), format="svg")
    if kind == "values":
        assert axes.get_legend().get_texts()[0].get_text() == f"|{name}|"
    picture = DRAW[kind](loop)
    assert name in picture.text()
    assert escape(name) in picture.svg()


@pytest.mark.parametrize("kind", DRAW)
def test_a_plot_ignores_the_style_of_the_reader_and_restores_it(kind):
    usual = DRAW[kind](gallery.loops["rnn"])
    with mpl.rc_context({"font.size": 30, "text.usetex": True, "axes.grid": True}):
        assert DRAW[kind](gallery.loops["rnn"]) == usual
        assert (mpl.rcParams["font.size"], mpl.rcParams["text.usetex"]) == (30, True)


def test_a_map_with_blocks_of_pairs_says_so():
    """60 steps compute 61 values with the initial one; a map has at most 28 rows."""
    for steps, sentences in ((60, ["largest of up to 3 × 3 derivatives"]), (20, [])):
        loop = gallery.loops["logistic"].with_steps(steps)
        words = " ".join(words_of(visual.influence(loop.derivative())))
        assert re.findall(r"largest of[^,]*derivatives", words) == sentences


def test_the_map_on_axes_has_the_derivatives_and_the_theme_of_its_background():
    axes = Figure().add_subplot(facecolor="#111111")
    visual.influence(gallery.loops["square"].derivative(), ax=axes)
    told = [float(text.get_text()) for text in axes.texts]
    x = [0.95 ** (2**k) for k in range(5)]
    slopes = [np.prod([2 * v for v in x[s:t]]) for t in range(5) for s in range(t + 1)]
    assert np.allclose(told, slopes, rtol=0.01)
    (cells,) = axes.collections
    cells.update_scalarmappable()
    assert tuple(cells.get_facecolor()[0]) == to_rgba(DARK.background)  # a cell of the number
