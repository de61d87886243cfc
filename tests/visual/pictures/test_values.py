"""The picture of values: its lines hold the trace's numbers; its SVG stands alone."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from strange_loops import HOSTILE, LOOPS, strange_trace, trace_of

import lab
from lab.errors import ArgumentError
from lab.loops import gallery
from visual.layout.names import NamedScan
from visual.pictures.values.panels import edges
from visual.pictures.values.plot import values
from visual.pictures.values.series import (
    Kind,
    Series,
    growth_of,
    pooled,
    series_of,
    stretches,
    thinned,
)
from visual.scene.theme import THEMES, contrast

SVG = "{http://www.w3.org/2000/svg}"


def drawn_lines(axes, count):
    """The points of the lines of a panel: its first ones, before marks."""
    return [line.get_xydata() for line in axes.get_lines()[:count]]


@pytest.mark.parametrize("name", gallery.loops)
@pytest.mark.parametrize("order", [0, 1, 2])
def test_lines_and_tables_hold_the_traces_numbers(name, order):
    """Every tape of the trace is drawn once, at the index that its axis tells."""
    trace = gallery.loops[name].trace(order=order)
    plot = values(trace)
    figure = plot.figure()
    shown = []
    for panel, axes in zip(plot.panels, figure.axes, strict=True):
        if panel.kind is Kind.LINES:
            shown += [(line[:, 0], line[:, 1:]) for line in drawn_lines(axes, len(panel.series))]
        elif panel.kind is Kind.HEAT:
            shown += [(s.index, s.table) for s in panel.series]
    tapes = [tape for scan in trace.scans for tape in (*scan.tapes, *scan.outputs)]
    assert len(shown) == len(tapes)
    for tape in tapes:
        places = tape.axis.index if tape.axis is not None else np.arange(len(tape.final))
        ascending = np.argsort(places[: len(tape.final)])
        index, held = places[ascending], tape.final[ascending].reshape(len(tape.final), -1)
        assert any(
            np.array_equal(where, index)
            and what.shape == held.shape
            and np.allclose(what, held, rtol=1e-12, atol=0)
            for where, what in shown
        ), f"{tape.name} is not drawn"


def test_a_number_that_is_not_the_traces_would_be_noticed():
    plot = values(gallery.loops["square"].trace(order=1))
    line = drawn_lines(plot.figure().axes[1], 1)[0]
    assert line[0, 1] == pytest.approx(16 * 0.95**15)
    assert not np.allclose(line[:, 1] * (1 + 1e-11), line[:, 1], rtol=1e-12, atol=0)


def test_growth_is_the_size_of_what_the_tapes_hold():
    trace = gallery.loops["rnn"].trace(order=2)
    plot = values(trace)
    panel, axes = plot.panels[-1], plot.figure().axes[-1]
    assert [s.name for s in panel.series] == ["‖dC/dh‖", "‖dC′/dh‖"]
    for line, number in zip(drawn_lines(axes, 2), (1, 3), strict=True):
        tape = trace.scans[number].tapes[0]
        norms = np.linalg.norm(tape.final, axis=1)[np.argsort(tape.axis.index)]
        assert np.allclose(10 ** line[:, 1], norms)


def test_growth_of_the_logistic_map_is_the_product_of_its_slopes():
    trace = gallery.loops["logistic"].with_steps(200).trace(order=1)
    (grown,) = growth_of(NamedScan(trace, 0))
    x = trace.scans[0].tapes[0].final
    slopes = np.abs(3.7 * (1 - 2 * x[:-1]))
    assert np.allclose(np.log10(grown.values), [np.log10(slopes[i:]).sum() for i in range(201)])


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e300])
def test_norms_neither_vanish_nor_overflow(scale):
    trace = gallery.loops["rnn"].trace(order=1)
    series = series_of(NamedScan(trace, 1))[0]
    large = Series(series.name, series.index, series.values * scale)
    from visual.pictures.values.series import _magnitude

    wanted = np.linalg.norm(series.values, axis=1) * scale
    assert np.allclose(_magnitude(large).values, wanted, rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", [*gallery.loops, *LOOPS])
@pytest.mark.parametrize("order", [0, 2])
def test_svgs_stand_alone(name, order):
    written = values(trace_of(name, order), "print").svg()
    root = ElementTree.fromstring(written)
    assert root.get("role") == "img"
    assert root.get("viewBox")
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    allowed = {f"{SVG}{tag}" for tag in ("svg", "title", "desc", "g", "path", "text")}
    for element in root.iter():
        assert element.tag in allowed
        forbidden = ("on", "href", "style", "id", "class", "clip")
        assert not [a for a in element.attrib if a.split("}")[-1].startswith(forbidden)]
    assert "url(" not in written
    assert "DOCTYPE" not in written
    assert len(written) < 100_000
    size = float(root.get("width")), float(root.get("height"))
    assert np.allclose([float(v) * 4 / 3 for v in root.get("viewBox").split()[2:]], size, atol=0.02)


def test_every_mark_and_line_is_in_the_svg():
    """As many markers as points, as many lines as series."""
    trace = gallery.loops["coupled"].trace(order=0)
    points = sum(len(tape.final) for tape in trace.scans[0].tapes)
    written = values(trace).svg()
    assert len(re.findall("translate", written)) == points + 2  # and two in the legend
    assert HOSTILE not in values(strange_trace("hostile name", 1)).svg()


def test_ten_thousand_steps_stay_small():
    plot = values(LOOPS["a thousand steps"].with_steps(10_000).trace(order=2))
    assert len(plot.svg()) < 60_000
    assert len(plot.text().splitlines()) < 80
    assert "⋯ 9,995 more" in plot.text()


def test_thinning_keeps_both_ends_and_every_extreme():
    noise = np.random.default_rng(1).normal(size=10_001)
    noise[[17, 5000]] = 50, -50
    noise[7777] = np.nan
    kept = thinned(noise, 175)
    assert len(kept) <= 3 * 175 + 2
    assert {0, 17, 5000, 7777, 10_000} <= set(kept.tolist())
    for start, stop in stretches(len(noise), 175):
        inside = kept[(kept >= start) & (kept < stop)]
        assert np.nanmin(noise[inside]) == np.nanmin(noise[start:stop])
        assert np.nanmax(noise[inside]) == np.nanmax(noise[start:stop])
    assert thinned(noise[:500], 175).tolist() == list(range(500))


def test_heat_maps_show_of_every_block_the_largest_in_size():
    table = np.random.default_rng(1).normal(size=(1000, 40))
    table[500, 20] = -99
    table[3, 3] = np.nan
    small = pooled(table, 48, 16)
    assert small.shape == (48, 16)
    assert -99 in small
    assert np.isnan(small).sum() == 1
    series = Series("v", np.arange(5, 1005), table)
    left, top = edges(series, small)
    assert (left[0], left[-1], top[0], top[-1]) == (4.5, 1004.5, -0.5, 39.5)


def marks_of(plot):
    return [[mark.words for mark in panel.marks] for panel in plot.panels]


@pytest.mark.parametrize(
    ("name", "marks"),
    [
        ("nan", [["not finite"], [], []]),
        ("inf", [["not finite"], [], []]),
        ("tiny", [[], [], []]),
        ("huge", [[], [], []]),
        ("five states", [[], [], ["zero"]]),
    ],
)
def test_what_a_line_cannot_show_is_marked(name, marks):
    plot = values(strange_trace(name, 1))
    assert marks_of(plot) == marks
    svg = plot.svg()
    assert (">not finite<" in svg) == any("not finite" in words for words in marks)
    assert (">zero<" in svg) == any("zero" in words for words in marks)


def test_one_value_among_many_that_are_not_finite_is_drawn():
    loop = lab.Loop(
        lambda x, u: u,
        states=(lab.State("x", 1.0),),
        sequences=(lab.Sequence("u", np.where(np.arange(900) % 300 == 7, 1.0, np.nan)),),
    )
    plot = values(loop.trace(order=0))
    points = np.vstack([line.get_xydata() for line in plot.figure().axes[0].get_lines()])
    finite = {int(x) for x, y in points if y == 1.0}
    assert {0, 8, 308, 608} <= finite
    assert "x: from 1 to 1, 897 not finite" in plot.text()


def test_values_beyond_matplotlibs_arithmetic_are_drawn_in_units():
    figure = values(strange_trace("tiny", 1)).figure()
    line = figure.axes[0].get_lines()[0].get_xydata()
    assert line[:, 1].tolist() == pytest.approx([1, 0.5, 0.25, 0.125])
    assert figure.axes[0].get_ylabel() == "in units of 1e-300"


def test_loops_that_stop_early_show_the_steps_that_ran():
    trace = gallery.loops["newton"].trace(order=1)
    series = series_of(NamedScan(trace, 0))[0]
    assert series.index.tolist() == list(range(trace.scans[0].steps + 1))


def test_the_text_twin_reads_as_a_table():
    text = values(gallery.loops["square"].trace(order=2)).text()
    lines = [line.split() for line in text.splitlines()]
    assert ["0", "7.413"] in lines
    assert ["index", "|dC/dx|", "|dC′/dx|"] in lines
    assert ["0", "7.413", "117"] in lines


def test_lines_differ_without_their_colour():
    axes = values(strange_trace("five states", 1), "print").figure().axes[0]
    looks = [(line.get_linestyle(), line.get_marker()) for line in axes.get_lines()]
    assert len(set(looks)) == len(looks) == 5


@pytest.mark.parametrize("theme", THEMES)
def test_lines_stand_out_from_their_page(theme):
    plot = values(strange_trace("five states", 1), theme)
    for line in plot.figure().axes[0].get_lines():
        assert contrast(line.get_color(), THEMES[theme].background) >= 3


def test_an_unknown_theme_is_refused():
    with pytest.raises(ArgumentError, match="theme = 'pink'"):
        values(gallery.loops["square"].trace(), "pink")


def test_jupyter_gets_a_plot_and_its_text():
    bundle = values(gallery.loops["square"].trace())._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "dC/dx" in bundle["text/plain"]
    assert "overflow-x" in bundle["text/html"]
