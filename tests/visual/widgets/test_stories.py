"""Every number of a picture has the story of just this number."""

import re
from dataclasses import replace

import pytest

import visual
from lab.loops import gallery
from lab.notation import number_text
from visual.scene.shapes import Group
from visual.widgets.stories import Teller, cells_of, of_all, of_cell

KINDS = ("tapes", "moment", "unrolled", "equations")


@pytest.mark.parametrize("name", gallery.loops)
@pytest.mark.parametrize("kind", KINDS)
def test_every_number_has_a_story(name, kind):
    for order in (1, 2):
        picture = visual.draw(gallery.loops[name], kind, order=order)
        cells, told = cells_of(picture), of_all(picture)
        for cell, value in zip(cells, told["cells"], strict=True):
            written = re.search(r" = (-?[\d.]+(?:e-?\d+)?)(?: \(before|$| = )", cell.title)
            if written is None:
                continue
            assert value >= 0, cell
            heading = told["values"][value]["origin"][0]
            assert f"= {number_text(float(written.group(1)))}" in heading, cell


def test_a_step_tells_of_what_it_made_itself():
    picture = visual.draw(gallery.loops["gap"], "tapes")
    trace, told = picture.trace, of_all(picture)
    seen = 0
    for cell, value in zip(cells_of(picture), told["cells"], strict=True):
        scan = 0 if cell.moment is None else cell.moment // 5
        made = told["values"][value]["made"]
        assert cell.moment is None or cell.key.startswith("0:x:") or made <= cell.moment
        if scan == 1 and "(before:" in cell.title:  # what a step has overwritten
            assert made == cell.moment
            seen += 1
    assert seen == 2 * trace.scans[1].steps


def test_a_page_and_python_tell_the_same():
    picture = visual.draw(gallery.loops["gap"], "tapes", order=2)
    cells, told = cells_of(picture), of_all(picture)
    teller = Teller(picture.trace)
    for number, value in enumerate(told["cells"]):
        one = of_cell(teller, cells, number)
        assert (one is None) == (value < 0)
        if one is not None:
            assert one["origin"] == told["values"][value]["origin"]
            before = {value}
            waiting = [value]
            while waiting:  # as the page does
                fresh = set(told["values"][waiting.pop()]["path"]) - before
                before |= fresh
                waiting += fresh
            assert one["path"] == [n for n, other in enumerate(told["cells"]) if other in before]


def changed(shapes, old, new):
    return tuple(
        replace(s, shapes=changed(s.shapes, old, new), title=s.title.replace(old, new))
        if isinstance(s, Group)
        else s
        for s in shapes
    )


def test_another_number_has_no_story():
    picture = visual.draw(gallery.loops["square"], "tapes")
    wrong = replace(picture, shapes=changed(picture.shapes, "= 1.3268", "= 1.3269"))
    lost = of_all(wrong)["cells"].count(-1)
    assert lost > of_all(picture)["cells"].count(-1) == 0
    assert of_cell(Teller(picture.trace), cells_of(picture), 10_000) is None
    assert of_all(replace(picture, trace=None)) == {}


def test_a_seed_leads_to_the_cells_that_made_it():
    """In Scan 4 of square, dC'/dx2 begins with what Scan 3 has summed up by hand: 2.321 + 1.548."""
    loop = gallery.loops["square"].with_taps({"x": (-2, -1)})
    picture = visual.draw(loop, "tapes", order=2, scan=4)
    cells, teller = cells_of(picture), Teller(picture.trace)
    (number,) = (
        n
        for n, c in enumerate(cells)
        if c.title.endswith(" = 3.8689046874999997") and c.moment == 11
    )
    seed = of_cell(teller, cells, number)
    assert (seed["made"], seed["scan"], seed["scans"]) == (-1, 4, [1, 2, 3, 4])
    whole = visual.draw(loop, "tapes", order=2, scan=3, all=True)
    made = {(c.moment, c.key): c.title for c in cells_of(whole)}
    parts = [
        float(re.search(r" = (\S+)", made[moment, key]).group(1)) for moment, key in seed["seeds"]
    ]
    assert sum(parts) == pytest.approx(3.8689046874999997)


def test_what_reads_a_number_is_found_where_it_was_made():
    picture = visual.draw(gallery.loops["square"], "tapes")
    cells, teller = cells_of(picture), Teller(picture.trace)
    (number,) = (n for n, c in enumerate(cells) if c.title.startswith("dC/dx₂") and c.moment == 5)
    told = of_cell(teller, cells, number)
    assert {cells[n].key for n in told["readers"]} == {"0:dx:1"}
    assert {cells[n].key for n in told["path"]} >= {"0:dx:3", "0:x:2"}


def test_what_a_tape_begins_with_is_told_as_that_though_a_step_leaves_the_same_number():
    """The first step of a second derivative adds a multiple of 0 to what it finds."""
    trace = gallery.loops["square"].with_taps({"x": (-2, -1)}).trace(order=2)
    teller, first = Teller(trace), sum(scan.steps for scan in trace.scans[:3])
    values = {}
    for cell in cells_of(visual.tapes(trace)):
        if "buf[2] = 5.70154375" in cell.title and cell.moment in (first - 1, first):
            values[cell.moment] = teller.value(cell)
    assert values[first - 1].version == 0
    assert values[first].version == 1
