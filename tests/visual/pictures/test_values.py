"""The picture of values: read off its scales, its lines hold the trace's numbers."""

import re
from itertools import combinations, pairwise

import numpy as np
import pytest
from strange_loops import LOOPS, strange_trace

import lab
import visual
from lab.errors import ArgumentError
from lab.loops import gallery
from visual.layout.names import NamedScan
from visual.pictures.values.scale import Scale, scale_of
from visual.pictures.values.series import (
    Series,
    growth_of,
    pooled,
    series_of,
    stretches,
    thinned,
)
from visual.pictures.values.values import values
from visual.scene.shapes import Box, Polyline, Text

SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def panels_of(scene):
    """The shapes of every panel, by its title."""
    return {group.title.split(":")[0]: group.shapes for group in scene.groups() if group.title}


def read_off(shapes):
    """The points of a panel as a person reads them: along the labels of its two axes."""
    texts = [shape for shape in shapes if isinstance(shape, Text) and shape.muted]
    below = max(text.y for text in texts)
    faded = [s.points for s in shapes if isinstance(s, Polyline) and s.faded]
    left = min((points[0][0] for points in faded), default=0)
    grid = sorted(points[0][1] for points in faded if points[0][0] == left)
    top = shapes[0].y  # where the name stands
    beside = sorted(
        (t for t in texts if t.anchor == "end" and top < t.y < below), key=lambda text: text.y
    )
    foot = [(t.x, int(t.content.replace("−", "-"))) for t in texts if t.anchor == "middle"]
    up = [(y, number_of(text.content)) for y, text in zip(grid, beside, strict=True)]
    lines = [line for line in shapes if isinstance(line, Polyline) and not line.faded]
    return [(along(foot, x), along(up, y)) for line in lines for x, y in line.points]


def number_of(words):
    """What a label says; of a power of ten its exponent."""
    if words.startswith("10") and words[2:] and not words[2:].isascii():
        return float(words[2:].translate(SUPERSCRIPTS))
    return float(words.replace("−", "-"))


def along(axis, place):
    """The number at a place of an axis, from the first and the last label."""
    (p, a), (q, b) = axis[0], axis[-1]
    return a + (b - a) * (place - p) / (q - p)


@pytest.mark.parametrize("name", ["square", "coupled", "extra", "logistic", "newton", "gap"])
@pytest.mark.parametrize("scan", [1, 2])
def test_lines_read_off_their_scales_are_the_traces_numbers(name, scan):
    trace = gallery.loops[name].trace(order=1)
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
    trace = gallery.loops["square"].trace(order=1)
    read = read_off(panels_of(values(trace))["2 · dC/dx"])
    true = [2.0 ** (4 - i) * 0.95 ** (2**4 - 2**i) for i in range(5)]
    assert np.allclose([y for _, y in read], true, rtol=0, atol=0.03)
    assert not np.allclose([y * 1.02 for _, y in read], true, rtol=0, atol=0.03)


def test_powers_of_ten_are_those_of_the_gradients():
    trace = gallery.loops["logistic"].with_steps(30).trace(order=2)
    read = read_off(panels_of(values(trace))["|dC/dx| and higher"])[:31]
    x = trace.scans[0].tapes[0].final
    slopes = np.log10(np.abs(3.7 * (1 - 2 * x[:-1])))
    assert np.allclose([y for _, y in read], [slopes[i:].sum() for i in range(31)], atol=0.1)


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


def lines_of(shapes):
    return [s for s in shapes if isinstance(s, Polyline) and not s.faded]


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", gallery.loops)
def test_at_most_six_panels_have_names_that_can_be_said(name, order):
    """The states and what is differentiated by them; no gradient by a gradient, and no part."""
    trace = gallery.loops[name].trace(order=order)
    found = panels_of(values(trace))
    assert 2 <= len(found) <= 6
    assert all(title.count("/") <= 1 and "∂" not in title for title in found)
    assert {f"1 · {state.name}" for state in gallery.loops[name].states} <= set(found)
    assert any(title.startswith(f"{len(trace.scans)} · dC") for title in found)  # what was asked


@pytest.mark.parametrize("name", ["rnn", "coupled", "extra"])
def test_what_is_not_shown_is_counted_and_can_be(name):
    """Every quantity has a panel, is counted in a line, or is in the picture of its Scan."""
    trace = gallery.loops[name].trace(order=3)
    whole = values(trace)
    (said,) = [s.content for s in whole.walk() if isinstance(s, Text) and s.content[0] == "⋯"]
    held = [one for named in NamedScan.each(trace) for one in series_of(named)]
    states = len(gallery.loops[name].states)
    assert len(panels_of(whole)) + int(re.match(r"⋯ (\d+) more", said)[1]) == len(held) + states
    numbers = {re.sub("∂[₀-₉]*", "d", one.name) for one in held if one.is_scalar}
    arrays = [one for one in held if not one.is_scalar]
    assert len(panels_of(values(trace, all=True))) == len(numbers) + len(arrays) + states
    for number, scan in enumerate(trace.scans, start=1):
        alone = panels_of(values(trace, scan=number))
        assert len([t for t in alone if "|" not in t and "‖" not in t]) == len(scan.held)


def test_parts_of_a_gradient_are_curves_in_its_panel():
    """By hand: of gap, ∂₁C′/∂x and ∂₂C′/∂x are what Scan 3 gives to dC′/dx of Scan 4."""
    trace = gallery.loops["gap"].trace(order=2)
    whole, *parts = read_lines(panels_of(values(trace, all=True))["4 · dC′/dx"])
    assert len(parts) == 2
    for read, argument in (
        (whole, trace.scans[3].tapes[0]),
        *zip(parts, trace.scans[2].outputs, strict=True),
    ):
        held = dict(zip(argument.axis.index.tolist(), argument.final.tolist(), strict=False))
        assert np.allclose([y for _, y in read], [held[round(x)] for x, _ in read], atol=0.4)
    marks = [s.content for s in values(trace, all=True).walk() if isinstance(s, Text)]
    assert {"d", "∂₁", "∂₂"} <= set(marks)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", gallery.loops)
def test_no_line_goes_through_the_name_of_a_curve(name, order):
    """Neither a curve nor one of the grid; and names keep apart, also where many are drawn."""
    trace = gallery.loops[name].trace(order=order)
    for shapes in [
        *panels_of(values(trace)).values(),
        *panels_of(values(trace, all=True)).values(),
    ]:
        names = [s for s in shapes if isinstance(s, Text) and re.match("C|d$|∂", s.content)]
        boxes = [(t.x, t.y - 8, t.x + t.width, t.y) for t in names if not (t.bold or t.muted)]
        lines = [line.points for line in shapes if isinstance(line, Polyline)]
        assert not [b for b in boxes for points in lines if any(goes_through(b, points))]
        assert all(a[3] <= b[1] or b[3] <= a[1] for a, b in combinations(boxes, 2) if a[0] == b[0])


def goes_through(box, points):
    """Whether the pieces of a line come into a box, at a thousand places of each."""
    (left, top, right, low), along = box, np.linspace(0, 1, 1000)[:, None]
    for start, end in pairwise(np.array(points)):
        x, y = (start + along * (end - start)).T
        yield ((left < x) & (x < right) & (top < y) & (y < low)).any()


def read_lines(shapes):
    """The points of each line of a panel."""
    points = iter(read_off(shapes))
    return [[next(points) for _ in line.points] for line in lines_of(shapes)]


def full_colours(scene):
    """What full colours stand for, by quantity: on tapes in a line, in values beside each name."""
    told = [s.content for s in scene.walk() if isinstance(s, Text)]
    (line,) = [t for t in told if t.startswith("full colour: ")] or [""]
    found = {name: number for number, name in re.findall(r"±(\S+) of ([^,]+)", line)}
    for title in (g.title for g in scene.groups() if " · full colour ±" in g.title):
        name, number = re.fullmatch(r"\d+ · (.*): [\d×]+ · full colour ±(\S+)", title).groups()
        found.setdefault(re.sub("∂[₀-₉]*", "d", name), number)
        assert found[re.sub("∂[₀-₉]*", "d", name)] == number, name
    return found


@pytest.mark.parametrize("loop", ["rnn", "lookup"])
def test_full_colours_are_those_of_tapes(loop):
    trace = gallery.loops[loop].trace(order=1)
    drawn, tapes = full_colours(values(trace)), full_colours(visual.tapes(trace))
    both = drawn.keys() & tapes.keys()
    assert both
    assert {name: drawn[name] for name in both} == {name: tapes[name] for name in both}


def test_other_full_colours_would_be_noticed():
    rnn = gallery.loops["rnn"]
    drawn = full_colours(values(rnn.with_steps(2).trace(order=1)))
    assert drawn["h"] != full_colours(visual.tapes(rnn.trace(order=1)))["h"]


@pytest.mark.parametrize(
    ("low", "high", "log"),
    [(0, 1, False), (-3e-200, 5e-200, False), (-1.7e308, 1.7e308, False), (1e-9, 1e12, True),
     (7, 7, False), (0, 0, False), (1e8, 1e8 + 1e-3, False)],
)  # fmt: skip
def test_scales_hold_what_they_are_made_for(low, high, log):
    scale = scale_of([np.array([low, high, np.nan, np.inf])], log)
    places = scale.at(np.array([low, high]))
    assert np.all((places >= 0) & (places <= 1))
    ticks = list(scale.ticks())
    assert 1 <= len(ticks) <= 7
    assert len({words for _, words in ticks}) == len(ticks)
    assert all(0 <= share <= 1 for share, _ in ticks)


def test_a_scale_that_is_too_short_would_be_noticed():
    assert Scale(0, 1).at(np.array([2.0]))[0] > 1


def test_ten_thousand_steps_stay_small():
    scene = values(LOOPS["a thousand steps"].with_steps(10_000).trace(order=2))
    assert len(scene.svg()) < 60_000
    assert len(scene.text().splitlines()) < 80
    assert "⋯ 9,995 more" in scene.text()


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


@pytest.mark.parametrize(
    ("name", "mark"),
    [("nan", "×"), ("inf", "×"), ("tiny", None), ("huge", None), ("five states", "↓0")],
)
def test_what_a_line_cannot_show_is_marked(name, mark):
    said = {s.content for s in values(strange_trace(name, 1)).walk() if isinstance(s, Text)}
    assert said & {"×", "↓0"} == ({mark} if mark else set())


def test_one_value_among_many_that_are_not_finite_is_drawn():
    loop = lab.Loop(
        lambda x, u: u,
        states=(lab.State("x", 1.0),),
        sequences=(lab.Sequence("u", np.where(np.arange(900) % 300 == 7, 1.0, np.nan)),),
    )
    scene = values(loop.trace(order=0))
    (shapes,) = panels_of(scene).values()
    lines = [s for s in shapes if isinstance(s, Polyline) and not s.faded]
    assert sum(line.dots for line in lines) == 3  # 0 and 8 stand less than two pixels apart
    assert "x: from 1 to 1, 897 not finite" in scene.text()


def test_arrays_are_patches_of_their_entries():
    """As many as there are entries, orange where an entry is positive."""
    trace = gallery.loops["rnn"].trace(order=0)
    patches = [s.heat for s in values(trace).walk() if isinstance(s, Box)]
    held = trace.scans[0].tapes[0].final
    assert np.allclose(patches, held.ravel() / np.abs(held).max())


def test_loops_that_stop_early_show_the_steps_that_ran():
    trace = gallery.loops["newton"].trace(order=1)
    series = series_of(NamedScan(trace, 0))[0]
    assert series.index.tolist() == list(range(trace.scans[0].steps + 1))


def test_the_text_twin_reads_as_a_table():
    text = values(gallery.loops["square"].trace(order=2)).text()
    lines = [line.split() for line in text.splitlines()]
    assert ["0", "7.413"] in lines
    assert ["index", "|dC/dx|", "|dC′/dx|"] in lines
    assert ["0", "7.413", "117.0"] in lines


def test_an_unknown_scan_is_refused():
    with pytest.raises(ArgumentError, match="scan = 9: "):
        values(gallery.loops["square"].trace(), scan=9)


def test_jupyter_gets_a_plot_and_its_text():
    bundle = values(gallery.loops["square"].trace())._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "dC/dx" in bundle["text/plain"]
    assert "overflow-x" in bundle["text/html"]
