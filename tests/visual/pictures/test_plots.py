"""Lines of plots show the numbers of the trace, in pictures and on the axes of the user."""

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


def points_of(shapes):
    """Return the points of a panel in units of its two axes, from the labels of the axes."""
    texts = [shape for shape in shapes if isinstance(shape, Text) and shape.muted]
    below = max(text.y for text in texts)
    faded = [s.points for s in shapes if isinstance(s, Polyline) and s.faded]
    left = min((points[0][0] for points in faded), default=0)
    grid = sorted(points[0][1] for points in faded if points[0][0] == left)
    top = next(shape.y for shape in shapes if isinstance(shape, Text) and shape.bold)
    tick_labels = [text for text in texts if text.anchor == "end" and top < text.y < below]
    tick_labels.sort(key=lambda text: text.y)
    x_ticks = [(t.x, int(t.content.replace("−", "-"))) for t in texts if t.anchor == "middle"]
    y_ticks = [(y, number_of(text.content)) for y, text in zip(grid, tick_labels, strict=True)]
    lines = [line for line in shapes if isinstance(line, Polyline) and not line.faded]
    points = [point for line in lines for point in line.points]
    return [(number_at(x_ticks, x), number_at(y_ticks, y)) for x, y in points]


def number_of(words):
    """Return the value of a label, or the exponent of a power of ten."""
    is_power = words.startswith("10") and not words.isascii()
    return float(words[2:].translate(SUPERSCRIPTS) if is_power else words.replace("−", "-"))


def number_at(axis, position):
    """Return the number at a position of an axis, from the first and the last label."""
    (p, a), (q, b) = axis[0], axis[-1]
    return a + (b - a) * (position - p) / (q - p)


@pytest.mark.parametrize("name", ["square", "coupled", "extra", "logistic", "newton", "gap"])
@pytest.mark.parametrize("scan", [1, 2])
def test_lines_show_the_numbers_of_the_trace(name, scan):
    trace = trace_of(name, 1)
    panels, quantities = panels_of(values(trace, scan=scan)), NamedScan(trace, scan - 1)
    tapes = [tape for tape in quantities.scan.buffers if tape.final.ndim == 1]
    assert tapes
    for tape in tapes:
        title = f"{scan} · {quantities.variable_label(tape)}"
        positions = tape.axis.index if tape.axis is not None else np.arange(len(tape.final))
        final = tape.final.tolist()
        expected = sorted(zip(positions[: len(final)].tolist(), final, strict=True))
        limit = 0.01 * (np.ptp(tape.final) or abs(tape.final[0]))
        points = points_of(panels[title])
        assert [round(x) for x, _ in points] == [x for x, _ in expected]
        assert np.allclose([y for _, y in points], [y for _, y in expected], rtol=0, atol=limit)


def test_a_wrong_number_on_a_line_is_detected():
    trace = trace_of("square", 1)
    points = points_of(panels_of(values(trace))["2 · dC/dx"])
    expected = [2.0 ** (4 - i) * 0.95 ** (2**4 - 2**i) for i in range(5)]
    assert np.allclose([y for _, y in points], expected, rtol=0, atol=0.03)
    assert not np.allclose([y * 1.02 for _, y in points], expected, rtol=0, atol=0.03)


@pytest.mark.parametrize("name", ["rnn", "coupled", "extra"])
def test_hidden_quantities_are_counted_and_can_be_shown(name):
    """A line counts the quantities without a panel; the picture of a Scan shows its quantities."""
    trace = trace_of(name, 3)
    scene = values(trace)
    (note,) = [words for words in words_of(scene) if words[0] == "⋯"]
    series = [item for named in NamedScan.each(trace) for item in series_of(named)]
    states = len(gallery.loops[name].states)
    assert len(panels_of(scene)) + int(re.match(r"⋯ (\d+) more", note)[1]) == len(series) + states
    assert len(panels_of(values(trace, all=True))) == len(series) + states
    for number, scan in enumerate(trace.scans[:3], start=1):
        panels = panels_of(values(trace, scan=number))
        assert len([t for t in panels if "|" not in t and "‖" not in t]) == len(scan.buffers)


@pytest.mark.parametrize(
    ("ends", "log"),
    [((0, 1), False), ((-3e-200, 5e-200), False), ((-1.7e308, 1.7e308), False), ((7, 7), False),
     ((1e-9, 1e12), True), ((0, 0), False), ((1e8, 1e8 + 1e-3), False),
     ((0, np.inf, np.nan), True)],
)  # fmt: skip
def test_scales_contain_the_values_and_have_distinct_labels(ends, log):
    labels = []

    def fill(axes):
        curve = Series("", np.arange(len(ends)), np.array(ends, float))
        add_curves(axes, PlottedQuantity("title", (curve,), is_size=log))
        low, high = axes.get_ylim()
        for line in axes.lines:
            finite = line.get_ydata()[np.isfinite(line.get_ydata())]
            assert ((low < finite) & (finite < high)).all()
        labels.extend(label.get_text() for label in axes.get_yticklabels())

    draw_panel(200, 100, "title", fill)
    assert 1 <= len(labels) <= 7
    assert len(set(labels)) == len(labels)


def test_a_long_line_preserves_its_gap_and_its_extremes():
    noise = np.random.default_rng(1).normal(size=10_001)
    noise[[17, 5000, 7777]] = 50, -50, np.nan
    plotted = PlottedQuantity("title", (Series("", np.arange(len(noise)), noise),))
    fill = partial(add_curves, plotted=plotted)
    (panel,) = draw_panel(200, 100, "title", fill).shapes
    lines = [s.points for s in panel.shapes if isinstance(s, Polyline) and not s.faded]
    assert len(lines) == 2  # before and after nan
    assert sum(map(len, lines)) < 2000
    values_read = [y for _, y in points_of(panel.shapes)]
    assert (max(values_read), min(values_read)) == pytest.approx((50, -50), abs=1)


def test_values_that_a_line_cannot_show_are_marked():
    marks = {"nan": {"×"}, "inf": {"×"}, "tiny": set(), "huge": set(), "five states": {"↓0"}}
    for name, expected in marks.items():
        assert {*words_of(values(trace_of(name, 1)))} & {"×", "↓0"} == expected, name


DRAW = {
    "values": lambda loop, **options: values(loop.trace(order=2), **options),
    "influence": lambda loop, **options: visual.influence(loop.derivative(), **options),
    "memory": lambda loop, **options: visual.memory(loop.trace(order=2), **options),
}


@pytest.mark.parametrize("name", ["$x$", "<b>", "infected", "_x"])
@pytest.mark.parametrize("kind", DRAW)
def test_names_are_literal_on_axes_of_the_user_and_in_pictures(kind, name):
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
def test_a_plot_ignores_and_restores_the_style_of_the_user(kind):
    usual = DRAW[kind](gallery.loops["rnn"])
    with mpl.rc_context({"font.size": 30, "text.usetex": True, "axes.grid": True}):
        assert DRAW[kind](gallery.loops["rnn"]) == usual
        assert (mpl.rcParams["font.size"], mpl.rcParams["text.usetex"]) == (30, True)


def test_a_map_with_blocks_names_their_size():
    """A map has at most 28 rows; blocks combine 61 values (60 steps and the initial value)."""
    for steps, sentences in ((60, ["largest of up to 3 × 3 derivatives"]), (20, [])):
        loop = gallery.loops["logistic"].with_steps(steps)
        words = " ".join(words_of(visual.influence(loop.derivative())))
        assert re.findall(r"largest of[^,]*derivatives", words) == sentences


def test_the_map_on_axes_has_the_derivatives_and_the_theme_of_its_background():
    axes = Figure().add_subplot(facecolor="#111111")
    visual.influence(gallery.loops["square"].derivative(), ax=axes)
    numbers = [float(text.get_text()) for text in axes.texts]
    x = [0.95 ** (2**k) for k in range(5)]
    slopes = [np.prod([2 * v for v in x[s:t]]) for t in range(5) for s in range(t + 1)]
    assert np.allclose(numbers, slopes, rtol=0.01)
    (cells,) = axes.collections
    cells.update_scalarmappable()
    assert tuple(cells.get_facecolor()[0]) == to_rgba(DARK.background)  # a cell of the number
